// The sample of docs/nextjs.md: nothing is fulfilled by a build, what is stored is fulfilled before the first request, the
// success page sees what the webhook wrote, and after each edit the new function runs, once for each payment.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openInbox } from 'merchant-payments/inbox';
import { createSandbox, type Sandbox } from 'merchant-payments/sandbox';
import { sign } from 'merchant-payments/webhooks';
import { freePort } from '../../test/helpers/ports.js';
import { statusBeforeEnd } from '../../test/helpers/strange-requests.js';

const compat = fileURLToPath(new URL('..', import.meta.url));
const app = `${compat}.examples/nextjs`;
const orders = `${app}/orders.sqlite`;
const next = [`${compat}node_modules/next/dist/bin/next`];
const secret = 'whsec_of_the_shop';
const ordersKey = 'key_of_the_counter';
let port: number;
let shop: string;
let sandbox: Sandbox;
let running: ChildProcess | undefined;
let printed = '';

before(async () => {
  copyFileSync(`${compat}fulfilment/node-sqlite.d.ts`, `${app}/node-sqlite.d.ts`);
  port = await freePort();
  shop = `http://127.0.0.1:${port}`;
  sandbox = await createSandbox({ webhook: `${shop}/webhooks`, webhookSecret: secret }).listen();
});

after(async () => {
  await stop();
  await sandbox.close();
});

test('a build fulfils nothing, and a started server what is stored, before the first request', async () => {
  sandbox.setWebhook(undefined);
  await storeWithoutWorking();
  const build = run(['build']);
  assert.deepEqual(await once(build, 'exit'), [0, null], printed);
  assert.equal(count('payments_inbox', "state = 'pending'"), 1);
  assert.equal(heldCount(), 0);

  running = run(['start', '--hostname', '127.0.0.1', '--port', String(port)]);
  await waitUntil(() => heldCount() === 1);
  assert.equal(count('payments_inbox', "state = 'done'"), 1);
});

test('the success page shows what the webhook wrote', async () => {
  await responds();
  sandbox.setWebhook(`${shop}/webhooks`);
  const redirectUrl = await buyAndPay();
  await waitUntil(async () => (await text(redirectUrl)).includes('Paid. Thank you!'));
});

test('neither an order that nobody pays nor one whose checkout failed holds the payment of a later one', async () => {
  const unpaid = await buy();
  sandbox.failNext({ method: 'POST', path: '/v1/checkouts', status: 503 });
  assert.equal((await buy()).status, 500);
  await waitUntil(async () => (await text(await buyAndPay())).includes('Paid. Thank you!'));
  assert.equal(count('orders', 'paid_as IS NULL'), 1);
  assert.equal(count('payments_order'), count('orders'));

  await sandbox.completeCheckout(unpaid.headers.get('location') ?? '');
  await waitUntil(() => count('orders', 'paid_as IS NULL') === 0);
  const names = sandbox.products.map(({ name, price }) => `${name} ${price}`);
  assert.equal(new Set(names).size, names.length, 'a product of each amount, made once');
});

test('who has the key of /orders sees held payments and decides on them, and nobody else', async () => {
  await buy();
  const ended = Date.now() - 3_600_000;
  const { id, amount } = query(
    "UPDATE payments_order SET expires_at = ?, payable_until = ? WHERE state = 'open' RETURNING *",
    ended,
    ended,
  );
  const { order } = await sandbox.trigger('order.paid', { amount: String(amount) });
  await waitUntil(() => heldCount(order.id) === 1);

  const decide = (key: string, to = String(id)) => {
    const body = new URLSearchParams({ payment: order.id, order: to });
    return fetch(`${shop}/orders/decide?key=${key}`, { method: 'POST', body, redirect: 'manual' });
  };
  for (const address of ['/orders', '/orders?key=', '/orders?key=wrong'])
    assert.equal((await fetch(shop + address)).status, 404);
  assert.equal((await decide('wrong')).status, 404);
  assert.equal(await statusBeforeEnd(port, '/orders/decide?key=wrong'), 404);
  assert.equal((await decide(ordersKey, 'no such order')).status, 409);
  assert.equal(heldCount(order.id), 1);

  const page = await text(`${shop}/orders?key=${ordersKey}`);
  assert.ok(page.includes(order.id) && page.includes(`value="${String(id)}"`), page);
  const decided = await decide(ordersKey);
  assert.deepEqual([decided.status, decided.headers.get('location')], [303, `/orders?key=${ordersKey}`]);
  assert.equal(heldCount(order.id), 0);
  assert.match(await text(`${shop}/thanks/${String(id)}`), /Paid\. Thank you!/);
  await stop();
});

