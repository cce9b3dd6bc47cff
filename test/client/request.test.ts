import { InvalidParamsError, NotFoundError, type RawRequest, ServerError } from 'merchant-payments';
import { HttpResponse } from 'msw';
import { describe, expect, test } from 'vitest';
import balance from '../fixtures/balance.json' with { type: 'json' };
import {
  apiKey,
  carriers,
  createClient,
  jsonResponse,
  mockService,
  success,
  text,
} from '../helpers/service.js';

const service = mockService();

describe.each(carriers)('request() over %s', (_, options) => {
  const payments = createClient({ ...options, maxRetries: 0 });

  test('returns the data of the envelope as the service sent it', async () => {
    service.on('GET /v1/balance', jsonResponse(balance));
    expect(await payments.request({ method: 'GET', path: '/v1/balance' })).toEqual(balance.data);
    expect(service.requests[0]?.headers.get('x-api-key')).toBe(apiKey);
  });

  test('sends query and body', async () => {
    service.on('PUT /v1/orders/:id', success({ ok: true }));
    const query = { dry: true, page: 2, q: 'a&b=é', none: undefined };
    const data = await payments.request({
      method: 'PUT',
      path: '/v1/orders/ord_1',
      query,
      body: { a: [1, null] },
    });
    expect(data).toEqual({ ok: true });
    expect(service.requests).toHaveLength(1);
    const [request] = service.requests;
    expect(request).toMatchObject({
      method: 'PUT',
      path: '/v1/orders/ord_1',
      query: { dry: 'true', page: '2', q: 'a&b=é' },
      body: { a: [1, null] },
    });
    expect(request?.headers.get('content-type')).toBe('application/json');
  });

  test('repeats the name of an array in the query', async () => {
    let url = '';
    service.on('GET /v1/orders', success([]));
    const client = createClient({
      fetch: (input, init) => {
        url = input;
        return globalThis.fetch(input, init);
      },
    });
    const query = { status: ['PAID', 'a&b'], page: [1, 2], none: [], all: true };
    await client.request({ method: 'GET', path: '/v1/orders', query });
    expect(new URL(url).search).toBe('?status=PAID&status=a%26b&page=1&page=2&all=true');
  });

  describe.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)('of %s', (method) => {
    const call = () => payments.request({ method, path: '/v1/orders/ord_1' });

    test.each([
      ['204', () => new HttpResponse(null, { status: 204 })],
      ['205', () => new HttpResponse(null, { status: 205 })],
      ...[204, 205].map((status): [string, () => HttpResponse<null>] => [
        `${status} that calls itself a web page`,
        () => new HttpResponse(null, { status, headers: { 'content-type': 'text/html' } }),
      ]),
      ['an empty 200', text('')],
      ['an empty 201', text('', 201)],
      ['success without data', jsonResponse({ code: 0, message: 'success' })],
    ])('resolves to undefined for %s', async (_, response) => {
      service.on(`${method} /v1/orders/:id`, response);
      expect(await call()).toBeUndefined();
    });

    test('rejects for an empty web page: it is not known whether the service was there', async () => {
      service.on('POST /v1/orders', () => new HttpResponse('', { headers: { 'content-type': 'text/html' } }));
      await expect(payments.request({ method: 'POST', path: '/v1/orders' })).rejects.toMatchObject({
        name: 'InvalidResponseError',
        outcome: 'unknown',
      });
    });

    test('rejects for an empty body of another status', async () => {
      service.on(`${method} /v1/orders/:id`, text('', 400));
      await expect(call()).rejects.toMatchObject({ name: 'InvalidRequestError', outcome: 'rejected' });
    });
  });

  test('of GET needs a body to return', async () => {
    service.on('GET /v1/orders', text(''));
    await expect(payments.request({ method: 'GET', path: '/v1/orders' })).rejects.toMatchObject({
      name: 'InvalidResponseError',
      reason: 'empty',
    });
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)('sends %s without a body', async (method) => {
    service.on(`${method} /v1/orders/:id`, success({}));
    await payments.request({ method, path: '/v1/orders/ord_1' });
    expect(service.requests[0]?.body).toBeUndefined();
    expect(service.requests[0]?.headers.has('content-type')).toBe(false);
  });

  test('keeps an encoded part of the path as it is', async () => {
    service.on('GET /v1/orders/:id', success({}));
    await payments.request({ method: 'GET', path: '/v1/orders/a%2Fb' });
    expect(service.requests[0]?.path).toBe('/v1/orders/a%2Fb');
  });

  test('rejects with the error of the response, named after the request', async () => {
    service.on('DELETE /v1/products/:id', jsonResponse({ code: 404, message: 'Not found' }, 404));
    const promise = payments.request({ method: 'DELETE', path: '/v1/products/prod_1' });
    await expect(promise).rejects.toBeInstanceOf(NotFoundError);
    await expect(promise).rejects.toMatchObject({
      operation: 'request',
      method: 'DELETE',
      path: '/v1/products/prod_1',
      outcome: 'rejected',
    });
  });

  test.each(['PUT', 'DELETE'] as const)(
    'counts %s as a write: one request when it may be done',
    async (method) => {
      service.on(`${method} /v1/x`, jsonResponse({}, 503));
      const promise = createClient(options).request({ method, path: '/v1/x' });
      await expect(promise).rejects.toBeInstanceOf(ServerError);
      await expect(promise).rejects.toMatchObject({ outcome: 'unknown', attempts: 1 });
      expect(service.requests).toHaveLength(1);
    },
  );
});

