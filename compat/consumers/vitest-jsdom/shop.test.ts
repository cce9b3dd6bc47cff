// @vitest-environment jsdom
import { PaymentsClient } from 'merchant-payments';
import { createSandbox } from 'merchant-payments/sandbox';
import { expect, test } from 'vitest';

const { signal } = new AbortController();

test('a client names jsdom and the way out', () => {
  const make = () => new PaymentsClient(createSandbox().clientOptions);
  expect(make).toThrow(
    'this is jsdom: run these tests in the node environment (`// @vitest-environment node`).',
  );
});

test('calls work over the fetch of the sandbox', async () => {
  const { clientOptions } = createSandbox();
  const payments = new PaymentsClient({ ...clientOptions, dangerouslyAllowBrowser: true });
  const mug = await payments.products.create({ name: 'Mug', price: '19.90' }, { signal });
  expect((await payments.products.list()).items).toEqual([mug]);
});

test('calls work over node:http', async () => {
  const { url, apiKey, close } = await createSandbox().listen();
  const payments = new PaymentsClient({ apiKey, baseUrl: url, dangerouslyAllowBrowser: true });
  const mug = await payments.products.create({ name: 'Mug', price: '19.90' }, { signal });
  expect((await payments.products.list()).items).toEqual([mug]);
  await close();
});
