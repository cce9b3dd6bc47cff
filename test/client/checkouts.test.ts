import { InvalidParamsError, InvalidResponseError, NotFoundError } from 'merchant-payments';
import { describe, expect, test } from 'vitest';
import created from '../fixtures/checkout-created.json' with { type: 'json' };
import retrieved from '../fixtures/checkout-retrieved.json' with { type: 'json' };
import { apiKey, carriers, createClient, jsonResponse, mockService, success } from '../helpers/service.js';

const service = mockService();

const session = {
  id: 'chk_5b09d3',
  productId: 'prod_8f2c1a',
  amount: '19.90',
  currency: 'USD',
  url: 'https://pay.example/checkout/chk_5b09d3',
  expiresAt: new Date('2026-01-01T00:30:00Z'),
  createdAt: new Date('2026-01-01T00:00:00Z'),
};

describe.each(carriers)('checkouts over %s', (_, options) => {
  const payments = createClient({ ...options, maxRetries: 0 });

  describe('create', () => {
    test('posts the fields as given and returns the address of the payment page', async () => {
      service.on('POST /v1/checkouts', jsonResponse(created));
      const params = {
        productId: 'prod_8f2c1a',
        successUrl: 'https://shop.example/thanks?order=7',
        cancelUrl: 'shop-app://cart',
        displayMerchantName: 'Spring sale',
      };
      const checkout = await payments.checkouts.create(params);
      expect(checkout).toEqual({ url: 'https://pay.example/checkout/chk_5b09d3' });
      expect(service.requests).toHaveLength(1);
      const [request] = service.requests;
      expect(request?.body).toEqual(params);
      expect(request?.headers.get('x-api-key')).toBe(apiKey);
      expect(request?.headers.get('content-type')).toBe('application/json');
    });

    test('needs the product alone', async () => {
      service.on('POST /v1/checkouts', jsonResponse(created));
      await payments.checkouts.create({ productId: 'prod_8f2c1a' });
      expect(service.requests[0]?.body).toEqual({ productId: 'prod_8f2c1a' });
    });

    test('reads the other fields of the session when the service sends them', async () => {
      service.on('POST /v1/checkouts', jsonResponse(retrieved));
      expect(await payments.checkouts.create({ productId: 'prod_8f2c1a' })).toEqual(session);
    });

    test('refuses a checkout without a product, and sends nothing', async () => {
      // @ts-expect-error productId is required
      const promise = payments.checkouts.create({ successUrl: 'https://shop.example' });
      await expect(promise).rejects.toBeInstanceOf(InvalidParamsError);
      await expect(promise).rejects.toMatchObject({ issues: [{ path: 'productId' }] });
      expect(service.requests).toEqual([]);
    });

    test.each([
      'javascript:alert(1)',
      'data:text/html,hello',
      'http://pay.example/checkout/chk_1',
      '/checkout/chk_1',
      '',
      ' https://pay.example/checkout/chk_1',
      'ftp://pay.example/checkout/chk_1',
    ])('refuses the payment page %j: a customer would be sent there', async (url) => {
      service.on('POST /v1/checkouts', success({ id: 'chk_5b09d3', url }));
      const promise = payments.checkouts.create({ productId: 'prod_8f2c1a' });
      await expect(promise).rejects.toBeInstanceOf(InvalidResponseError);
      await expect(promise).rejects.toMatchObject({
        reason: 'schema',
        outcome: 'done',
        id: 'chk_5b09d3',
        issues: [{ path: 'url' }],
      });
    });

    test('takes a payment page on the local machine, and any http page when that is allowed', async () => {
      service.on('POST /v1/checkouts', success({ url: 'http://127.0.0.1:4010/pay' }));
      expect(await payments.checkouts.create({ productId: 'p' })).toEqual({
        url: 'http://127.0.0.1:4010/pay',
      });
      service.on('POST /v1/checkouts', success({ url: 'http://pay.example/1' }));
      const insecure = createClient({ ...options, allowInsecureHttp: true });
      expect(await insecure.checkouts.create({ productId: 'p' })).toEqual({ url: 'http://pay.example/1' });
    });
  });

  describe('retrieve', () => {
    test('returns the session with amounts as strings and timestamps as Dates', async () => {
      service.on('GET /v1/checkouts/:id', jsonResponse(retrieved));
      expect(await payments.checkouts.retrieve('chk_5b09d3')).toEqual(session);
      expect(service.requests).toHaveLength(1);
      expect(service.requests[0]).toMatchObject({ path: '/v1/checkouts/chk_5b09d3', body: undefined });
    });

    test('refuses an id that names another path, and sends nothing', async () => {
      await expect(payments.checkouts.retrieve('..')).rejects.toBeInstanceOf(InvalidParamsError);
      expect(service.requests).toEqual([]);
    });

    test('rejects with NotFoundError when the response is 404, and quotes no id in the path', async () => {
      service.on('GET /v1/checkouts/:id', jsonResponse({ code: 404, message: 'No such session' }, 404));
      const promise = payments.checkouts.retrieve('chk_none');
      await expect(promise).rejects.toBeInstanceOf(NotFoundError);
      await expect(promise).rejects.toMatchObject({
        path: '/v1/checkouts/{id}',
        operation: 'checkouts.retrieve',
        apiMessage: 'No such session',
        outcome: 'rejected',
      });
    });

    test('refuses a session without a listed field', async () => {
      const { expiresAt: _, ...data } = retrieved.data;
      service.on('GET /v1/checkouts/:id', success(data));
      await expect(payments.checkouts.retrieve('chk_5b09d3')).rejects.toMatchObject({
        reason: 'schema',
        issues: [{ path: 'expiresAt' }],
      });
    });
  });
});
