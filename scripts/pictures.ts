// `npx tsx scripts/pictures.ts` takes the README's pictures from the sandbox itself: docs/images/*.png. Needs a Chromium, as the browser tests do.

import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { pictures } from '../examples/shop/pictures.js';
import { PaymentsClient } from '../src/index.js';
import { createSandbox } from '../src/sandbox/index.js';
import { handler } from '../src/webhooks/index.js';

const folder = fileURLToPath(new URL('../docs/images/', import.meta.url));
await mkdir(folder, { recursive: true });

const images = createServer((_, response) =>
  response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(pictures.get('mug.svg')),
).listen(0, '127.0.0.1');
await once(images, 'listening');
const address = images.address();
const port = typeof address === 'object' ? address?.port : undefined;

// Ids, time and key repeat from run to run, so that a picture changes only when a page does.
const secret = 'whsec_sandbox_00000000000000000000';
const verified = handler({ secret, on: { 'order.paid': () => undefined }, onError: () => undefined });
const sandbox = await createSandbox({
  seed: 4,
  now: new Date('2026-03-02T10:24:00Z'),
  merchantName: 'North & Pine',
  webhookSecret: secret,
  signatureTime: 'real',
  publicUrl: 'http://127.0.0.1:4380',
  // A handler behind a body parser, which verifies an encoding of its own.
  webhook: async (request) => {
    const body = JSON.stringify(await request.json());
    const { url, method, headers } = request;
    const answer = await verified(new Request(url, { method, headers, body }));
    answer.headers.set('x-powered-by', 'Express');
    return answer;
  },
}).listen({ port: 4380 });
const client = new PaymentsClient({ baseUrl: sandbox.url, apiKey: sandbox.apiKey });
const mug = await client.products.create({
  name: 'Handmade mug',
  description: 'Stoneware, glazed by hand in small batches. Holds 300 ml.',
  price: '19.90',
  image: `http://127.0.0.1:${port}/mug.svg`,
});
const checkout = async () =>
  (await client.checkouts.create({ productId: mug.id, cancelUrl: 'https://shop.test/' })).url;
const open = await checkout();
const { event } = await sandbox.completeCheckout(await checkout());

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--font-render-hinting=none'],
});
const page = await browser.newPage({ deviceScaleFactor: 1.25 });
/** Down to the end of `last`, and a little further. */
const take = async (path: string, file: string, last: string) => {
  await page.setViewportSize({ width: 1040, height: 680 });
  await page.goto(sandbox.url + path);
  const box = await page.locator(last).last().boundingBox();
  if (!box) throw new Error(`${path} has no ${last}`);
  await page.setViewportSize({ width: 1040, height: Math.ceil(box.y + box.height) + 16 });
  await page.screenshot({ path: folder + file });
};
await take(new URL(open).pathname, 'payment-page.png', '[data-testid=developer]');
await take(`/events/${event.id}`, 'dashboard.png', '#attempts');
await browser.close();
await sandbox.close();
images.close();
