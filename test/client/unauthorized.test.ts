import { AuthenticationError, type PaymentsClient } from 'merchant-payments';
import { describe, expect, test } from 'vitest';
import unauthorized from '../fixtures/unauthorized.json' with { type: 'json' };
import { carriers, createClient, jsonResponse, mockService } from '../helpers/service.js';

const service = mockService();

const calls: [string, string, string, (client: PaymentsClient) => Promise<unknown>][] = [
  ['products.create', 'POST', '/v1/products', ({ products }) => products.create({ name: 'Mug', price: '5' })],
  ['products.list', 'GET', '/v1/products', ({ products }) => products.list()],
  ['products.update', 'PATCH', '/v1/products/{id}', ({ products }) => products.update('p1', { price: '6' })],
  ['checkouts.create', 'POST', '/v1/checkouts', ({ checkouts }) => checkouts.create({ productId: 'p1' })],
  ['checkouts.retrieve', 'GET', '/v1/checkouts/{id}', ({ checkouts }) => checkouts.retrieve('c1')],
  ['balance.retrieve', 'GET', '/v1/balance', ({ balance }) => balance.retrieve()],
  ['request', 'GET', '/v1/orders', (client) => client.request({ method: 'GET', path: '/v1/orders' })],
];

describe.each(carriers)('a refused key, over %s', (_, options) => {
  test.each(calls)('%s sends one request and says what to check', async (operation, method, path, call) => {
    service.on(`${method} ${path.replace('{id}', ':id')}`, jsonResponse(unauthorized, 401));
    const promise = call(createClient(options));
    await expect(promise).rejects.toBeInstanceOf(AuthenticationError);
    await expect(promise).rejects.toMatchObject({
      name: 'AuthenticationError',
      code: 'authentication_error',
      operation,
      method,
      path,
      status: 401,
      apiCode: 401,
      apiMessage: 'Unauthorized',
      outcome: 'rejected',
      attempts: 1,
    });
    // The causes of the spec's "Authentication": the key itself, its environment, a regenerated key.
    await expect(promise).rejects.toThrow(
      `${method} ${path} returned 401: Unauthorized. The API key was refused.`,
    );
    await expect(promise).rejects.toThrow(/environment.*regenerating a key/);
    expect(service.requests).toHaveLength(1);
  });
});
