/**
 * The same with Jest, without a transform.
 *
 *     npm install --save-dev jest
 *     npx jest testing/jest.test.cjs
 */
const { PaymentsClient, webhooks } = require('merchant-payments');
const { createSandbox } = require('merchant-payments/sandbox');

const secret = 'whsec_of_this_test';
const paid = [];
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

  const { order } = await sandbox.completeCheckout(url);

  expect(paid).toEqual([order.id]);
});

test('a checkout that expired is not paid any more', async () => {
  const sandbox = createSandbox({ now: new Date('2026-01-01T12:00:00Z') });
  const payments = new PaymentsClient(sandbox.clientOptions);
  const { id } = await payments.products.create({ name: 'Handmade mug', price: '19.90' });
  const { url } = await payments.checkouts.create({ productId: id });
  await sandbox.advanceTime('31m');
  await expect(sandbox.completeCheckout(url)).rejects.toThrow(/expired/);
});
