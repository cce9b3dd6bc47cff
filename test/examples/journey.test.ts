import { createServer } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PaymentsClient, type WebhookEvent, webhooks } from '../../src/index.js';
import { createSandbox, type Sandbox } from '../../src/sandbox/index.js';

const secret = 'whsec_of_the_journey';
let sandbox: Sandbox;
let payments: PaymentsClient;
let received: WebhookEvent[];

const receiver = createServer(async (request, response) => {
  const rawBody = Buffer.concat(await request.toArray());
  received.push(webhooks.verify({ rawBody, headers: request.headers, secret }));
  response.end();
});

beforeEach(async () => {
  received = [];
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const address = receiver.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  sandbox = await createSandbox({ webhook: `http://127.0.0.1:${port}/`, webhookSecret: secret }).listen();
  payments = new PaymentsClient({ apiKey: sandbox.apiKey, baseUrl: sandbox.url });
});

afterEach(async () => {
  await sandbox.close();
  await new Promise((resolve) => receiver.close(resolve));
});

test('a product, a checkout, a payment: the signed order.paid arrives over HTTP and the balance grows', async () => {
  const product = await payments.products.create({ name: 'Handmade mug', price: '19.9' });
  const created = await payments.checkouts.create({
    productId: product.id,
    successUrl: 'https://shop.example/ok',
  });
  const checkout = await payments.checkouts.retrieve(created.id ?? '');
  const { order, redirectUrl } = await sandbox.completeCheckout(created.url);

  expect(checkout).toMatchObject({
    productId: product.id,
    amount: '19.90',
    currency: 'USD',
    url: created.url,
  });
  expect(redirectUrl).toBe('https://shop.example/ok');
  expect(received).toEqual([
    { type: 'order.paid', data: { order_id: order.id, amount: '19.90', currency: 'USD' } },
  ]);
  expect(await payments.balance.retrieve()).toMatchObject({
    available: '0.00',
    pending: '19.90',
    frozen: '0.00',
  });
});

test('create and list return equal objects for the same product', async () => {
  const created = await payments.products.create({
    name: 'Plakat „Nordlicht“ 🌌',
    price: '5',
    currency: 'EUR',
    metadata: { sku: 'P-1' },
  });
  const { items } = await payments.products.list();
  expect(items).toEqual([created]);
});

test('an update changes what the next list shows', async () => {
  const product = await payments.products.create({ name: 'Poster', price: '5.00' });
  const updated = await payments.products.update(product.id, { price: '6.50' });
  const { items } = await payments.products.list();
  expect(updated).toMatchObject({ id: product.id, price: '6.50' });
  expect('status' in updated).toBe(false);
  expect(items).toMatchObject([{ id: product.id, price: '6.50', status: 'ACTIVE' }]);
});

test('for await over 10,000 products yields each once', async () => {
  const inProcess = createSandbox();
  const client = new PaymentsClient(inProcess.clientOptions);
  for (let number = 0; number < 10_000; number++) {
    await inProcess.fetch('/v1/products', {
      method: 'POST',
      headers: { 'x-api-key': inProcess.apiKey, 'content-type': 'application/json' },
      body: `{"name":"Product ${number}","price":"1.00"}`,
    });
  }
  const names = new Set<string>();
  let items = 0;
  for await (const product of client.products.list({ size: 100 })) {
    names.add(product.name);
    items++;
  }
  expect(items).toBe(10_000);
  expect(names.size).toBe(10_000);
});

test('a wrong key gets AuthenticationError after one request', async () => {
  const stranger = new PaymentsClient({ apiKey: 'service_test_of_somebody_else', baseUrl: sandbox.url });
  await expect(stranger.balance.retrieve()).rejects.toMatchObject({
    name: 'AuthenticationError',
    status: 401,
    outcome: 'rejected',
  });
  expect(sandbox.requests.map(({ status }) => status)).toEqual([401]);
});
