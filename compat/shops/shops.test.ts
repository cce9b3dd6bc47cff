// The shops of examples/ with the real Express and Next.js: bought, paid, and shown as paid when the webhook came.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { createSandbox, type Sandbox } from 'merchant-payments/sandbox';
import { freePort } from '../../test/helpers/ports.js';
import { statusBeforeEnd, statusOf, strangeTargets } from '../../test/helpers/strange-requests.js';

const here = new URL('..', import.meta.url);
const secret = 'whsec_of_the_shops';
const orders = '/orders?key=key_of_the_counter';
const running: ChildProcess[] = [];
let sandbox: Sandbox;
let shop: string;
let port: number;
let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'shops-'));
  port = await freePort();
  shop = `http://127.0.0.1:${port}`;
  sandbox = await createSandbox({ webhook: `${shop}/webhooks`, webhookSecret: secret }).listen();
});
afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode === null && child.kill()) await once(child, 'exit');
  }
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

test('the Express shop stocks itself once, and tells two customers of one product apart', async () => {
  await start(['--import', 'tsx', '.examples/shop-express/shop.ts']);
  running.pop()?.kill();
  await start(['--import', 'tsx', '.examples/shop-express/shop.ts']);
  assert.equal(sandbox.products.length, 3);
  await sellTwo('/webhooks', (id) => post(`/buy/${id}`));
  await survivesStrangeRequests();
  assert.equal(await statusOf(port, '/buy/%E0%A4%A', 'POST'), 400);
  assert.equal((await post(orders, new URLSearchParams({ order: 'a'.repeat(2_000_000) }))).status, 413);
});

test('the Next.js shop, built by its own toolchain, tells two customers of one product apart', async () => {
  sandbox.setWebhook(`${shop}/api/webhooks`);
  const next = ['node_modules/next/dist/bin/next'];
  const build = spawn(process.execPath, [...next, 'build', '.examples/shop-next'], {
    cwd: here,
    stdio: 'inherit',
    env: environment(),
  });
  assert.deepEqual(await once(build, 'exit'), [0, null]);
  await start([...next, 'start', '.examples/shop-next', '--hostname', '127.0.0.1', '--port', String(port)]);
  assert.match(await text('/'), /stock-the-shop\.ts/);
  const stock = spawn(process.execPath, ['--import', 'tsx', '.examples/stock-the-shop.ts'], {
    cwd: here,
    env: environment(),
  });
  assert.deepEqual(await once(stock, 'exit'), [0, null]);
  await sellTwo('/api/webhooks', (productId) => post(`/api/checkout?productId=${productId}`));
  await survivesStrangeRequests();
  assert.equal(await statusBeforeEnd(port, '/api/checkout?productId=none'), 404);
});

