import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { useChromium } from './chromium.js';
import { useShop } from './shop.js';

const visit = useChromium();
const shop = useShop();

/** Elements and attribute names of a page: what hostile text must not change. */
const anatomy = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('*')].map((element) => `${element.tagName} ${element.getAttributeNames()}`),
  );

it.each([
  `<script>alert(1)</script>"><img src=x onerror=alert(1)></title><svg onload=alert(1)>' autofocus onfocus=alert(1) x='`,
  '&#x3c;script&#x3e;alert(1)&#x3c;/script&#x3e; \u202Eegrahc eerf',
  '😀'.repeat(200),
])('the name %j is text, on every page that shows it', async (name) => {
  harmless ??= await anatomies('Mug');
  shop().sandbox.reset();
  expect(await anatomies(name)).toEqual(harmless);
});

let harmless: object | undefined;

async function anatomies(text: string) {
  const { sandbox, client, checkout } = shop();
  const product = await client.products.create({
    name: text,
    description: text,
    price: '19.90',
    metadata: { note: text },
  });
  const page = await visit(await checkout({ productId: product.id, displayMerchantName: text }));
  expect(await page.getByTestId('product-name').textContent()).toBe(text);
  expect(await page.getByTestId('cancel').textContent()).toContain(text);
  const form = await anatomy(page);
  await page.getByTestId('method-wallet-a').check();
  await page.getByTestId('pay').click();
  await page.getByTestId('qr').waitFor();
  await page.goto((await page.getByTestId('wallet-link').getAttribute('href')) ?? '');
  const wallet = await anatomy(page);
  await page.goto(`${sandbox.url}/checkouts`);
  return { form, wallet, dashboard: await anatomy(page) };
}

it("a form on another site's page pays nothing", async () => {
  const { sandbox, checkout } = shop();
  const url = await checkout();
  const own = await visit(url);
  const token = await own.locator('input[name=token]').first().inputValue();
  const evil = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(
      `<form method="post" action="${url}/pay"><input name="token" value="${token}"><input name="method" value="card">
<input name="card" value="1111"><button>Win</button></form>
<form method="post" action="${sandbox.url}/reset"><input name="token" value="x"><button>Reset</button></form>`,
    ),
  );
  evil.listen(0, '127.0.0.1');
  await once(evil, 'listening');
  const address = evil.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  for (const [index, host] of ['127.0.0.1', 'localhost'].entries()) {
    for (const name of ['Win', 'Reset']) {
      const page = await visit(`http://${host}:${port}/${index}`);
      const answer = page.waitForResponse((response) => response.url().startsWith(sandbox.url));
      await page.getByRole('button', { name }).click();
      expect((await answer).status()).toBe(403);
    }
  }
  evil.closeAllConnections();
  evil.close();
  expect(sandbox.orders).toEqual([]);
  expect(sandbox.checkouts).toHaveLength(1);
});

it('another host name gets 421', async () => {
  const { sandbox } = shop();
  const status = await new Promise((resolve, reject) => {
    request(`${sandbox.url}/`, { headers: { host: 'evil.example' } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
  expect(status).toBe(421);
});

it('the page cannot be framed', async () => {
  const { origin, checkout } = shop();
  const url = await checkout();
  const page = await visit(`${origin}/frame`);
  page.removeAllListeners('console');
  const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'));
  await page.evaluate((address) => {
    const frame = document.createElement('iframe');
    frame.src = address;
    document.body.append(frame);
  }, url);
  await refused;
  expect(page.frames().every((frame) => !frame.url().startsWith(url))).toBe(true);
});
