import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { freePort } from '../helpers/ports.js';
import { useChromium } from './chromium.js';

const visit = useChromium();
let shop: ChildProcess | undefined;

afterEach(async () => {
  if (shop?.exitCode === null && shop.kill()) await once(shop, 'exit');
});

/** Starts the shop as `npm start` does, on other ports and from the sources. */
async function start(): Promise<{ shopUrl: string; dashboardUrl: string }> {
  const [port, sandboxPort] = [await freePort(), await freePort()].map(String);
  shop = spawn(process.execPath, ['--import', 'tsx', 'examples/shop/main.ts'], {
    env: { ...process.env, PORT: port, SANDBOX_PORT: sandboxPort },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const chunk of shop.stdout ?? []) {
    output += chunk;
    if (output.includes('Ctrl-C')) break;
  }
  return { shopUrl: `http://127.0.0.1:${port}`, dashboardUrl: `http://127.0.0.1:${sandboxPort}` };
}

it('the example shop: Buy, pay, come back, and the order turns paid without a reload', async () => {
  const { shopUrl, dashboardUrl } = await start();
  const page = await visit(shopUrl);
  const buy = page.getByRole('button', { name: 'Buy' });
  expect(await buy.count()).toBe(3);
  await buy.first().click();
  expect(await page.getByTestId('product-name').textContent()).toBe('Handmade mug');
  await page.getByTestId('cancel').click();
  await page.waitForURL(`${shopUrl}/`);

  await buy.first().click();
  await page.getByTestId('pay').click();
  await page.waitForURL(`${shopUrl}/orders/2`);
  await page.getByText('Payment is being confirmed').waitFor();
  const loads: string[] = [];
  page.on('framenavigated', (frame) => loads.push(frame.url()));
  await page.getByText('Paid', { exact: true }).waitFor();
  expect(loads).toEqual([]);
  expect(await page.getByText('paid as ord_').count()).toBe(1);

  await page.getByRole('link', { name: 'orders of this shop' }).click();
  await page.getByText('Order 2: Handmade mug, paid').waitFor();
  await page.getByText('Order 1: Handmade mug, being confirmed').waitFor();
  await page.getByRole('link', { name: "the sandbox's dashboard" }).click();
  await page.waitForURL(`${dashboardUrl}/`);
  await page.goto(`${dashboardUrl}/events`);
  await page.getByText('delivered').waitFor();
});
