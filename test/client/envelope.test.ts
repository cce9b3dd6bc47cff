import {
  ApiError,
  AuthenticationError,
  ConflictError,
  InvalidRequestError,
  InvalidResponseError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
} from 'merchant-payments';
import { describe, expect, test } from 'vitest';
import balance from '../fixtures/balance.json' with { type: 'json' };
import { carriers, createClient, jsonResponse, mockService, text } from '../helpers/service.js';

const service = mockService();

describe.each(carriers)('over %s', (_, options) => {
  const payments = createClient({ ...options, maxRetries: 0 });
  const write = () => payments.products.create({ name: 'Mug', price: '5' });

  test.each([
    ['data null', '{"code":0,"message":"success","data":null}', 'envelope'],
    ['no data', '{"code":0,"message":"success"}', 'envelope'],
  ])('a 200 with %s is refused once, and says that the write was done', async (_, body, reason) => {
    service.on('POST /v1/products', text(body, 200, { 'content-type': 'application/json' }));
    const call = write();
    await expect(call).rejects.toBeInstanceOf(InvalidResponseError);
    await expect(call).rejects.toMatchObject({
      code: 'invalid_response',
      reason,
      outcome: 'done',
      status: 200,
      attempts: 1,
    });
    await expect(call).rejects.toThrow(/It was done\. Look for the product with products\.list\(\)/);
    expect(service.requests).toHaveLength(1);
  });

  test.each([
    ['an empty body', '', 'empty'],
    ['bad JSON', '{"code":0,', 'json'],
  ])('a 200 with %s leaves open whether the write was done', async (_, body, reason) => {
    service.on('POST /v1/products', text(body, 200, { 'content-type': 'application/json' }));
    const call = write();
    await expect(call).rejects.toMatchObject({ reason, outcome: 'unknown', attempts: 1 });
    await expect(call).rejects.toThrow(/\. It may have been done\. Look for the product/);
    expect(service.requests).toHaveLength(1);
  });

  test.each([
    ['null', 'null'],
    ['an array', '[]'],
    ['a number', '5'],
    ['text', '"ok"'],
    ['no code', '{"data":{}}'],
    ['a code that is a string', '{"code":"0","data":{}}'],
    ['a code that is no integer', '{"code":0.5,"data":{}}'],
  ])('a 200 with %s is not the service: the write may have been done', async (_, body) => {
    service.on('POST /v1/products', text(body, 200, { 'content-type': 'application/json' }));
    const call = write();
    await expect(call).rejects.toMatchObject({ reason: 'envelope', outcome: 'unknown', attempts: 1 });
    await expect(call).rejects.toThrow(/Check baseUrl\. It may have been done\. Look for the product/);
    expect(service.requests).toHaveLength(1);
  });

  test('a page of HTML is refused, and the message points to baseUrl', async () => {
    service.on(
      'GET /v1/balance',
      text('<html>Hello</html>', 200, { 'content-type': 'text/html; charset=utf-8' }),
    );
    const call = payments.balance.retrieve();
    await expect(call).rejects.toMatchObject({ reason: 'content_type', outcome: 'unknown' });
    await expect(call).rejects.toThrow('the body is text/html, not JSON. Check baseUrl.');
  });

  test('valid JSON is read whatever its content type', async () => {
    service.on('GET /v1/balance', text(JSON.stringify(balance), 200, { 'content-type': 'text/plain' }));
    expect(await payments.balance.retrieve()).toMatchObject({ available: '1250.00' });
  });

  test.each([
    [400, InvalidRequestError, 'InvalidRequestError', 'invalid_request', 'rejected'],
    [401, AuthenticationError, 'AuthenticationError', 'authentication_error', 'rejected'],
    [403, PermissionDeniedError, 'PermissionDeniedError', 'permission_denied', 'rejected'],
    [404, NotFoundError, 'NotFoundError', 'not_found', 'rejected'],
    [409, ConflictError, 'ConflictError', 'conflict', 'rejected'],
    [413, InvalidRequestError, 'InvalidRequestError', 'invalid_request', 'rejected'],
    [418, ApiError, 'ApiError', 'api_error', 'rejected'],
    [422, InvalidRequestError, 'InvalidRequestError', 'invalid_request', 'rejected'],
    [429, RateLimitError, 'RateLimitError', 'rate_limited', 'rejected'],
    [500, ServerError, 'ServerError', 'server_error', 'unknown'],
    [503, ServerError, 'ServerError', 'server_error', 'unknown'],
  ] as const)(
    'code %i under HTTP 200 has the class of that status, and is not retried',
    async (apiCode, type, name, code, outcome) => {
      service.on('GET /v1/balance', jsonResponse({ code: apiCode, message: 'No' }));
      const call = createClient(options).balance.retrieve();
      await expect(call).rejects.toBeInstanceOf(type);
      await expect(call).rejects.toMatchObject({
        name,
        code,
        status: 200,
        apiCode,
        apiMessage: 'No',
        outcome,
        attempts: 1,
      });
      await expect(call).rejects.toThrow(`returned 200 with code ${apiCode}: No.`);
      expect(service.requests).toHaveLength(1);
    },
  );

  test.each([1, -1, 399, 600, 1001, 50_000])(
    'code %i under HTTP 200 is an ApiError: the service did not do it',
    async (apiCode) => {
      service.on('POST /v1/products', jsonResponse({ code: apiCode, message: 'No' }));
      const call = write();
      await expect(call).rejects.toMatchObject({
        name: 'ApiError',
        code: 'api_error',
        apiCode,
        outcome: 'rejected',
      });
    },
  );

  test('the HTTP status wins over code 0', async () => {
    service.on('GET /v1/balance', jsonResponse(balance, 500));
    const call = payments.balance.retrieve();
    await expect(call).rejects.toBeInstanceOf(ServerError);
    await expect(call).rejects.toMatchObject({ status: 500 });
    await expect(call).rejects.not.toHaveProperty('apiCode');
  });
});