test('one order id with two amounts is credited once: a retry of the second says why it fails', async () => {
  running = run(['start', '--hostname', '127.0.0.1', '--port', String(port)]);
  await responds();
  await buyAndPay();
  await waitUntil(isIdle);
  const { payment_id: id } = query('SELECT payment_id FROM payments_order ORDER BY paid_at DESC LIMIT 1');
  await buy();
  const { amount } = query("SELECT amount FROM payments_order WHERE state = 'open'");
  const rawBody = JSON.stringify({ type: 'order.paid', data: { order_id: id, amount, currency: 'USD' } });
  const conflict = { method: 'POST', body: rawBody, headers: sign({ rawBody, secret }) };
  assert.equal((await fetch(`${shop}/webhooks`, conflict)).status, 200);

  await using inbox = openInbox({ file: orders, secret, work: false });
  const key = (await inbox.list({ state: 'parked' }))[0]?.key ?? '';
  assert.equal(await inbox.retry(key), true);
  await waitUntil(async () => {
    const { state, lastError } = (await inbox.get(key)) ?? {};
    return state === 'done' || lastError?.includes('Nothing was credited') === true;
  });
  await stop();
  assert.equal(count('orders', `paid_as = '${String(id)}'`), 1);
  const { lastError } = (await inbox.get(key)) ?? {};
  assert.match(lastError ?? '', /came with .* before, and now comes with/);
  await inbox.discard(key);
  query('DELETE FROM orders WHERE paid_as IS NULL');
});

test('after each of three edits the new function runs, once for each payment', async () => {
  const file = `${app}/lib/inbox.ts`;
  const source = readFileSync(file, 'utf8');
  running = run(['dev', '--hostname', '127.0.0.1', '--port', String(port)]);
  await responds();
  await waitUntil(async () => (await text(await buyAndPay())).includes('Paid'));
  for (const version of ['one', 'two', 'three']) {
    writeFileSync(
      file,
      source.replace(
        'commit((db) => {',
        `commit((db) => { console.log('version ${version}', data.order_id);`,
      ),
    );
    // The edit is loaded with the next request of the route; deliveries on the way may still meet the old one.
    await waitUntil(async () => {
      await buyAndPay();
      return printed.includes(`version ${version}`);
    });
    await waitUntil(isIdle);
    const redirectUrl = await buyAndPay();
    await waitUntil(async () => (await text(redirectUrl)).includes('Paid'));
    // Lines about earlier payments may come late.
    const linesOfLast = () => printed.match(new RegExp(`version \\w+ ${sandbox.orders.at(-1)?.id}`, 'g'));
    await waitUntil(() => linesOfLast() !== null);
    assert.deepEqual(linesOfLast(), [`version ${version} ${sandbox.orders.at(-1)?.id}`]);
  }
  await waitUntil(isIdle);
  const fulfilled = [...printed.matchAll(/version \w+ (\S+)/g)].map(([, id]) => id);
  assert.equal(new Set(fulfilled).size, fulfilled.length, 'once for each payment');
  assert.equal(count('orders', 'paid_as IS NULL'), 0);
});

/** A delivery that was stored by a server that then stopped. */
async function storeWithoutWorking(): Promise<void> {
  process.env.ORDERS_FILE = orders;
  await import(`${app}/lib/orders.ts`).then(({ database }) => database.close());
  const inbox = openInbox({ file: orders, secret, work: false, on: { 'order.paid': () => {} } });
  const { event } = await sandbox.trigger('order.paid', { amount: '7.00' });
  assert.equal((await inbox.handler(await sandbox.signedRequest(event))).status, 200);
  await inbox.close();
}

const buy = () => fetch(`${shop}/buy`, { method: 'POST', redirect: 'manual' });

async function buyAndPay(): Promise<string> {
  const bought = await buy();
  assert.equal(bought.status, 303, printed);
  const { delivery, redirectUrl = '' } = await sandbox.completeCheckout(bought.headers.get('location') ?? '');
  assert.equal(delivery?.status, 200);
  return redirectUrl;
}

const isIdle = () => count('payments_inbox', "state IN ('pending', 'running')") === 0;

const heldCount = (id?: string) =>
  count('payments_order_payment', `state = 'held'${id ? ` AND id = '${id}'` : ''}`);

const count = (table: string, where = 'true') =>
  Number(query(`SELECT count(*) AS rows FROM ${table} WHERE ${where}`).rows);

/** The first row of a statement's result. */
function query(statement: string, ...values: number[]): Record<string, unknown> {
  const database = new DatabaseSync(orders);
  try {
    database.exec('PRAGMA busy_timeout = 5000');
    return database.prepare(statement).get(...values) ?? {};
  } finally {
    database.close();
  }
}

async function waitUntil(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 90_000;
  while (!(await isTrue())) {
    assert.ok(performance.now() < end, `it did not happen within 90 s:\n${printed}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const responds = () =>
  waitUntil(() =>
    fetch(shop).then(
      () => true,
      () => false,
    ),
  );
const text = async (url: string) => (await fetch(url)).text();

function run(args: string[]): ChildProcess {
  const child = spawn(process.execPath, [...next, ...args], {
    cwd: app,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      SHOP_URL: shop,
      ORDERS_FILE: orders,
      ORDERS_KEY: ordersKey,
      PAYMENTS_API_KEY: sandbox.apiKey,
      PAYMENTS_BASE_URL: sandbox.url,
      PAYMENTS_WEBHOOK_SECRET: secret,
      NEXT_TELEMETRY_DISABLED: '1',
    },
  });
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      printed += chunk;
    });
  return child;
}

async function stop(): Promise<void> {
  const child = running;
  running = undefined;
  if (child?.exitCode === null && child.kill()) await once(child, 'exit');
}
