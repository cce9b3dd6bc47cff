import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import { createSandbox, type Sandbox } from 'merchant-payments/sandbox';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../examples/shop/database.js';
import { freePort } from '../helpers/ports.js';
import { startProcess } from '../helpers/processes.js';
import { useChromium } from './chromium.js';

const visit = useChromium();
let sandbox: Sandbox;
let shopUrl: string;
let ordersUrl: string;
let folder: string;

/** Starts the shop from the sources, and a sandbox that sends a webhook when the test says so. */
beforeEach(async () => {
  const port = String(await freePort());
  shopUrl = `http://127.0.0.1:${port}`;
  ordersUrl = `${shopUrl}/orders?key=key+of+the+counter`;
  folder = mkdtempSync(join(tmpdir(), 'shop-'));
  onTestFinished(() => rmSync(folder, { recursive: true, maxRetries: 10 }));
  sandbox = await createSandbox({ webhook: `${shopUrl}/webhooks`, webhooks: 'manual' }).listen();
  const { output } = startProcess(process.execPath, ['--import', 'tsx', 'examples/shop/server.ts'], {
    env: {
      ...process.env,
      PORT: port,
      ORDERS_KEY: 'key of the counter',
      SHOP_FILE: join(folder, 'shop.sqlite'),
      PAYMENTS_API_KEY: sandbox.apiKey,
      PAYMENTS_BASE_URL: sandbox.url,
      PAYMENTS_WEBHOOK_SECRET: sandbox.webhookSecret,
    },
  });
  await expect.poll(() => output.stdout).toContain('Ctrl-C');
});
afterEach(() => sandbox.close());

/** A customer of their own, on the payment page of the candle. */
async function openCandle(): Promise<Page> {
  const page = await visit(shopUrl);
  await page.locator('article', { hasText: 'Forest candle' }).getByRole('button', { name: 'Buy' }).click();
  await page.getByTestId('pay').waitFor();
  return page;
}

async function payOnPage(page: Page): Promise<void> {
  await page.getByTestId('pay').click();
  await page.waitForURL(`${shopUrl}/thanks/*`);
}

const confirmationOf = (page: Page) => page.getByText('Paid', { exact: true });
const pendingNoticeOf = (page: Page) => page.getByText('Payment is being confirmed');

it('buy, pay, come back, and the order turns paid without a reload', async () => {
  const page = await visit(shopUrl);
  const buy = page.getByRole('button', { name: 'Buy' });
  expect(await buy.count()).toBe(3);
  await buy.first().click();
  await page.getByTestId('cancel').click();
  await page.waitForURL(`${shopUrl}/`);

  await buy.first().click();
  await payOnPage(page);
  await pendingNoticeOf(page).waitFor();
  const loads: string[] = [];
  page.on('framenavigated', (frame) => loads.push(frame.url()));
  await sandbox.deliver();
  await confirmationOf(page).waitFor();
  expect(loads).toEqual([]);
});

it('of two customers with the same candle, the one who pays sees it paid, and the other does not', async () => {
  const anna = await openCandle();
  const ben = await openCandle();
  expect(sandbox.checkouts.map(({ amount }) => amount)).toEqual(['27.50', '27.49']);

  // Ben reads his successUrl on the payment page and opens it. He opens it again when Anna has paid.
  const address = sandbox.checkouts[1]?.successUrl ?? '';
  await ben.goto(address);
  await pendingNoticeOf(ben).waitFor();
  await payOnPage(anna);
  await sandbox.deliver();
  await confirmationOf(anna).waitFor();
  await ben.reload();
  await pendingNoticeOf(ben).waitFor();
  expect((await ben.goto(address.replace(/token=.*/, 'token=guess')))?.status()).toBe(404);
  const orders = await visit(ordersUrl);
  expect(await orders.getByRole('row', { name: 'Forest candle' }).allInnerTexts()).toEqual([
    expect.stringMatching(/27\.49 USD\s+Open ordered at \d\d:\d\d, customer came back/),
    expect.stringMatching(/27\.50 USD\s+Paid/),
  ]);

  await ben.goto(sandbox.checkouts[1]?.url ?? '');
  await payOnPage(ben);
  await pendingNoticeOf(ben).waitFor();
  await sandbox.deliver();
  await confirmationOf(ben).waitFor();

  // The catalogue still sells one candle, and the one that is a cent cheaper is made once.
  expect(await (await visit(shopUrl)).getByRole('button', { name: 'Buy' }).count()).toBe(3);
  await openCandle();
  await openCandle();
  expect(sandbox.products.map(({ name, price }) => `${name} ${price}`).sort()).toEqual([
    'Field guide to slow mornings 34.00',
    'Forest candle 27.47',
    'Forest candle 27.48',
    'Forest candle 27.49',
    'Forest candle 27.50',
    'Handmade mug 19.90',
  ]);
});

it('a payment that fits two orders is held, and a person says which order it was', async () => {
  const anna = await openCandle();
  const address = sandbox.checkouts.at(-1)?.successUrl ?? '';
  await openCandle();
  const database = openDatabase(join(folder, 'shop.sqlite'));
  database.exec("UPDATE payments_order SET amount = '27.50'");
  database.close();
  await payOnPage(anna);
  await sandbox.deliver();
  const orders = await visit(ordersUrl);
  await expect.poll(() => orders.reload().then(() => orders.getByRole('radio').count())).toBe(3);
  await orders.getByRole('heading', { name: /27\.50 USD, paid as/ }).waitFor();
  await pendingNoticeOf(anna).waitFor();

  const id = address.match(/thanks\/(\w+)/)?.[1] ?? '';
  await orders.getByLabel(`Order ${id}`).check();
  await orders.getByRole('button', { name: 'Decide' }).click();
  await orders.getByRole('row', { name: id }).getByText('Paid').waitFor();
  expect(await orders.getByRole('radio').count()).toBe(0);
  await confirmationOf(anna).waitFor();
});

it('when no amount is free, Buy asks the customer to try again later', async () => {
  const candle = sandbox.products.find(({ name }) => name === 'Forest candle')?.id;
  const buy = () => fetch(`${shopUrl}/buy/${candle}`, { method: 'POST', redirect: 'manual' });
  for (let open = 0; open < 51; open++) expect((await buy()).status).toBe(303);
  const refused = await buy();
  expect([refused.status, await refused.text()]).toEqual([502, expect.stringContaining('Try again later')]);
});

it('the pages of the shop have no accessibility violations', async () => {
  const page = await openCandle();
  await sandbox.trigger('order.paid', { amount: '5.00' });
  await sandbox.deliver();
  const addresses = [
    shopUrl,
    ordersUrl,
    `${shopUrl}/orders`,
    sandbox.checkouts[0]?.successUrl ?? '',
    `${shopUrl}/nothing`,
  ];
  for (const address of addresses) {
    await page.goto(address);
    await page.evaluate(axe.source);
    expect(await page.evaluate('axe.run().then(({ violations }) => violations)'), address).toEqual([]);
  }
});
