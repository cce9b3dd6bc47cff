import { NotFoundError, PaymentsClient } from 'merchant-payments';
import { createSandbox } from 'merchant-payments/sandbox';
import { expect, test } from 'vitest';

const payments = new PaymentsClient(createSandbox().clientOptions);

test('a product is created and found again', async () => {
  const mug = await payments.products.create({ name: 'Mug', price: '19.90' });
  expect((await payments.products.list()).items).toEqual([mug]);
});

test('an unknown checkout is an error of its class', async () => {
  await expect(payments.checkouts.retrieve('none')).rejects.toThrow(NotFoundError);
});
