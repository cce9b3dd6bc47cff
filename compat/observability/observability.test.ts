// The examples of examples/observability with the real OpenTelemetry, pino and diagnostics_channel.
import assert from 'node:assert/strict';
import diagnosticsChannel from 'node:diagnostics_channel';
import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, test } from 'node:test';
import { metrics, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { type Hooks, PaymentsClient } from 'merchant-payments';
import { type InboxHooks, openInbox } from 'merchant-payments/inbox';
import { createSandbox, type Sandbox } from 'merchant-payments/sandbox';
import { handler, sign, type WebhookHooks } from 'merchant-payments/webhooks';
import { pino } from 'pino';
import { diagnosticsHooks } from '../.examples/observability/diagnostics-channel.js';
import {
  openTelemetryHooks,
  openTelemetryInboxHooks,
  openTelemetryWebhookHooks,
} from '../.examples/observability/opentelemetry.js';
import { pinoHooks, pinoInboxHooks, pinoWebhookHooks } from '../.examples/observability/pino.js';

let sandbox: Sandbox;
const client = (hooks: Hooks) => new PaymentsClient({ apiKey: sandbox.apiKey, baseUrl: sandbox.url, hooks });

/** A delivery that is done, one that comes again, one that fails and one that is forged. */
async function deliverFour(hooks: WebhookHooks): Promise<void> {
  let failing = false;
  const on = {
    'order.paid': () => {
      if (failing) throw new RangeError('out of stock');
    },
  };
  const receive = handler({ secret: sandbox.webhookSecret, on, hooks, onError: () => {} });
  sandbox.setWebhook(receive);
  const { event } = await sandbox.trigger('order.paid');
  await sandbox.redeliver(event.id);
  await receive(await sandbox.signedRequest(event, { tamper: 'body' }));
  failing = true;
  await sandbox.trigger('order.paid');
}

beforeEach(async () => {
  sandbox = await createSandbox().listen();
});
afterEach(() => sandbox.close());

test('OpenTelemetry gets a span and a duration for each request, and a failed span for a failed call', async () => {
  const spans = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }),
  );
  const measurements = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: measurements, exportIntervalMillis: 60_000 });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));

  const payments = client(openTelemetryHooks());
  sandbox.failNext({ status: 503, headers: { 'retry-after': '0' } });
  await payments.balance.retrieve();
  await payments.checkouts.retrieve('chk_nobody').catch(() => {});
  await reader.forceFlush();

  assert.deepEqual(
    spans
      .getFinishedSpans()
      .map(({ name, status, attributes }) => [
        name,
        status.code === SpanStatusCode.ERROR,
        attributes['http.response.status_code'],
      ]),
    [
      ['GET /v1/balance', true, 503],
      ['GET /v1/balance', false, 200],
      ['GET /v1/checkouts/{id}', true, 404],
      ['checkouts.retrieve failed', true, undefined],
    ],
  );
  const names = measurements
    .getMetrics()
    .flatMap((one) =>
      one.scopeMetrics.flatMap((scope) => scope.metrics.map(({ descriptor }) => descriptor.name)),
    );
  assert.deepEqual(names.sort(), [
    'http.client.request.duration',
    'merchant_payments.call.duration',
    'merchant_payments.failures',
    'merchant_payments.retries',
  ]);
  assert.ok(
    !JSON.stringify(
      spans.getFinishedSpans().map(({ attributes, events }) => ({ attributes, events })),
    ).includes(sandbox.apiKey),
  );
  await reader.shutdown();
});

test('pino gets a line for each retry and each failure, without the key', async () => {
  let text = '';
  const sink = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  const payments = client(pinoHooks(pino(sink)));
  sandbox.failNext({ status: 503, headers: { 'retry-after': '0' } });
  await payments.balance.retrieve();
  await payments.checkouts.retrieve('chk_nobody').catch(() => {});

  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ level, msg, err }) => [level, msg, err.type]),
    [
      [40, 'balance.retrieve will be retried', 'ServerError'],
      [50, 'checkouts.retrieve failed', 'NotFoundError'],
    ],
  );
  assert.ok(!text.includes(sandbox.apiKey));
});

