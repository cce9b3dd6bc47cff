// examples/fulfilment/postgres-inbox.ts, two instances of it on one database. The crash test kills it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createSandbox, type Sandbox } from 'merchant-payments/sandbox';
import { sign } from 'merchant-payments/webhooks';
import { start } from '../lib/receiver.js';
import { type Server, startPostgres } from '../lib/servers.js';
import { sql } from './database.js';

const secret = 'whsec_of_the_shop';
let postgres: Server;
let sandbox: Sandbox;
let shop: Awaited<ReturnType<typeof startShop>>[] = [];

async function startShop() {
  const receiver = await start('fulfilment/postgres-inbox.ts', {
    STAFF_KEY: 'staff',
    DATABASE_URL: postgres.url,
    PAYMENTS_API_KEY: sandbox.apiKey,
    PAYMENTS_BASE_URL: sandbox.url,
    PAYMENTS_WEBHOOK_SECRET: secret,
  });
  return { ...receiver, origin: new URL(receiver.url).origin };
}

before(async () => {
  postgres = await startPostgres();
  sandbox = await createSandbox().listen();
  shop = await Promise.all([startShop(), startShop()]);
});
after(async () => {
  for (const one of shop) await one.stop();
  await sandbox?.close();
  await postgres?.stop();
});

test('a payment is credited to its order, and both instances say so; what nobody can credit is kept for a person', async () => {
  for (const { origin } of shop) {
    const bought = await buy(origin);
    assert.deepEqual([bought.status, bought.headers.get('location')], [303, sandbox.checkouts.at(-1)?.url]);
  }
  const amounts = sandbox.checkouts.map(({ amount }) => amount);
  assert.equal(new Set(amounts).size, 2, 'each order has an amount of its own');
  const [paid = '', other = ''] = sandbox.checkouts.map(
    ({ successUrl = '' }) => new URL(successUrl).pathname,
  );

  for (const [id, amount = ''] of [
    ['ord_paid', amounts[0]],
    ['ord_stray', '1.00'],
    ['ord_paid', '999.00'],
    ['ord_unreadable', '19,90'],
  ] as const)
    assert.equal(await deliver(id, amount), 200);
  for (const { origin } of shop) {
    await shows(origin + paid, /Paid/);
    await shows(origin + other, /being confirmed/);
    await shows(`${origin}/held?key=staff`, /ord_unreadable/);
    const { held, parked } = await (await fetch(`${origin}/held?key=staff`)).json();
    assert.deepEqual([held.length, held[0]?.payment.id, held[0]?.because], [1, 'ord_stray', 'no_candidate']);
    assert.equal(parked.length, 2);
    assert.equal((await fetch(`${origin}/held`)).status, 404);
  }
});

test('a service that creates no checkout leaves no order, and no cent taken', async () => {
  const ids = 'SELECT id FROM orders UNION ALL SELECT id FROM payments_inbox.payments_order ORDER BY id';
  const orders = () => sql(postgres.url, ids);
  const before = await orders();
  sandbox.failNext({ status: 500, path: '/v1/checkouts' });
  assert.equal((await buy(shop[0]?.origin)).status, 500);
  assert.deepEqual(await orders(), before);
});

test('a quick payment is credited if the clock of the database is ahead by 30 seconds', async () => {
  const bought = await buy(shop[0]?.origin);
  const { amount, successUrl = '' } = sandbox.checkouts.at(-1) ?? assert.fail();
  assert.equal(bought.status, 303);
  const id = successUrl.split('/').at(-1);
  await sql(
    postgres.url,
    `UPDATE payments_inbox.payments_order SET created_at = created_at + 30000 WHERE id = '${id}'`,
  );
  assert.equal(await deliver('ord_quick', amount), 200);
  await shows(successUrl, /Paid/);
});

test('a delivery whose body still arrives at SIGTERM is stored, and gets 200, and the shop ends with code 0', async () => {
  const one = shop[0] ?? assert.fail();
  const body = bodyOf('ord_late', '1.00');
  const headers = { ...sign({ rawBody: body, secret }), 'content-length': body.length };
  const sent = request(one.url, { method: 'POST', headers, agent: false });
  sent.write(body.slice(0, 9));
  await wait(200);
  const ended = one.stop();
  await wait(200);
  sent.end(body.slice(9));
  const [response] = await once(sent, 'response');
  assert.equal(response.resume().statusCode, 200);
  assert.equal(await ended, 0, one.output());
  const [stored] = await sql(
    postgres.url,
    "SELECT state FROM payments_inbox.payments_inbox WHERE key LIKE '%ord_late'",
  );
  assert.ok(stored);
});

/** Waits until a page of the shop shows a text. */
async function shows(address: string, text: RegExp): Promise<void> {
  const read = async () => (await fetch(address)).text();
  for (let tries = 0; tries < 100 && !text.test(await read()); tries++) await wait(50);
  assert.match(await read(), text);
}

const buy = (origin = '') => fetch(`${origin}/buy`, { method: 'POST', redirect: 'manual' });

async function deliver(orderId: string, amount: string): Promise<number> {
  const body = bodyOf(orderId, amount);
  const { origin } = shop[Math.floor(Math.random() * shop.length)] ?? assert.fail();
  return (
    await fetch(`${origin}/webhooks`, { method: 'POST', body, headers: sign({ rawBody: body, secret }) })
  ).status;
}

const bodyOf = (order_id: string, amount: string) =>
  JSON.stringify({ type: 'order.paid', data: { order_id, amount, currency: 'USD' } });