async function sellTwo(webhooks: string, buy: (productId: string) => Promise<Response>): Promise<void> {
  assert.match(await text('/'), /Handmade mug/);
  assert.match(await text(orders), /None yet/);
  const mug = sandbox.products.find(({ name }) => name === 'Handmade mug')?.id ?? '';
  for (let customer = 1; customer <= 2; customer++) {
    const bought = await buy(mug);
    assert.equal(bought.status, 303);
    assert.equal(bought.headers.get('location'), sandbox.checkouts.at(-1)?.url);
  }
  const [first, second] = sandbox.checkouts;
  assert.ok(first && second);

  assert.deepEqual([first.amount, second.amount], ['19.90', '19.89']);

  // The second customer opens his successUrl without paying, and is not credited with the payment of the first.
  assert.match(await (await fetch(second.successUrl ?? '')).text(), /being confirmed/);
  const { delivery, redirectUrl = '' } = await sandbox.completeCheckout(first.url);
  assert.equal(delivery?.status, 200);
  await showsPaid(redirectUrl);
  assert.match(await (await fetch(second.successUrl ?? '')).text(), /being confirmed/);
  assert.equal((await fetch(second.successUrl?.replace(/token=.*/, 'token=guess') ?? '')).status, 404);
  assert.doesNotMatch(await text(orders), /Payments that need a decision/);

  // A payment for no order is dismissed by a person.
  const { order: stray } = await sandbox.trigger('order.paid', { amount: '1.00' });
  const page = await shows(shop + orders, /Payments that need a decision/);
  assert.match(page, new RegExp(`paid as <code>${stray.id}`));
  assert.match(page, /No open order asks for this amount/);
  const form = new URLSearchParams({ payment: stray.id, order: '' });
  for (const guess of ['/orders', '/orders?key=', '/orders?key=guess']) {
    const forged = { headers: { 'x-forwarded-for': '127.0.0.1' } };
    assert.equal((await fetch(shop + guess, forged)).status, 403);
    assert.equal((await post(guess, form)).status, 403);
  }
  assert.equal(await statusBeforeEnd(port, '/orders?key=guess'), 403);
  const decided = await post(orders, form);
  assert.deepEqual([decided.status, decided.headers.get('location')], [303, orders]);
  assert.equal((await post(orders, new URLSearchParams({ payment: stray.id, order: 'none' }))).status, 409);
  assert.doesNotMatch(await text(orders), /Payments that need a decision/);

  // The other customer's page says paid with his own webhook, and not before.
  sandbox.setWebhook(undefined);
  const later = await sandbox.completeCheckout(second.url);
  assert.match(await (await fetch(later.redirectUrl ?? '')).text(), /being confirmed/);
  sandbox.setWebhook(shop + webhooks);
  assert.equal((await sandbox.redeliver(later.event.id)).status, 200);
  await showsPaid(later.redirectUrl ?? '');
  assert.equal((await sandbox.redeliver(later.event.id)).status, 200);
  assert.equal((await fetch(await sandbox.signedRequest(later.event, { tamper: 'body' }))).status, 400);

  sandbox.failNext({ status: 500, path: '/v1/checkouts' });
  const failed = await buy(mug);
  assert.equal(failed.status, 502);
  assert.match(await failed.text(), /Nothing was charged/);
}

/** 502 says that the payment service cannot be reached. */
async function survivesStrangeRequests(): Promise<void> {
  for (const target of [...strangeTargets, '/buy/%E0%A4%A'])
    for (const method of ['GET', 'POST'])
      assert.notEqual(await statusOf(port, target, method), 502, `${method} ${target}`);
  assert.equal(await statusOf(port, '/pictures/__proto__'), 404);
  assert.equal(await statusOf(port, '/'), 200);
}

/** The page of this address, once it says that: the inbox responds before it fulfils. */
async function shows(address: string, what: RegExp): Promise<string> {
  for (let tries = 0; tries < 150; tries++) {
    const page = await (await fetch(address)).text();
    if (what.test(page)) return page;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.fail(`${address} does not show ${what} within 15 s`);
}
const showsPaid = (address: string) => shows(address, /class="state paid"/);

const text = async (path: string) => (await fetch(shop + path)).text();
const post = (path: string, body?: URLSearchParams) =>
  fetch(shop + path, { method: 'POST', redirect: 'manual', ...(body && { body }) });

function environment(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PORT: String(port),
    SHOP_URL: shop,
    PAYMENTS_API_KEY: sandbox.apiKey,
    PAYMENTS_BASE_URL: sandbox.url,
    PAYMENTS_WEBHOOK_SECRET: secret,
    ORDERS_KEY: 'key_of_the_counter',
    SHOP_FILE: join(folder, 'shop.sqlite'),
    NEXT_TELEMETRY_DISABLED: '1',
  };
}

/** Starts a shop and waits until it responds. */
async function start(args: string[]): Promise<void> {
  const child = spawn(process.execPath, args, {
    cwd: here,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: environment(),
  });
  running.push(child);
  for (let tries = 0; tries < 150; tries++) {
    const response = await fetch(shop).catch(() => undefined);
    if (response) return;
    assert.equal(child.exitCode, null, 'the shop ended before it responded');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert.fail('the shop did not respond within 30 s');
}
