// examples/fulfilment/postgres-inbox.ts, two instances of it on one database: customers buy at both, and a service that
// never sends again tells of their payments while instances are killed.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createSandbox, type Sandbox } from 'merchant-payments/sandbox';
import { sign } from 'merchant-payments/webhooks';
import { freePort } from '../../test/helpers/ports.js';
import { listening } from '../lib/receiver.js';
import { type Server, startPostgres } from '../lib/servers.js';
import { sql } from './database.js';

const program = fileURLToPath(new URL('../.examples/fulfilment/postgres-inbox.ts', import.meta.url));
const secret = 'whsec_of_the_shop';
const customers = 40;
let postgres: Server;
let sandbox: Sandbox;
const shop: Instance[] = [];

class Instance {
  url = '';
  #child: ChildProcess | undefined;
  #output = '';

  async start(): Promise<void> {
    const port = this.url ? Number(new URL(this.url).port) : await freePort();
    const child = spawn(process.execPath, ['--import', 'tsx', program], {
      env: {
        ...process.env,
        PORT: `${port}`,
        SHOP_URL: `http://127.0.0.1:${port}`,
        STAFF_KEY: 'staff',
        DATABASE_URL: postgres.url,
        PAYMENTS_API_KEY: sandbox.apiKey,
        PAYMENTS_BASE_URL: sandbox.url,
        PAYMENTS_WEBHOOK_SECRET: secret,
      },
    });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (this.#output += chunk));
    await listening(child, port, () => this.#output);
    this.#child = child;
    this.url = `http://127.0.0.1:${port}`;
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child) return;
    assert.equal(child.exitCode, null, `an instance ended by itself:\n${this.#output}`);
    child.kill(signal);
    const [code] = await once(child, 'exit');
    if (signal === 'SIGTERM') assert.equal(code, 0, this.#output);
  }
}

before(async () => {
  postgres = await startPostgres();
  sandbox = await createSandbox().listen();
  for (let count = 0; count < 2; count++) shop.push(new Instance());
  await Promise.all(shop.map((one) => one.start()));
});
after(async () => {
  for (const one of shop) await one.end('SIGKILL');
  await sandbox?.close();
  await postgres?.stop();
});

test('every payment that got 200 is credited once, to the order that it was for, and both instances say so', async () => {
  for (let customer = 0; customer < customers; customer++) {
    const bought = await fetch(`${shop[customer % 2]?.url}/buy`, { method: 'POST', redirect: 'manual' });
    assert.deepEqual([bought.status, bought.headers.get('location')], [303, sandbox.checkouts.at(-1)?.url]);
  }
  const paid: { id: string; amount: string; thanks: string; isAccepted: boolean }[] = [];
  for (const { url } of sandbox.checkouts) {
    const { order, redirectUrl = '' } = await sandbox.completeCheckout(url);
    paid.push({
      id: order.id,
      amount: order.amount,
      thanks: new URL(redirectUrl).pathname,
      isAccepted: false,
    });
  }
  assert.equal(
    new Set(paid.map(({ amount }) => amount)).size,
    customers,
    'each order has an amount of its own',
  );

  let isOver = false;
  let ends = 0;
  const kills = async () => {
    for (let count = 0; !isOver; count++) {
      const one = shop[count % 2];
      await wait(150);
      await one?.end(count % 4 === 3 ? 'SIGTERM' : 'SIGKILL');
      await one?.start();
      ends++;
    }
    return undefined;
  };
  const killing = kills();
  for (const payment of paid.toSorted(() => Math.random() - 0.5)) {
    const replies = await Promise.all([
      deliver(payment.id, payment.amount),
      deliver(payment.id, payment.amount),
    ]);
    payment.isAccepted = replies.includes(200);
    await wait(120);
  }
  isOver = true;
  await killing;
  // A payment that nobody can credit is kept for a person.
  await deliver('ord_stray', '1.00');
  await deliver(paid.find(({ isAccepted }) => isAccepted)?.id ?? '', '999.00');
  await deliver('ord_unreadable', '19,90');

  // The delivery of a killed instance is taken up when its lease ends, after a minute: as if that had passed.
  await wait(500);
  await sql(postgres.url, "UPDATE payments_inbox.payments_inbox SET due_at = 0 WHERE state = 'running'");
  const left =
    "SELECT count(*)::int AS left FROM payments_inbox.payments_inbox WHERE state IN ('pending', 'running')";
  for (let tries = 0; tries < 200 && (await sql(postgres.url, left))[0]?.left !== 0; tries++) await wait(100);
  const accepted = paid.filter(({ isAccepted }) => isAccepted);
  console.log(`${accepted.length} of ${customers} payments got 200; ${ends} ends of instances`);
  assert.ok(ends >= 4);
  assert.ok(accepted.length > customers / 2);
  const credited = await sql(postgres.url, 'SELECT id, paid_as FROM orders WHERE paid_as IS NOT NULL');
  const orderOf = new Map(credited.map(({ id, paid_as }) => [paid_as, `/thanks/${id}`]));
  assert.equal(orderOf.size, credited.length, 'no payment is credited twice');
  for (const { id, thanks, isAccepted } of paid) {
    if (isAccepted || orderOf.has(id)) assert.equal(orderOf.get(id), thanks);
    for (const { url } of shop) {
      const page = await (await fetch(url + thanks)).text();
      assert.match(page, orderOf.has(id) ? /Paid/ : /being confirmed/);
    }
  }
  for (const { url } of shop) {
    const { held, parked } = await (await fetch(`${url}/held?key=staff`)).json();
    assert.deepEqual([held.length, held[0]?.payment.id, held[0]?.because], [1, 'ord_stray', 'no_candidate']);
    assert.equal(parked.length, 2);
    assert.equal((await fetch(`${url}/held`)).status, 404);
  }
});

test('a service that creates no checkout leaves no order, and no cent taken', async () => {
  const ids = 'SELECT id FROM orders UNION ALL SELECT id FROM payments_inbox.payments_order ORDER BY id';
  const orders = () => sql(postgres.url, ids);
  const before = await orders();
  sandbox.failNext({ status: 500, path: '/v1/checkouts' });
  assert.equal((await fetch(`${shop[0]?.url}/buy`, { method: 'POST' })).status, 500);
  assert.deepEqual(await orders(), before);
});

test('a quick payment is credited where the clock of the database is ahead by 30 seconds', async () => {
  const bought = await fetch(`${shop[0]?.url}/buy`, { method: 'POST', redirect: 'manual' });
  const { amount, successUrl = '' } = sandbox.checkouts.at(-1) ?? assert.fail();
  assert.equal(bought.status, 303);
  const id = successUrl.split('/').at(-1);
  await sql(
    postgres.url,
    `UPDATE payments_inbox.payments_order SET created_at = created_at + 30000 WHERE id = '${id}'`,
  );
  assert.equal(await deliver('ord_quick', amount), 200);
  for (let tries = 0; tries < 100 && !/Paid/.test(await read(successUrl)); tries++) await wait(50);
  assert.match(await read(successUrl), /Paid/);
});

test('a delivery whose body still arrives at SIGTERM is stored, and gets 200', async () => {
  const one = shop[0] ?? assert.fail();
  const body = bodyOf('ord_late', '1.00');
  const headers = { ...sign({ rawBody: body, secret }), 'content-length': body.length };
  const sent = request(`${one.url}/webhooks`, { method: 'POST', headers, agent: false });
  sent.write(body.slice(0, 9));
  await wait(200);
  const ended = one.end('SIGTERM');
  await wait(200);
  sent.end(body.slice(9));
  const [response] = await once(sent, 'response');
  assert.equal(response.resume().statusCode, 200);
  await ended;
  const [stored] = await sql(
    postgres.url,
    "SELECT state FROM payments_inbox.payments_inbox WHERE key LIKE '%ord_late'",
  );
  assert.ok(stored);
});

const read = async (address: string) => (await fetch(address)).text();

/** To an instance that runs, as a load balancer does; a refused connection carried nothing. */
async function deliver(order_id: string, amount: string): Promise<number | undefined> {
  const body = bodyOf(order_id, amount);
  for (;;) {
    const { url } = shop[Math.floor(Math.random() * shop.length)] ?? assert.fail();
    try {
      const headers = sign({ rawBody: body, secret });
      return (await fetch(`${url}/webhooks`, { method: 'POST', body, headers })).status;
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
      if (!cause || Reflect.get(cause, 'code') !== 'ECONNREFUSED') return undefined;
    }
    await wait(20);
  }
}

const bodyOf = (order_id: string, amount: string) =>
  JSON.stringify({ type: 'order.paid', data: { order_id, amount, currency: 'USD' } });
