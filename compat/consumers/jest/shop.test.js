// Plain Jest without a transform: CommonJS, and ky and zod out of sight.
const { PaymentsClient, NotFoundError } = require('merchant-payments');
const { createSandbox } = require('merchant-payments/sandbox');
const { sign, verify } = require('merchant-payments/webhooks');

const payments = new PaymentsClient(createSandbox().clientOptions);

test('a product is created and found again', async () => {
  const mug = await payments.products.create({ name: 'Mug', price: '19.90' });
  expect((await payments.products.list()).items).toEqual([mug]);
});

test('an unknown checkout is an error of its class', async () => {
  await expect(payments.checkouts.retrieve('none')).rejects.toThrow(NotFoundError);
});

test('a signed event verifies', () => {
  const rawBody = '{"type":"order.paid","data":{"order_id":"o","amount":"1.00","currency":"USD"}}';
  const headers = sign({ rawBody, secret: 's' });
  expect(verify({ rawBody, headers, secret: 's' }).type).toBe('order.paid');
});
