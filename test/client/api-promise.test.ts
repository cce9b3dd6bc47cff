import * as main from 'merchant-payments';
import { AuthenticationError } from 'merchant-payments';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import balance from '../fixtures/balance.json' with { type: 'json' };
import list from '../fixtures/product-list.json' with { type: 'json' };
import unauthorized from '../fixtures/unauthorized.json' with { type: 'json' };
import { carriers, createClient, jsonResponse, mockService } from '../helpers/service.js';

const service = mockService();

const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => unhandled.push(reason);
beforeEach(() => {
  process.on('unhandledRejection', onUnhandled);
});
afterEach(() => {
  process.off('unhandledRejection', onUnhandled);
  expect(unhandled.splice(0)).toEqual([]);
});

/** Resolves after Node has reported rejections that nobody handled. */
const waitBriefly = () => new Promise((resolve) => setTimeout(resolve, 20));

describe.each(carriers)('a call over %s', (_, options) => {
  const payments = createClient({ ...options, maxRetries: 0 });

  test('is a promise, and so are then, catch and finally of it', async () => {
    service.on('GET /v1/balance', jsonResponse(balance));
    const call = payments.balance.retrieve();
    expect(call).toBeInstanceOf(Promise);
    expect(call.then(() => 1)).not.toHaveProperty('withResponse');
    expect(await call.then(({ currency }) => currency)).toBe('USD');
    expect(await call.finally(() => {})).toMatchObject({ currency: 'USD' });
    expect(await Promise.all([call, call])).toHaveLength(2);
    expect(service.requests).toHaveLength(1);
  });

  test('gives the response on request, without asking again', async () => {
    service.on('GET /v1/balance', jsonResponse(balance, 200, { 'x-request-id': 'req_1' }));
    const call = payments.balance.retrieve();
    const { data, response } = await call.withResponse();
    expect(data).toEqual(await call);
    expect(response).toEqual({
      status: 200,
      headers: expect.any(Headers),
      requestId: 'req_1',
      attempts: 1,
      durationMs: expect.any(Number),
    });
    expect(response.headers.get('X-Request-Id')).toBe('req_1');
    expect(response.durationMs).toBeGreaterThan(0);
    expect((await call.withResponse()).response.status).toBe(200);
    expect(service.requests).toHaveLength(1);
  });

  test.each([
    [{ 'cf-ray': 'ray_1', 'request-id': 'req_2' }, 'req_2'],
    [{ 'cf-ray': 'ray_1' }, 'ray_1'],
    [{}, undefined],
  ])('has the request id of the headers %j', async (headers, requestId) => {
    service.on('GET /v1/balance', jsonResponse(balance, 200, headers));
    expect((await payments.balance.retrieve().withResponse()).response.requestId).toBe(requestId);
  });

  test('counts its attempts', async () => {
    service.on('GET /v1/balance', jsonResponse({}, 429, { 'retry-after': '0' }), jsonResponse(balance));
    const { response } = await createClient(options).balance.retrieve().withResponse();
    expect(response.attempts).toBe(2);
  });

  test('of a list has the response of its first page', async () => {
    service.on('GET /v1/products', jsonResponse(list, 200, { 'x-request-id': 'req_2' }));
    const { data, response } = await payments.products.list().withResponse();
    expect(data.items).toHaveLength(2);
    expect(response.headers.get('x-request-id')).toBe('req_2');
  });

  test('rejects in the same way with and without the response', async () => {
    service.on('GET /v1/balance', jsonResponse(unauthorized, 401));
    const call = payments.balance.retrieve();
    await expect(call.withResponse()).rejects.toBeInstanceOf(AuthenticationError);
    await expect(call).rejects.toBeInstanceOf(AuthenticationError);
  });
});

const payments = createClient({ maxRetries: 0 });

test('a failure that nobody handles is reported once', async () => {
  service.on('GET /v1/balance', jsonResponse(unauthorized, 401));
  payments.balance.retrieve();
  await waitBriefly();
  expect(unhandled.splice(0)).toEqual([expect.any(AuthenticationError)]);
});

test('a failure that nobody handles is reported once with withResponse(), too', async () => {
  service.on('GET /v1/balance', jsonResponse(unauthorized, 401));
  payments.balance.retrieve().withResponse();
  await waitBriefly();
  expect(unhandled.splice(0)).toEqual([expect.any(AuthenticationError)]);
});

test('a failure that withResponse() handles is not reported', async () => {
  service.on('GET /v1/balance', jsonResponse(unauthorized, 401));
  await payments.balance
    .retrieve()
    .withResponse()
    .catch(() => {});
  await waitBriefly();
});

test('has the class of a plain promise for what copies it by its class', async () => {
  service.on('GET /v1/balance', jsonResponse(balance));
  const call = payments.balance.retrieve();
  expect(await call.constructor.resolve(1)).toBe(1);
  expect(Promise.resolve(call)).toBe(call);
  service.on('GET /v1/products', jsonResponse(list));
  const products = payments.products.list();
  expect(products.constructor).toBe(Promise);
  await Promise.all([call, products]);
});

test('its class and that of a page are types alone, which nobody can construct', () => {
  expect(Object.keys(main)).not.toContain('ApiPromise');
  expect(Object.keys(main)).not.toContain('Page');
});