const payments = createClient({ maxRetries: 0 });

/** Builds a request that JavaScript code may pass. */
function rawRequest(request: object): RawRequest {
  const whole: RawRequest = { method: 'GET', path: '/v1/x' };
  return Object.assign(whole, request);
}

test.each<[string, object, string]>([
  ['no method', { method: undefined }, 'method'],
  ['a method in lower case', { method: 'get' }, 'method'],
  ['a method that carries no JSON', { method: 'HEAD' }, 'method'],
  ['no path', { path: undefined }, 'path'],
  ['a path without a slash', { path: 'v1/x' }, 'path'],
  ['another origin', { path: '//evil.example/v1' }, 'path'],
  ['a whole address', { path: 'https://evil.example/v1' }, 'path'],
  ['a backslash', { path: '/\\evil.example' }, 'path'],
  ['a step up', { path: '/v1/../admin' }, 'path'],
  ['an encoded step up', { path: '/v1/%2e%2e/admin' }, 'path'],
  ['a query in the path', { path: '/v1/x?page=2' }, 'path'],
  ['a hash in the path', { path: '/v1/x#top' }, 'path'],
  ['a line break', { path: '/v1/x\r\nx-evil: 1' }, 'path'],
  ['a blank', { path: '/v1/x y' }, 'path'],
  ['a character to encode', { path: '/v1/é' }, 'path'],
  ['a query that is a string', { query: 'page=2' }, 'query'],
  ['a query that is no plain object', { query: new URLSearchParams('id=1') }, 'query'],
  ['a body that JSON would empty', { method: 'POST', body: new Map([['a', 1]]) }, 'body'],
  ['a body that was not awaited', { method: 'POST', body: Promise.resolve({ a: 1 }) }, 'body'],
  ['a Blob as body', { method: 'POST', body: new Blob(['a']) }, 'body'],
  ['bytes as body', { method: 'POST', body: Buffer.from('a') }, 'body'],
  ['a query with NaN', { method: 'GET', query: { size: Number.NaN } }, 'query.size'],
  ['a query with a list that holds Infinity', { method: 'GET', query: { size: [1, 1 / 0] } }, 'query.size'],
  ['an object in the query', { query: { filter: {} } }, 'query.filter'],
  ['null in the query', { query: { filter: null } }, 'query.filter'],
  ['a body with GET', { body: {} }, 'body'],
  ['a cycle', { method: 'POST', body: cycle() }, 'body'],
  ['a BigInt', { method: 'POST', body: { amount: 1n } }, 'body'],
  ['a function', { method: 'POST', body: () => {} }, 'body'],
  ['an unknown part', { params: {} }, 'params'],
])('request() refuses %s, and sends nothing', async (_, request, path) => {
  const promise = payments.request(rawRequest(request));
  await expect(promise).rejects.toBeInstanceOf(InvalidParamsError);
  await expect(promise).rejects.toMatchObject({
    issues: [{ path }],
    outcome: 'not_sent',
    operation: 'request',
  });
});

test('request() reads query and body once: what was checked is what is sent', async () => {
  service.on('POST /v1/x', success({}));
  let reads = 0;
  const first = { enumerable: true, get: () => (reads++ === 0 ? 'first' : { toJSON: () => 'other' }) };
  const query = Object.defineProperty({}, 'q', first);
  await payments.request({ method: 'POST', path: '/v1/x', query });
  reads = 0;
  await payments.request({ method: 'POST', path: '/v1/x', body: Object.defineProperty({}, 'a', first) });
  expect(service.requests).toMatchObject([{ query: { q: 'first' } }, { body: { a: 'first' } }]);
});

test('request() refuses a name that JavaScript would lose', async () => {
  const query = { ['__proto__']: '1' };
  await expect(payments.request({ method: 'GET', path: '/v1/x', query })).rejects.toMatchObject({
    issues: [{ path: 'query.__proto__', message: 'is reserved by JavaScript. Choose another name.' }],
  });
});

function cycle(): object {
  const whole = { part: {} };
  whole.part = whole;
  return whole;
}

test('request() names every problem at once, with the likely name of an unknown part', async () => {
  const promise = payments.request(rawRequest({ method: 'FETCH', path: 'x', qurey: {} }));
  await expect(promise).rejects.toMatchObject({
    issues: [
      { path: 'method', message: expect.stringContaining('GET, POST, PUT, PATCH or DELETE') },
      { path: 'path', message: expect.stringContaining('"x"') },
      { path: 'qurey', message: expect.stringContaining('query') },
    ],
  });
});