test('OpenTelemetry counts webhooks by what became of them, with no order id in an attribute', async () => {
  metrics.disable();
  const measurements = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: measurements, exportIntervalMillis: 60_000 });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  await deliverFour(openTelemetryWebhookHooks());
  await reader.forceFlush();

  const all = measurements
    .getMetrics()
    .flatMap((one) => one.scopeMetrics.flatMap((scope) => scope.metrics))
    .filter(({ descriptor }) => descriptor.name === 'merchant_payments.webhooks')
    .flatMap(({ dataPoints }) => dataPoints.map(({ attributes, value }) => ({ ...attributes, value })));
  const type = 'order.paid';
  assert.deepEqual(
    new Set(all),
    new Set([
      { state: 'received', type, value: 3 },
      { state: 'done', type, value: 1 },
      { state: 'duplicate', type, value: 1 },
      { state: 'refused', code: 'signature_mismatch', status: 400, value: 1 },
      { state: 'failed', type, 'error.type': 'RangeError', value: 1 },
    ]),
  );
  await reader.shutdown();
});

test('pino gets a line for each webhook, without secret, signature or body', async () => {
  let text = '';
  const sink = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  await deliverFour(pinoWebhookHooks(pino(sink)));
  const [first, second] = sandbox.orders;
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ level, msg }) => [level, msg]),
    [
      [30, `order.paid:${first?.id} done`],
      [30, `order.paid:${first?.id} came again`],
      [40, 'webhook refused: signature_mismatch'],
      [50, `order.paid:${second?.id} failed`],
    ],
  );
  assert.equal(lines.at(-1)?.err.message, 'out of stock');
  assert.ok(!text.includes(sandbox.webhookSecret));
});

test('pino gets one line from an inbox for each delivery that somebody must look at', async () => {
  let text = '';
  const sink = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  await parkFour(pinoInboxHooks(pino(sink)));
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ level }) => level >= 40);
  assert.deepEqual(
    lines.map(({ level, msg }) => `${level} ${msg.replace(/[:#][0-9a-f]{16,}.*| parked: .*/, '')}`).sort(),
    ['50 invalid', '50 order.paid:ord_1', '50 order.paid:ord_2', '50 refund.created'],
  );
});

test('OpenTelemetry counts what an inbox parks, whatever the reason', async () => {
  metrics.disable();
  const measurements = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: measurements, exportIntervalMillis: 60_000 });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  await parkFour(openTelemetryInboxHooks());
  await reader.forceFlush();
  const points = measurements
    .getMetrics()
    .flatMap((one) => one.scopeMetrics.flatMap((scope) => scope.metrics))
    .filter(({ descriptor }) => descriptor.name === 'merchant_payments.webhooks')
    .flatMap(({ dataPoints }) => dataPoints.map(({ attributes, value }) => ({ ...attributes, value })))
    .filter((point) => 'state' in point && point.state === 'parked');
  assert.deepEqual(
    new Set(points),
    new Set([
      { state: 'parked', type: 'order.paid', value: 3 },
      { state: 'parked', type: 'refund.created', value: 1 },
    ]),
  );
  await reader.shutdown();
});

/** An event that cannot be read, a conflict, an unknown type and a last failure, in an inbox. */
async function parkFour(hooks: InboxHooks): Promise<void> {
  const secret = 'whsec_of_the_inbox';
  const on = {
    'order.paid': ({ data }: { data: { order_id: string } }) => {
      if (data.order_id === 'ord_2') throw new RangeError('out of stock');
    },
  };
  const place = process.getBuiltinModule('node:sqlite')
    ? { file: ':memory:' }
    : { database: new (createRequire(import.meta.url)('better-sqlite3'))(':memory:') };
  const inbox = openInbox({ ...place, secret, on, hooks, retries: [], onError: () => {} });
  const paidBody = (order_id: unknown, amount = '10.00') =>
    JSON.stringify({ type: 'order.paid', data: { order_id, amount, currency: 'USD' } });
  const bodies = [
    paidBody(7),
    paidBody('ord_1'),
    paidBody('ord_1', '9.00'),
    paidBody('ord_2'),
    '{"type":"refund.created","data":{}}',
  ];
  for (const rawBody of bodies) {
    const headers = sign({ rawBody, secret });
    await inbox.handler(new Request('http://shop/', { method: 'POST', body: rawBody, headers }));
  }
  await inbox.idle();
  await inbox.close();
}

test('diagnostics_channel subscribers hear of requests, responses, retries, errors and ends of calls', async () => {
  const heard: string[] = [];
  for (const name of ['request', 'response', 'retry', 'error', 'end']) {
    diagnosticsChannel.subscribe(`merchant-payments:${name}`, () => heard.push(name));
  }
  const payments = client(diagnosticsHooks());
  sandbox.failNext({ status: 503, headers: { 'retry-after': '0' } });
  await payments.balance.retrieve();
  await payments.checkouts.retrieve('chk_nobody').catch(() => {});
  assert.deepEqual(heard, [
    'request',
    'response',
    'retry',
    'request',
    'response',
    'end',
    'request',
    'response',
    'error',
    'end',
  ]);
});
