import { createSandbox, type Sandbox } from 'merchant-payments/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import balance from '../fixtures/balance.json' with { type: 'json' };
import checkoutCreated from '../fixtures/checkout-created.json' with { type: 'json' };
import checkoutRetrieved from '../fixtures/checkout-retrieved.json' with { type: 'json' };
import created from '../fixtures/product-created.json' with { type: 'json' };
import list from '../fixtures/product-list.json' with { type: 'json' };
import updated from '../fixtures/product-updated.json' with { type: 'json' };
import unauthorized from '../fixtures/unauthorized.json' with { type: 'json' };
import { caller } from './open.js';

const start = new Date('2026-01-01T00:00:00Z');
const mug = {
  name: 'Handmade mug',
  price: '19.90',
  description: 'Stoneware, 300 ml',
  metadata: { sku: 'MUG-1' },
};

/** One transport to the sandbox: in process, or over a socket. */
async function open(way: 'in process' | 'over HTTP', options = {}) {
  const sandbox: Sandbox = createSandbox({ now: start, ...options });
  if (way === 'over HTTP') await sandbox.listen();
  return { sandbox, call: caller(sandbox, way === 'over HTTP' ? globalThis.fetch : undefined) };
}

/** The fixture with the ids that the sandbox gave, which no test can know before. */
function withId<Data extends object>(fixture: { data: Data }, id: unknown) {
  return { ...fixture, data: { ...fixture.data, id } };
}

describe.each(['in process', 'over HTTP'] as const)('the documented API, %s', (way) => {
  let service: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    service = await open(way);
  });
  afterAll(() => service.sandbox.close());

  test('creates, updates and lists products in the three forms of the spec', async () => {
    const { call, sandbox } = service;
    const first = await call('POST', '/v1/products', mug);
    expect(first.status).toBe(200);
    expect(first.body).toEqual(withId(created, first.body.data.id));

    const only = await call('GET', '/v1/products');
    expect(only.body.data.items).toEqual([{ ...list.data.items[0], id: first.body.data.id }]);
    expect(only.body.data.pagination).toEqual({ page: 1, size: 20, total: 1, totalPages: 1 });

    await sandbox.advanceTime('1h');
    const change = await call('PATCH', `/v1/products/${first.body.data.id}`, { price: '24.50' });
    expect(change.status).toBe(200);
    expect(change.body).toEqual(withId(updated, first.body.data.id));
  });

  test('creates a checkout with a url, and retrieves it without any status', async () => {
    const { sandbox, call } = await open(way);
    const product = await call('POST', '/v1/products', mug);
    const checkout = await call('POST', '/v1/checkouts', { productId: product.body.data.id });
    const { id, url } = checkout.body.data;
    expect(checkout.status).toBe(200);
    expect(url).toBe(`${sandbox.url}/pay/${id}`);

    const again = await call('GET', `/v1/checkouts/${id}`);
    const { data } = checkoutRetrieved;
    expect(again.body).toEqual({
      ...checkoutRetrieved,
      data: { ...data, id, url, productId: product.body.data.id },
    });
    await sandbox.close();
  });

  test('returns a balance of two-decimal amounts', async () => {
    const { body, status } = await service.call('GET', '/v1/balance');
    expect(status).toBe(200);
    const nothing = { available: '0.00', pending: '0.00', frozen: '0.00' };
    expect(body).toEqual({ ...balance, data: { ...balance.data, ...nothing } });
  });

  test.each([
    ['POST', '/v1/products'],
    ['GET', '/v1/products'],
    ['PATCH', '/v1/products/prod_1'],
    ['POST', '/v1/checkouts'],
    ['GET', '/v1/checkouts/chk_1'],
    ['GET', '/v1/balance'],
  ])('answers %s %s without the right key with the exact 401 of the spec', async (method, path) => {
    for (const key of ['', 'service_test_other', 'service_live_4242424242']) {
      const { status, body } = await service.call(method, path, method === 'GET' ? undefined : {}, {
        'x-api-key': key,
      });
      expect(status).toBe(401);
      expect(body).toEqual(unauthorized);
    }
  });
});

test('returns the url alone from checkout creation if set to, as the spec guarantees no more', async () => {
  const { call } = await open('in process', {
    unspecified: { checkoutCreated: 'url' },
    publicUrl: 'https://pay.example',
  });
  const product = await call('POST', '/v1/products', mug);
  const { body } = await call('POST', '/v1/checkouts', { productId: product.body.data.id });
  expect(body).toEqual({
    ...checkoutCreated,
    data: { url: expect.stringMatching(/^https:\/\/pay\.example\/pay\/chk_/) },
  });
});

test('takes the defaults of the spec: USD, no image, page 1 of 20', async () => {
  const { call } = await open('in process');
  for (let index = 0; index < 21; index++)
    await call('POST', '/v1/products', { name: `No ${index}`, price: '5' });
  const { data } = (await call('GET', '/v1/products')).body;
  expect(data.items).toHaveLength(20);
  expect(data.items[0]).toMatchObject({
    name: 'No 20',
    currency: 'USD',
    image: null,
    price: 5,
    metadata: {},
  });
  expect(data.items[0]).not.toHaveProperty('description');
  expect(data.pagination).toEqual({ page: 1, size: 20, total: 21, totalPages: 2 });
});
