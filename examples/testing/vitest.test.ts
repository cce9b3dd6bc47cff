/**
 * A test of your own integration with Vitest: the shop's code against the sandbox, without a port and without waiting.
 *
 *     npm install --save-dev vitest
 *     npx vitest run testing/vitest.test.ts
 */
import { PaymentsClient, webhooks } from 'merchant-payments';
import { createSandbox } from 'merchant-payments/sandbox';
import { expect, test } from 'vitest';

const secret = 'whsec_of_this_test';
const paid: string[] = [];

/** The shop's webhook route, in the form of Next.js, Hono and other frameworks. */
const POST = webhooks.handler({
  secret,
  on: { 'order.paid': ({ data }) => void paid.push(data.order_id) },
  onError: () => {},
});

test('a paid checkout reaches the shop', async () => {
  const sandbox = createSandbox({ webhook: POST, webhookSecret: secret });
  const payments = new PaymentsClient(sandbox.clientOptions);
  const product = await payments.products.create({ name: 'Handmade mug', price: '19.90' });
  const { url } = await payments.checkouts.create({ productId: product.id });

  const { order, delivery } = await sandbox.completeCheckout(url);

  expect(delivery).toMatchObject({ ok: true, status: 200 });
  expect(paid).toEqual([order.id]);
});

test('a forged webhook is refused', async () => {
  const sandbox = createSandbox({ webhook: POST, webhookSecret: secret });
  const { event } = await sandbox.trigger('order.paid');
  const forged = await sandbox.signedRequest(event, { tamper: 'body' });
  expect((await POST(forged)).status).toBe(400);
});

test('the service fails, and nothing is created twice', async () => {
  const sandbox = createSandbox();
  const payments = new PaymentsClient(sandbox.clientOptions);
  // The product is created, and its response is lost.
  sandbox.failNext({ method: 'POST', when: 'after', network: 'reset' });
  const lost = payments.products.create({ name: 'Handmade mug', price: '19.90' });
  await expect(lost).rejects.toMatchObject({ outcome: 'unknown' });
  expect(sandbox.products).toHaveLength(1);
});
