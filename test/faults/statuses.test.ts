import { expect, test } from 'vitest';
import unauthorized from '../fixtures/unauthorized.json' with { type: 'json' };
import { canaryKey } from '../helpers/canary.js';
import { type Fault, faultTable } from '../helpers/fault-table.js';
import { type Behaviour, FaultyServer, respondWith } from '../helpers/faulty-server.js';
import { call, carriers, clientOf, factsOf, meet, methods, settle, watch } from '../helpers/meeting.js';

watch();

function refusal(status: number): string {
  return JSON.stringify({ code: status, message: `No, says ${status}` });
}

/** Statuses, the class that they become, whether a GET is sent again, and what became of the call. */
const statuses: [statuses: number[], error: string, get: number, write: number, outcome: Fault['outcome']][] =
  [
    [[400, 422], 'InvalidRequestError', 1, 1, 'rejected'],
    [[403], 'PermissionDeniedError', 1, 1, 'rejected'],
    [[404], 'NotFoundError', 1, 1, 'rejected'],
    [[405, 406, 410, 415, 451], 'ApiError', 1, 1, 'rejected'],
    [[408], 'ApiError', 3, 1, 'unknown'],
    [[409], 'ConflictError', 1, 1, 'rejected'],
    [[413], 'InvalidRequestError', 1, 1, 'rejected'],
    [[429], 'RateLimitError', 3, 3, 'rejected'],
    [[500, 502, 503, 504], 'ServerError', 3, 1, 'unknown'],
    [[501, 505, 511], 'ServerError', 1, 1, 'rejected'],
    [[520, 521, 522, 523, 524, 525, 526], 'ServerError', 3, 1, 'unknown'],
    [[999], 'ApiError', 1, 1, 'unknown'],
  ];

faultTable([
  ...statuses.flatMap(([list, error, get, write, outcome]) =>
    list.map((status) => ({
      title: `status ${status}`,
      fault: () => respondWith(status, refusal(status)),
      expected: { error, status, apiCode: status, apiMessage: `No, says ${status}` },
      get,
      write,
      outcome,
    })),
  ),
  {
    title: '401 as in the spec',
    fault: () => respondWith(401, JSON.stringify(unauthorized)),
    expected: { error: 'AuthenticationError', status: 401, apiCode: 401, apiMessage: 'Unauthorized' },
    get: 1,
    write: 1,
    outcome: 'rejected',
    also: ({ error }) =>
      expect(String(error)).toMatch(/401: Unauthorized\. The API key.+environment.+regenerat/),
  },
  {
    title: 'HTML 502 of a proxy',
    fault: () =>
      respondWith(502, `<h1>Bad gateway</h1>${'<p>x</p>'.repeat(99)}`, { 'content-type': 'text/html' }),
    expected: { error: 'ServerError', status: 502, apiCode: undefined, apiMessage: undefined },
    get: 3,
    write: 1,
    outcome: 'unknown',
    also: ({ error }) => {
      expect(String(error)).toContain(
        'The service failed. The response is not JSON: a proxy or another site',
      );
      const { bodySnippet } = factsOf(error, ['bodySnippet']);
      expect(bodySnippet).toMatch(/^<h1>Bad gateway<\/h1><p>x/);
      expect(bodySnippet).toHaveLength(200);
    },
  },
  {
    title: 'JSON that calls itself text',
    fault: () => respondWith(401, '{"code":401,"message":"Unauthorized"}', { 'content-type': 'text/plain' }),
    expected: { error: 'AuthenticationError', apiMessage: 'Unauthorized' },
    get: 1,
    write: 1,
    outcome: 'rejected',
    also: ({ error }) => expect(String(error)).not.toContain('not JSON'),
  },
  {
    title: 'a code of text beside the message',
    fault: () => respondWith(409, '{"code":"PRODUCT_ARCHIVED","message":"Product is archived"}'),
    expected: { error: 'ConflictError', apiCode: 'PRODUCT_ARCHIVED', apiMessage: 'Product is archived' },
    get: 1,
    write: 1,
    outcome: 'rejected',
    also: ({ error }) => expect(String(error)).toContain('returned 409: Product is archived.'),
  },
  {
    title: 'an error with a message of its own',
    fault: () => respondWith(422, '{"error":{"message":"price is too low"}}'),
    expected: { error: 'InvalidRequestError', apiCode: undefined, apiMessage: 'price is too low' },
    get: 1,
    write: 1,
    outcome: 'rejected',
  },
  {
    title: 'problem+json',
    fault: () =>
      respondWith(422, '{"title":"No","status":422}', { 'content-type': 'application/problem+json' }),
    expected: {
      error: 'InvalidRequestError',
      apiCode: undefined,
      bodySnippet: '{"title":"No","status":422}',
    },
    get: 1,
    write: 1,
    outcome: 'rejected',
  },
  {
    title: 'code 401 in a 200',
    fault: () => respondWith(200, refusal(401)),
    expected: { error: 'AuthenticationError', status: 200, apiCode: 401 },
    get: 1,
    write: 1,
    outcome: 'rejected',
  },
  {
    title: 'code 500 in a 200',
    fault: () => respondWith(200, refusal(500)),
    expected: { error: 'ServerError', status: 200, apiCode: 500 },
    get: 1,
    write: 1,
    outcome: 'unknown',
  },
  {
    title: 'code 1 in a 200',
    fault: () => respondWith(200, refusal(1)),
    expected: { error: 'ApiError', status: 200, apiCode: 1 },
    get: 1,
    write: 1,
    outcome: 'rejected',
  },
  {
    title: 'code 0 in a 500',
    fault: () => respondWith(500, '{"code":0,"message":"success","data":{}}'),
    expected: { error: 'ServerError', status: 500 },
    get: 3,
    write: 1,
    outcome: 'unknown',
  },
]);