const payments = createClient({ maxRetries: 0 });

test('request() returns null and absent data as they are: its operations are not known', async () => {
  service.on('DELETE /v1/x', jsonResponse({ code: 0, data: null }), jsonResponse({ code: 0 }));
  expect(await payments.request({ method: 'DELETE', path: '/v1/x' })).toBeNull();
  expect(await payments.request({ method: 'DELETE', path: '/v1/x' })).toBeUndefined();
});

test.each([
  [400, '400: Name is taken. The request was refused.'],
  [403, '403: Name is taken. This API key is not allowed to do that.'],
  [
    404,
    '404: Name is taken. Check the id and baseUrl: an id is unknown in another environment, and in a sandbox that was started afresh.',
  ],
  [409, '409: Name is taken.'],
  [418, '418: Name is taken.'],
  [429, '429: Name is taken. Wait before the next request.'],
])(
  'the message of %i has the words of the service first, as a sentence, then what to do',
  async (status, said) => {
    service.on('POST /v1/products', jsonResponse({ code: status, message: ' Name is\ntaken. ' }, status));
    const call = payments.products.create({ name: 'Mug', price: '5' });
    await expect(call).rejects.toThrow(
      new RegExp(`^POST /v1/products returned ${said.replaceAll('.', '\\.')}$`),
    );
    await expect(call).rejects.toMatchObject({ apiMessage: ' Name is\ntaken. ' });
  },
);

test('an error without an envelope keeps the beginning of the body for people to read', async () => {
  service.on('GET /v1/balance', text(`<h1>Bad gateway</h1>${'x'.repeat(500)}`, 502));
  const call = payments.balance.retrieve();
  await expect(call).rejects.toMatchObject({
    bodySnippet: expect.stringMatching(/^<h1>Bad gateway<\/h1>x+$/),
  });
  await expect(call).rejects.toThrow('GET /v1/balance returned 502. The service failed.');
  const error: unknown = await call.catch((reason: unknown) => reason);
  expect(error instanceof ApiError && error.bodySnippet?.length).toBe(200);
});

test('what else a call sent is redacted in what the service says', async () => {
  const token = 'gateway-token-4711';
  service.on('GET /v1/balance', jsonResponse({ code: 400, message: `Bearer ${token} is stale` }, 400));
  const call = payments.balance.retrieve({ headers: { 'x-gateway-token': token } });
  await expect(call).rejects.toMatchObject({ apiMessage: 'Bearer [redacted] is stale' });
  await expect(call).rejects.not.toMatchObject({ bodySnippet: expect.stringContaining(token) });
});
