import { InvalidResponseError } from 'merchant-payments';
import { describe, expect, test } from 'vitest';
import balance from '../fixtures/balance.json' with { type: 'json' };
import { apiKey, carriers, createClient, jsonResponse, mockService, success } from '../helpers/service.js';

const service = mockService();

describe.each(carriers)('balance over %s', (_, options) => {
  const payments = createClient({ ...options, maxRetries: 0 });

  test('returns the three amounts as strings and the timestamp as a Date', async () => {
    service.on('GET /v1/balance', jsonResponse(balance));
    expect(await payments.balance.retrieve()).toEqual({
      available: '1250.00',
      pending: '19.90',
      frozen: '0.00',
      currency: 'USD',
      updatedAt: new Date('2026-01-01T00:00:00Z'),
    });
    expect(service.requests).toHaveLength(1);
    const [request] = service.requests;
    expect(request).toMatchObject({ method: 'GET', path: '/v1/balance', query: {}, body: undefined });
    expect(request?.headers.get('x-api-key')).toBe(apiKey);
  });

  test('takes a balance below zero', async () => {
    service.on('GET /v1/balance', success({ ...balance.data, available: '-12.5' }));
    expect(await payments.balance.retrieve()).toMatchObject({ available: '-12.50' });
  });

  test.each(['available', 'pending', 'frozen', 'currency', 'updatedAt'])(
    'refuses a balance without %s',
    async (field) => {
      service.on('GET /v1/balance', success({ ...balance.data, [field]: undefined }));
      const promise = payments.balance.retrieve();
      await expect(promise).rejects.toBeInstanceOf(InvalidResponseError);
      await expect(promise).rejects.toMatchObject({ reason: 'schema', issues: [{ path: field }] });
    },
  );
});