/** A server that repeats the key wherever it can: body, header, status text. */
function echoKey(status: number): Behaviour {
  return (socket, { headers }) => {
    const line = headers.find((header) => header.toLowerCase().startsWith('x-api-key')) ?? '';
    const key = line.slice(line.indexOf(':') + 1).trim();
    const base64 = Buffer.from(key).toString('base64');
    const text = `Key ${key} (${encodeURIComponent(key)}, ${base64}) is not valid`;
    const body = JSON.stringify({ code: status, message: text, data: { id: key, key } });
    socket.write(
      `HTTP/1.1 ${status} ${text}\r\nContent-Type: ${key}\r\nX-Echo: ${key}\r\n` +
        `Location: https://${encodeURIComponent(key)}.example/${encodeURIComponent(key)}\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  };
}

test.each(carriers)(
  'over %s a server that echoes the key does not bring it into an error',
  async (carrier) => {
    for (const status of [200, 302, 400, 401, 429, 500]) {
      for (const method of methods) {
        const { error } = await meet(echoKey(status), carrier, method);
        expect(error).toMatchObject({ attempts: expect.any(Number) });
        if (status === 401)
          expect(error).toMatchObject({ apiMessage: expect.stringContaining('[redacted]') });
      }
    }
  },
);

test.each(carriers)('over %s a key at the edge of the snippet is not shown in part', async (carrier) => {
  for (let before = 165; before <= 200; before += 5) {
    const body = `${'-'.repeat(before)}${canaryKey}`;
    const { error } = await meet(respondWith(401, body), carrier, 'GET');
    const { bodySnippet } = factsOf(error, ['bodySnippet']);
    expect(bodySnippet).toMatch(/^-+(?:\[[redact]*\]?)?$/);
  }
});

test.each(carriers)('over %s a long key is not shown in part either', async (carrier) => {
  const apiKey = `long-${'k'.repeat(3_000)}`;
  const server = await FaultyServer.start(respondWith(401, `${apiKey}${apiKey}`));
  const { error } = await settle(call(clientOf(carrier, server.url, { apiKey }), 'GET'));
  expect(error).toMatchObject({ bodySnippet: '[redacted][redacted]' });
  await server.close();
});

test.each(carriers)('over %s no redirect is followed, whatever its status and target', async (carrier) => {
  const target = await FaultyServer.start(respondWith(200, '{}'));
  for (const status of [301, 302, 303, 304, 307, 308]) {
    const locations = [
      undefined,
      '/v1/elsewhere',
      '/v1/balance',
      `${target.url}/v1/balance?canary=path`,
      'file:///etc/passwd',
      'http://',
    ];
    for (const location of locations) {
      for (const method of methods) {
        const headers = location === undefined ? {} : { location };
        const { error, requests } = await meet(respondWith(status, '', headers), carrier, method);
        const expected = { name: 'InvalidResponseError', reason: 'redirect', outcome: 'unknown', status };
        expect(error).toMatchObject({ ...expected, attempts: 1 });
        expect(String(error)).not.toMatch(/elsewhere|canary|passwd/);
        expect(requests).toHaveLength(1);
      }
    }
  }
  const { error } = await meet(respondWith(307, '', { location: target.url }), carrier, 'GET');
  expect(String(error)).toContain(`127.0.0.1:${target.port}`);
  expect(target.connections).toBe(0);
  await target.close();
});

test.each([
  ['http', 1],
  ['fetch', 2],
] as const)('over %s a POST that got a 421 is sent %i times, by one attempt', async (carrier, times) => {
  const { error, requests } = await meet(respondWith(421, refusal(421)), carrier, 'POST');
  expect(error).toMatchObject({ name: 'ApiError', status: 421, outcome: 'rejected', attempts: 1 });
  expect(requests).toHaveLength(times);
});
