import http from 'node:http';
import { expect, test, vi } from 'vitest';
import { succeed } from '../helpers/bodies.js';
import { canaryKey } from '../helpers/canary.js';
import { FaultyServer } from '../helpers/faulty-server.js';
import { call, clientOf, methods } from '../helpers/meeting.js';

test('tools that wrap http.request see every call, and can add a header to it, as OpenTelemetry does', async () => {
  const { request } = http;
  const wrapped = vi.spyOn(http, 'request').mockImplementation((...values: unknown[]) => {
    const options = Object(values[0]);
    // Its instrumentation copies the headers as an object, whatever they are.
    const headers = Object.assign({}, options.headers, { traceparent: '00-1-2-01' });
    return Reflect.apply(request, http, [Object.assign({}, options, { headers })]);
  });
  const server = await FaultyServer.start(succeed);
  const client = clientOf('http', server.url);
  for (const method of methods) await call(client, method);
  expect(wrapped).toHaveBeenCalledTimes(3);
  for (const { headers } of server.requests) {
    expect(headers).toContain('traceparent: 00-1-2-01');
    expect(headers).toContain(`x-api-key: ${canaryKey}`);
    expect(headers.filter((line) => /^host: /i.test(line))).toHaveLength(1);
  }
  await server.close();
});
