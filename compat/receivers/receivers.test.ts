// The receivers of examples/webhooks, each in its real framework, against deliveries of a sandbox.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import express from 'express';
import { createSandbox, type Sandbox, type SandboxEvent } from 'merchant-payments/sandbox';
import { nodeHandler } from 'merchant-payments/webhooks';
import { statusOf, strangeTargets } from '../../test/helpers/strange-requests.js';
import { type Receiver, start } from '../lib/receiver.js';

const compat = fileURLToPath(new URL('..', import.meta.url));
const secret = 'whsec_of_the_receivers';
let sandbox: Sandbox;

before(() => {
  sandbox = createSandbox({ webhookSecret: secret });
});
after(() => sandbox.close());

async function pay(): Promise<{ event: SandboxEvent; status: number | undefined }> {
  const { event, delivery } = await sandbox.trigger('order.paid');
  return { event, status: delivery?.status };
}

async function send(event: SandboxEvent, tamper: 'body' | 'stale'): Promise<number> {
  return (await fetch(await sandbox.signedRequest(event, { tamper }))).status;
}

async function servesDeliveries(receiver: Receiver): Promise<void> {
  sandbox.setWebhook(receiver.url);
  const { event, status } = await pay();
  assert.equal(status, 200, receiver.output());
  assert.equal(await send(event, 'body'), 400);
  assert.equal(await send(event, 'stale'), 400);
  assert.equal((await sandbox.redeliver(event.id)).status, 200);
  for (const target of strangeTargets) assert.match(`${await statusOf(receiver.port, target)}`, /^40[04]$/);
  const second = await pay();
  assert.equal(second.status, 200);
  // An inbox calls its function after the response.
  for (let tries = 0; tries < 100 && receiver.fulfilled().length < 2; tries++) await wait(50);
  await receiver.stop(); // its response may overtake what it printed
  assert.deepEqual(receiver.fulfilled(), [event.data.order_id, second.event.data.order_id]);
}

/** Each with what a monitor's GET receives: docs/when-the-webhook-never-comes.md. */
const receivers = {
  'node-http.ts': 405,
  'express.ts': 404,
  'fastify.ts': 404,
  'hono.ts': 404,
  'nestjs.ts': 404,
};
for (const [name, toGet] of Object.entries(receivers)) {
  test(`${name}: good delivery 200, tampered 400, stale 400, repeated 200 and fulfilled once`, async (context) => {
    // Its inbox needs SQLite.
    const node = name === 'hono.ts' ? `${compat}node_modules/node-24/bin/node` : undefined;
    const environment = { PAYMENTS_WEBHOOK_SECRET: secret, ORDERS_FILE: ':memory:' };
    const receiver = await start(name, environment, node);
    context.after(() => receiver.stop());
    assert.equal((await fetch(receiver.url)).status, toGet);
    await servesDeliveries(receiver);
    assert.match(receiver.output(), /signature_mismatch/);
    assert.doesNotMatch(receiver.output(), new RegExp(secret));
  });
}

for (const name of ['express.ts', 'fastify.ts']) {
  test(`${name}: other routes get their parsed JSON as ever`, async (context) => {
    const receiver = await start(name, { PAYMENTS_WEBHOOK_SECRET: secret });
    context.after(() => receiver.stop());
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ items: ['mug'] });
    const response = await fetch(new URL('/cart', receiver.url), { method: 'POST', headers, body });
    assert.deepEqual(await response.json(), { items: ['mug'] });
  });
}

test('next-route.ts: a real Request in, a Response out', async (context) => {
  const lines: string[] = [];
  context.mock.method(console, 'log', (line: string) => lines.push(line));
  context.mock.method(console, 'error', () => {});
  process.env.PAYMENTS_WEBHOOK_SECRET = secret;
  const { POST } = await import('../.examples/next-route.js');
  sandbox.setWebhook(POST);
  const { event, status } = await pay();
  assert.equal(status, 200);
  assert.equal((await POST(await sandbox.signedRequest(event, { tamper: 'body' }))).status, 400);
  assert.equal((await POST(await sandbox.signedRequest(event, { tamper: 'stale' }))).status, 400);
  assert.equal((await sandbox.redeliver(event.id)).status, 200);
  assert.deepEqual(lines, [`fulfil ${event.data.order_id}: ${event.data.amount} ${event.data.currency}`]);
});

test('Express with express.json() first: 500, and the error names the line to move', async (context) => {
  const errors: unknown[] = [];
  const on = { 'order.paid': () => {} };
  const app = express();
  app.use(express.json());
  app.post('/webhooks', nodeHandler({ secret, on, onError: (error) => errors.push(error) }));
  const server = app.listen(0);
  context.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  sandbox.setWebhook(`http://localhost:${typeof address === 'object' ? address?.port : ''}/webhooks`);
  assert.equal((await pay()).status, 500);
  assert.match(
    String(errors[0]),
    /WebhookConfigError: .*register this route before app\.use\(express\.json\(\)\)/,
  );
});

test('Express with express.raw() on the route: the Buffer in req.body is verified', async (context) => {
  const fulfilled: string[] = [];
  const on = { 'order.paid': (event: { data: { order_id: string } }) => fulfilled.push(event.data.order_id) };
  const app = express();
  app.post(
    '/webhooks',
    express.raw({ type: 'application/json' }),
    nodeHandler({ secret, on, onError: () => {} }),
  );
  const server = app.listen(0);
  context.after(() => server.close());
  await once(server, 'listening');
  const address = server.address();
  sandbox.setWebhook(`http://localhost:${typeof address === 'object' ? address?.port : ''}/webhooks`);
  const { event, status } = await pay();
  assert.equal(status, 200);
  assert.equal(await send(event, 'body'), 400);
  assert.deepEqual(fulfilled, [event.data.order_id]);
});
