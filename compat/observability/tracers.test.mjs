// Tracers in the set-ups that their documentation describes, in a process that loads no http by itself: each request
// carries the context of its trace.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const folder = `${import.meta.dirname}/tracers`;
const url = (name) => pathToFileURL(`${folder}/${name}`).href;
const nodes = ['node-22', 'node-24', 'node-26'];

const tracers = {
  Datadog: {
    flags: ['--import', 'dd-trace/initialize.mjs', '--import', url('dd-trace.mjs')],
    env: { DD_INSTRUMENTATION_TELEMETRY_ENABLED: 'false', DD_TRACE_STARTUP_LOGS: 'false' },
    header: 'x-datadog-trace-id',
  },
  'New Relic': {
    flags: ['--import', 'newrelic/esm-loader.mjs', '--require', `${folder}/newrelic.cjs`],
    env: {
      NEW_RELIC_APP_NAME: 'shop',
      NEW_RELIC_NO_CONFIG_FILE: 'true',
      NEW_RELIC_SERVERLESS_MODE_ENABLED: 'true',
      NEW_RELIC_ACCOUNT_ID: '1',
      NEW_RELIC_TRUSTED_ACCOUNT_KEY: '1',
      NEW_RELIC_PRIMARY_APPLICATION_ID: '1',
      NEW_RELIC_LOG_ENABLED: 'false',
    },
    header: 'traceparent',
  },
  Sentry: { flags: ['--import', url('sentry.mjs')], header: 'sentry-trace' },
  'Elastic APM': {
    flags: ['--require', 'elastic-apm-node/start.js', '--require', `${folder}/elastic.cjs`],
    env: { ELASTIC_APM_DISABLE_SEND: 'true', ELASTIC_APM_SERVICE_NAME: 'shop', ELASTIC_APM_LOG_LEVEL: 'off' },
    header: 'traceparent',
  },
  'AWS X-Ray': { flags: ['--require', `${folder}/xray.cjs`], header: 'x-amzn-trace-id' },
  OpenTelemetry: { flags: ['--import', url('opentelemetry.mjs')], header: 'traceparent' },
};

for (const node of nodes)
  for (const [name, { flags, env, header }] of Object.entries(tracers))
    test(`${name} sees each request, on ${node}`, { timeout: 60_000 }, async () => {
      const seen = [];
      const server = createServer((request, response) => {
        seen.push([request.method, header in request.headers]);
        request.resume().on('end', () => response.writeHead(404).end());
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const program = `${import.meta.dirname}/../node_modules/${node}/bin/node`;
      const service = `http://127.0.0.1:${server.address().port}`;
      const options = { env: { ...process.env, SERVICE: service, ...env }, timeout: 50_000 };
      const run = await promisify(execFile)(program, [...flags, `${folder}/shop.mjs`], options).catch(
        (e) => e,
      );
      server.closeAllConnections();
      server.close();
      assert.deepEqual(
        seen,
        [
          ['GET', true],
          ['POST', true],
        ],
        `${run.stdout}${run.stderr}`,
      );
    });
