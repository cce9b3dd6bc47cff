/**
 * For test suites that use Mock Service Worker already: one handler sends every request of the service to the sandbox,
 * so your code keeps its own client and base URL.
 *
 *     npm install --save-dev vitest msw
 *     npx vitest run testing/msw.test.ts
 */
import { PaymentsClient } from 'merchant-payments';
import { createSandbox } from 'merchant-payments/sandbox';
import { http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

const baseUrl = 'https://payments.example';
const sandbox = createSandbox();
const server = setupServer(http.all(`${baseUrl}/*`, ({ request }) => sandbox.fetch(request)));

beforeAll(() => {
  server.listen({ onUnhandledRequest: 'error' });
});
beforeEach(() => {
  sandbox.reset();
});
afterAll(() => {
  server.close();
});

test('your code talks to the service, and the sandbox responds', async () => {
  const payments = new PaymentsClient({ baseUrl, apiKey: sandbox.apiKey });
  const product = await payments.products.create({ name: 'Handmade mug', price: '19.90' });
  expect((await payments.products.list()).items).toEqual([product]);
  expect(sandbox.products).toHaveLength(1);
});
