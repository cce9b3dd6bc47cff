import { InvalidParamsError, InvalidResponseError, NotFoundError, ServerError } from 'merchant-payments';
import { describe, expect, test } from 'vitest';
import created from '../fixtures/product-created.json' with { type: 'json' };
import list from '../fixtures/product-list.json' with { type: 'json' };
import updated from '../fixtures/product-updated.json' with { type: 'json' };
import { apiKey, carriers, createClient, jsonResponse, mockService } from '../helpers/service.js';

const service = mockService();

/** The fixtures' product in its normal form, written out from the spec. */
const mug = {
  id: 'prod_8f2c1a',
  name: 'Handmade mug',
  description: 'Stoneware, 300 ml',
  image: null,
  price: '19.90',
  currency: 'USD',
  status: 'ACTIVE',
  metadata: { sku: 'MUG-1' },
  createdAt: new Date('2026-01-01T00:00:00Z'),
  updatedAt: new Date('2026-01-01T00:00:00Z'),
};

describe.each(carriers)('products over %s', (_, options) => {
  const payments = createClient({ ...options, maxRetries: 0 });

  describe('create', () => {
    test('posts the fields as given and returns the product in its normal form', async () => {
      service.on('POST /v1/products', jsonResponse(created));
      const params = {
        name: 'Handmade mug',
        price: '19.90',
        description: 'Stoneware, 300 ml',
        image: 'https://shop.example/mug.png',
        currency: 'USD',
        metadata: { sku: 'MUG-1' },
      };
      expect(await payments.products.create(params)).toEqual(mug);
      expect(service.requests).toHaveLength(1);
      const [request] = service.requests;
      expect(request?.body).toEqual(params);
      expect(request?.query).toEqual({});
      expect(request?.headers.get('x-api-key')).toBe(apiKey);
      expect(request?.headers.get('content-type')).toBe('application/json');
      expect(request?.headers.get('accept')).toBe('application/json');
      expect(request?.headers.get('user-agent')).toMatch(/^merchant-payments\/\d+\.\d+\.\d+$/);
    });

    test('leaves fields out that are not given', async () => {
      service.on('POST /v1/products', jsonResponse(created));
      await payments.products.create({ name: 'Mug', price: '5', description: undefined });
      expect(service.requests[0]?.body).toEqual({ name: 'Mug', price: '5' });
    });

    test('refuses parameters that break a limit, and sends nothing', async () => {
      const promise = payments.products.create({ name: '', price: '0' });
      await expect(promise).rejects.toBeInstanceOf(InvalidParamsError);
      await expect(promise).rejects.toMatchObject({ outcome: 'not_sent', attempts: 0 });
      expect(service.requests).toEqual([]);
    });

    test('says that a write may have been done when the service failed', async () => {
      service.on('POST /v1/products', jsonResponse({ code: 500, message: 'Internal error' }, 500));
      const promise = payments.products.create({ name: 'Mug', price: '5' });
      await expect(promise).rejects.toBeInstanceOf(ServerError);
      await expect(promise).rejects.toMatchObject({
        operation: 'products.create',
        method: 'POST',
        path: '/v1/products',
        outcome: 'unknown',
        attempts: 1,
        status: 500,
        apiCode: 500,
        apiMessage: 'Internal error',
        message: expect.stringMatching(/may have been done\..*products\.list\(\)/),
      });
    });

    test('the error has the id of a product that was created although its response breaks the contract', async () => {
      const { price: _, ...data } = created.data;
      service.on('POST /v1/products', jsonResponse({ ...created, data }));
      const promise = payments.products.create({ name: 'Mug', price: '5' });
      await expect(promise).rejects.toBeInstanceOf(InvalidResponseError);
      await expect(promise).rejects.toMatchObject({
        outcome: 'done',
        reason: 'schema',
        id: 'prod_8f2c1a',
        issues: [{ path: 'price' }],
        message: expect.stringContaining('"prod_8f2c1a"'),
      });
      expect(service.requests).toHaveLength(1);
    });
  });

  describe('list', () => {
    test('asks without a query when there are no parameters', async () => {
      service.on('GET /v1/products', jsonResponse(list));
      await payments.products.list();
      expect(service.requests).toHaveLength(1);
      const [request] = service.requests;
      expect(request?.query).toEqual({});
      expect(request?.body).toBeUndefined();
      expect(request?.headers.get('x-api-key')).toBe(apiKey);
      expect(request?.headers.has('content-type')).toBe(false);
    });

    test('sends status, page and size', async () => {
      service.on('GET /v1/products', jsonResponse(list));
      await payments.products.list({ status: 'ARCHIVED', page: 3, size: 100 });
      expect(service.requests[0]?.query).toEqual({ status: 'ARCHIVED', page: '3', size: '100' });
    });

    test('returns a page of products in the form that create returns', async () => {
      service.on('GET /v1/products', jsonResponse(list));
      const page = await payments.products.list();
      expect(page.items).toEqual([
        mug,
        {
          id: 'prod_41d7e0',
          name: 'Poster',
          description: null,
          image: 'https://shop.example/poster.png',
          price: '5.00',
          currency: 'EUR',
          status: 'ARCHIVED',
          metadata: {},
          createdAt: new Date('2025-12-31T22:30:00Z'),
          updatedAt: new Date('2026-01-02T08:00:00Z'),
        },
      ]);
      expect(page.pagination).toEqual({ page: 1, size: 20, total: 2, totalPages: 1 });
      expect(page.hasNextPage).toBe(false);
    });

    test('refuses parameters that break a limit, and sends nothing', async () => {
      await expect(payments.products.list({ page: 0 })).rejects.toBeInstanceOf(InvalidParamsError);
      expect(service.requests).toEqual([]);
    });

    test('names the field of the product that breaks the contract, and not its value', async () => {
      const items = [list.data.items[0], { ...list.data.items[1], price: 'secret-value' }];
      service.on('GET /v1/products', jsonResponse({ ...list, data: { ...list.data, items } }));
      const promise = payments.products.list();
      await expect(promise).rejects.toBeInstanceOf(InvalidResponseError);
      await expect(promise).rejects.toMatchObject({ reason: 'schema', issues: [{ path: 'items.1.price' }] });
      await expect(promise).rejects.not.toMatchObject({ message: expect.stringContaining('secret-value') });
    });
  });

  describe('update', () => {
    test('patches the fields that are given and returns the product without a status', async () => {
      service.on('PATCH /v1/products/:id', jsonResponse(updated));
      const product = await payments.products.update('prod_8f2c1a', { price: '24.50' });
      const { status: _, ...unchanged } = mug;
      expect(product).toEqual({ ...unchanged, price: '24.50', updatedAt: new Date('2026-01-01T01:00:00Z') });
      expect(product).not.toHaveProperty('status');
      expect(service.requests).toHaveLength(1);
      expect(service.requests[0]).toMatchObject({
        method: 'PATCH',
        path: '/v1/products/prod_8f2c1a',
        body: { price: '24.50' },
      });
    });

    test('keeps a status that the service does send', async () => {
      service.on(
        'PATCH /v1/products/:id',
        jsonResponse({ ...updated, data: { ...updated.data, status: 'ARCHIVED' } }),
      );
      const product = await payments.products.update('prod_8f2c1a', { name: 'Mug' });
      expect(product.status).toBe('ARCHIVED');
    });

    test('refuses an update without a field, and sends nothing', async () => {
      const promise = payments.products.update('prod_8f2c1a', {});
      await expect(promise).rejects.toBeInstanceOf(InvalidParamsError);
      await expect(promise).rejects.toThrow('at least one field');
      await expect(payments.products.update('prod_8f2c1a', { name: undefined })).rejects.toThrow(
        'at least one field',
      );
      expect(service.requests).toEqual([]);
    });

    test('rejects with NotFoundError when the response is 404', async () => {
      service.on('PATCH /v1/products/:id', jsonResponse({ code: 404, message: 'Not found' }, 404));
      const promise = payments.products.update('prod_none', { name: 'Mug' });
      await expect(promise).rejects.toBeInstanceOf(NotFoundError);
      await expect(promise).rejects.toMatchObject({ path: '/v1/products/{id}', outcome: 'rejected' });
    });
  });
});
