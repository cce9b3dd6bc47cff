// The one-file shop as a newcomer runs it, with customers who want the same mug.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { openInbox } from 'merchant-payments/inbox';
import { createSandbox, type Sandbox } from 'merchant-payments/sandbox';
import { sign } from 'merchant-payments/webhooks';
import type { Program } from '../../src/crash-test/program.js';
import { statusOf, strangeTargets } from '../../test/helpers/strange-requests.js';
import { secret, startShop } from './shop.js';

const file = new URL('../.examples/fulfilment/sqlite-inbox.ts', import.meta.url).pathname;
let sandbox: Sandbox;
let shop: Program;
let url: string;
let folder: string;

beforeEach(async () => {
  sandbox = await createSandbox({ webhookSecret: secret, webhooks: 'manual' }).listen();
  folder = mkdtempSync(join(tmpdir(), 'shop-'));
  shop = await startShop(file, folder, {
    PAYMENTS_API_KEY: sandbox.apiKey,
    PAYMENTS_BASE_URL: sandbox.url,
    PAYMENTS_WEBHOOK_SECRET: secret,
    ORDERS_KEY: 'of the counter',
  });
  url = new URL(shop.url).origin;
  sandbox.setWebhook(`${url}/webhooks`);
});
afterEach(async () => {
  await shop.stop();
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

test('the shop sells a mug, and its order is paid once the webhook has come', async () => {
  assert.match(await read(url), /Handmade mug.*19\.90 USD/);
  const order = await pay(await buy());
  assert.match(await read(order), /being confirmed/);
  await sandbox.deliver();
  await waitUntilShown(order, /Thank you\. Paid/);
  assert.equal((await fetch(`${url}/orders`)).status, 404);
});

test('a strange request gets 404, and the shop goes on', async () => {
  for (const target of strangeTargets)
    assert.equal(await statusOf(Number(new URL(url).port), target), 404, target);
});

test('of two customers who want the same mug, only the one who pays is credited, even if the other opens his successUrl', async () => {
  const [hers, his] = [await buy(), await buy()];
  assert.deepEqual(
    sandbox.checkouts.map(({ amount }) => amount),
    ['19.90', '19.89'],
  );
  assert.match(await read(successUrlOf(his)), /being confirmed/);
  const herOrder = await pay(hers);
  await sandbox.deliver();
  await waitUntilShown(herOrder, /Thank you\. Paid/);
  assert.match(await read(successUrlOf(his)), /being confirmed/);
  assert.match(await read(successUrlOf(his).replace(/token=.*/, 'token=guessed')), /no such order/);
  assert.match(await read(counter()), /19\.89 USD, open/);
  assert.doesNotMatch(await read(counter()), heldPayment);
});

test('she comes back before the webhook: she is credited as soon as it comes', async () => {
  const [hers, his] = [await buy(), await buy()];
  const herOrder = await pay(hers);
  assert.match(await read(herOrder), /being confirmed/);
  await sandbox.deliver();
  await waitUntilShown(herOrder, /Thank you\. Paid/);
  assert.match(await read(successUrlOf(his)), /being confirmed/);
});

test('a second payment on a page that was still open is not credited to the next customer', async () => {
  const herOrder = await pay(await buy());
  await sandbox.deliver();
  await waitUntilShown(herOrder, /Thank you\. Paid/);
  const his = await buy();
  assert.equal(sandbox.checkouts[1]?.amount, '19.89');
  await sandbox.trigger('order.paid', { amount: '19.90' });
  await sandbox.deliver();
  await waitUntilShown(counter(), /ord_\w+: 19\.90 USD<\/li>/);
  assert.match(await read(successUrlOf(his)), /being confirmed/);
});

test('both pay: each is credited with his own payment, and the cheaper mug is made once', async () => {
  const [hers, his] = [await buy(), await buy()];
  const orders = [await pay(his), await pay(hers)];
  await sandbox.deliver();
  for (const order of orders) await waitUntilShown(order, /Thank you\. Paid/);
  await buy();
  await buy();
  assert.deepEqual(
    sandbox.products.map(({ price }) => price),
    ['19.90', '19.89', '19.88', '19.87'],
  );
});

test('a payment that came long after its checkout had expired is held, and a person says whose it was', async () => {
  const [hers, his] = [await buy(), await buy()];
  const database = new DatabaseSync(join(folder, 'shop.sqlite'));
  database.exec('PRAGMA busy_timeout = 5000');
  database.exec('UPDATE payments_order SET expires_at = expires_at - 86400000'); // as if it had been a day
  database.close();
  const herOrder = await pay(hers);
  await sandbox.deliver();
  await waitUntilShown(counter(), /ord_\w+: 19\.90 USD/);
  assert.match(await read(herOrder), /being confirmed/);
  const id = new URL(successUrlOf(hers)).pathname.replace('/thanks/', '');
  const forms = [...(await read(counter())).matchAll(/action="([^"]*)"/g)].map(([, action = '']) => action);
  assert.equal(forms.length, 1);
  const chosen = forms[0]?.replaceAll('&#38;', '&') ?? '';
  assert.ok(chosen.includes(id));
  const forged = url + chosen.replace(/key=[^&]*/, 'key=');
  assert.equal((await fetch(forged, { method: 'POST' })).status, 404);
  await fetch(url + chosen, { method: 'POST' });
  assert.match(await read(herOrder), /Thank you\. Paid/);
  assert.match(await read(successUrlOf(his)), /being confirmed/);
  assert.equal(
    (await fetch(url + chosen, { method: 'POST' })).status,
    200,
    'the same decision again changes nothing',
  );
});

test('if no amount is free, the next customer is asked to come back later', async () => {
  const statuses = new Set<number>();
  for (let customer = 0; customer < 52; customer++)
    statuses.add((await fetch(`${url}/buy`, { method: 'POST', redirect: 'manual' })).status);
  assert.deepEqual([...statuses], [303, 503]);
  assert.equal(sandbox.checkouts.length, 51);
});

test('one order id with two amounts is credited once: a retry of the second says why it fails', async () => {
  for (const amount of ['10.00', '90.00']) {
    const body = JSON.stringify({ type: 'order.paid', data: { order_id: 'ord_1', amount, currency: 'USD' } });
    const headers = sign({ rawBody: body, secret });
    assert.equal((await fetch(`${url}/webhooks`, { method: 'POST', body, headers })).status, 200);
  }
  await using inbox = openInbox({ file: join(folder, 'shop.sqlite'), secret, work: false });
  const [conflict] = await inbox.list({ state: 'parked' });
  assert.equal(await inbox.retry(conflict?.key ?? ''), true);
  let lastError: string | null | undefined;
  for (let tries = 0; tries < 600 && !lastError?.startsWith('PaymentsError'); tries++) {
    await wait(50);
    lastError = (await inbox.get(conflict?.key ?? ''))?.lastError;
  }
  assert.match(lastError ?? '', /Payment "ord_1" came with 10\.00 USD before, and now comes with 90\.00 USD/);
});

test('a service that creates no checkout leaves no order, and no cent taken', async () => {
  sandbox.failNext({ status: 500, path: '/v1/checkouts' });
  assert.equal((await fetch(`${url}/buy`, { method: 'POST' })).status, 502);
  await buy();
  assert.equal(sandbox.checkouts[0]?.amount, '19.90');
});

for (const signal of ['SIGKILL', 'SIGTERM'] as const)
  test(`${signal} between the webhook and the return: the payment is there after the restart`, async () => {
    const [hers] = [await buy(), await buy()];
    const herOrder = await pay(hers);
    const [delivery] = await sandbox.deliver();
    assert.equal(delivery?.status, 200);
    assert.ok(shop.kill(signal));
    await shop.waitUntilReady();
    await waitUntilShown(herOrder, /Thank you\. Paid/);
    assert.equal(statSync(join(folder, 'shop.sqlite')).mode & 0o777, 0o600);
  });

const heldPayment = /<button>it is order/;
const counter = () => `${url}/orders?key=of+the+counter`;

async function buy(): Promise<string> {
  const response = await fetch(`${url}/buy`, { method: 'POST', redirect: 'manual' });
  return response.headers.get('location') ?? '';
}

/** Returns where the customer comes back to. */
async function pay(checkout: string): Promise<string> {
  return (await sandbox.completeCheckout(checkout)).redirectUrl ?? '';
}

function successUrlOf(checkout: string): string {
  return sandbox.checkouts.find((one) => one.url === checkout)?.successUrl ?? '';
}

async function read(address: string): Promise<string> {
  return (await fetch(address)).text();
}

async function waitUntilShown(address: string, expected: RegExp): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (expected.test(await read(address))) return;
    await wait(50);
  }
  assert.match(await read(address), expected);
}
