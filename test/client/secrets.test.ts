import { inspect } from 'node:util';
import { PaymentsClient, type PaymentsClientOptions } from 'merchant-payments';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import created from '../fixtures/product-created.json' with { type: 'json' };
import list from '../fixtures/product-list.json' with { type: 'json' };
import unauthorized from '../fixtures/unauthorized.json' with { type: 'json' };
import { canaryKey, traces } from '../helpers/canary.js';
import { baseUrl, carriers, jsonResponse, mockService } from '../helpers/service.js';

const service = mockService();
const gateway = 'gateway-token-4711';

const create = (options: PaymentsClientOptions = {}) =>
  new PaymentsClient({
    apiKey: canaryKey,
    baseUrl,
    headers: { 'x-gateway-token': gateway },
    maxRetries: 0,
    ...options,
  });

const printed: unknown[] = [];
beforeEach(() => {
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
    vi.spyOn(console, method).mockImplementation((...values) => void printed.push(...values));
  }
});
afterEach(() => {
  expect(printed.splice(0)).toEqual([]);
});

describe.each(carriers)('over %s, neither the key nor a header shows in', (_, options) => {
  /** No trace of either secret, by any means of looking. */
  function expectClean(value: unknown) {
    expect(traces(value, canaryKey)).toEqual([]);
    expect(traces(value, gateway)).toEqual([]);
  }

  test('the client and its namespaces', () => {
    const client = create(options);
    expectClean(client);
    for (const part of [client.products, client.checkouts, client.balance]) expectClean(part);
    expect(inspect(client).replaceAll(/\s+/g, ' ')).toBe(
      'PaymentsClient { products: ProductsResource {}, checkouts: CheckoutsResource {}, balance: BalanceResource {} }',
    );
    expect(JSON.stringify(client)).toBe('{"products":{},"checkouts":{},"balance":{}}');
  });

  test('a promise, pending and fulfilled, and a page', async () => {
    service.on('GET /v1/products', jsonResponse(list));
    const call = create(options).products.list();
    expectClean(call);
    const page = await call;
    expectClean(call);
    expectClean(page);
    expect(JSON.parse(JSON.stringify(page))).toMatchObject({ pagination: list.data.pagination });
  });

  test('a rejected promise and its error', async () => {
    service.on(
      'GET /v1/balance',
      jsonResponse({ ...unauthorized, message: `Bad key ${canaryKey} ${gateway}` }, 401),
    );
    const call = create(options).balance.retrieve();
    const error: unknown = await call.catch((reason: unknown) => reason);
    expectClean(call);
    expectClean(error);
    expect(error).toMatchObject({ apiMessage: 'Bad key [redacted] [redacted]' });
  });

  test('an error of refused parameters and options', async () => {
    const client = create(options);
    const refused = [
      client.checkouts.retrieve(''),
      client.balance.retrieve({ headers: { 'x-other': `${canaryKey}\n` } }),
      client.products.create({ name: '', price: '1,00' }),
    ];
    for (const call of refused) expectClean(await call.catch((reason: unknown) => reason));
  });

  test('the id of a response that echoes them', async () => {
    const data = { id: canaryKey, url: 'javascript:alert(1)' };
    service.on('POST /v1/checkouts', jsonResponse({ code: 0, data }));
    const call = create(options).checkouts.create({ productId: 'prod_1' });
    const error: unknown = await call.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ reason: 'schema', id: '[redacted]' });
    expectClean(error);
  });
});

test('a product in a response stays as the service sent it: redaction is for errors', async () => {
  const name = `Token ${gateway}`;
  service.on(
    'GET /v1/products',
    jsonResponse({ ...list, data: { ...list.data, items: [{ ...list.data.items[0], name }] } }),
  );
  expect((await create().products.list()).items[0]?.name).toBe(name);
});

test('the request id that a caller chose is in the error: support is told by it', async () => {
  const headers = { 'x-request-id': 'req_4c1d9b' };
  service.on('GET /v1/balance', jsonResponse(unauthorized, 401, headers));
  const call = create().balance.retrieve({ headers });
  await expect(call).rejects.toMatchObject({ requestId: 'req_4c1d9b' });
});

test('a key and a header of 60,000 characters are redacted too', async () => {
  const long = `${'tok/en+'.repeat(8_571)}end`;
  const said = `${long} was refused\n${encodeURIComponent(long)}`;
  const fetch = async () =>
    Response.json({ code: 401, message: said }, { status: 401, headers: { 'x-echo': btoa(long) } });
  const client = create({ apiKey: long, headers: { authorization: `Bearer ${long}` }, fetch });
  const error: unknown = await client.balance.retrieve().catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    name: 'AuthenticationError',
    apiMessage: '[redacted] was refused\n[redacted]',
  });
  expect(inspect(error, { depth: null, showHidden: true })).not.toMatch(/tok(?:.|%2F)en|b2svZW4/i);
});

test.each([
  ['as PHP writes JSON', 'sk\\/AbCd+Ef\\/0123<4&5=='],
  ['as Go writes JSON', 'sk/AbCd+Ef/0123\\u003c4\\u00265\\u003d\\u003D'],
  ['as HTML', 'sk&#x2F;AbCd&#43;Ef&#x2f;0123&lt;4&amp;5&#61;&#061;'],
  ['in a URL', 'sk/AbCd%2BEf%2f0123%3C4%265=='],
])('a key with signs in it is redacted %s too', async (_form, echoed) => {
  const fetch = async () => new Response(`<p>bad key ${echoed}.</p>`, { status: 401 });
  const error: unknown = await create({ apiKey: 'sk/AbCd+Ef/0123<4&5==', fetch })
    .balance.retrieve()
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ bodySnippet: '<p>bad key [redacted].</p>' });
});

test('each cookie of a header is redacted by itself', async () => {
  service.on('GET /v1/balance', jsonResponse({ message: 'No session s3cretCCCC333' }, 403));
  const call = create({ headers: { cookie: 'sid=s3cretCCCC333; theme=dark' } }).balance.retrieve();
  await expect(call).rejects.toMatchObject({ apiMessage: 'No session [redacted]' });
});

test.each([
  'authorization',
  'Proxy-Authorization',
  'cookie',
  'x-gateway-key',
  'X-Auth-Token',
  'client_secret',
  'x-signature',
  'x-password',
  'x-credential',
  'x-credentials',
  'x-session-id',
  'apikey',
  'x-apikey',
  'x-authorization',
  'x-forwarded-authorization',
  'x-auth',
  'x-authtoken',
  'x-accesstoken',
  'x-jwt',
  'x-goog-iap-jwt-assertion',
  'x-bearer',
  'x-passphrase',
])('the value of a header %s is redacted, with and without its scheme', async (name) => {
  service.on('GET /v1/balance', jsonResponse({ message: 'No: Scheme v4lue-4711, v4lue-4711' }, 403));
  const call = create({ headers: { [name]: 'Scheme v4lue-4711' } }).balance.retrieve();
  await expect(call).rejects.toMatchObject({ apiMessage: 'No: [redacted], [redacted]' });
});

test.each([
  'x-env',
  'x-tenant',
  'x-tokenizer',
  'x-monkey',
  'keyboard-layout',
  'x-author',
  'x-request-id',
  'accept-language',
])('the value of a header %s stays readable: it is no secret', async (name) => {
  const message = 'application/json is not known in staging-eu';
  service.on('GET /v1/balance', jsonResponse({ message }, 404));
  const headers = { accept: 'application/json', [name]: 'staging-eu' };
  await expect(create({ headers }).balance.retrieve()).rejects.toMatchObject({ apiMessage: message });
});

test('the id of a product that was just made is readable, though a header has it in its value', async () => {
  const { data } = created;
  service.on('POST /v1/products', jsonResponse({ code: 0, data: { ...data, name: 5 } }));
  const headers = { 'x-shop': data.id };
  const call = create({ headers }).products.create({ name: 'Mug', price: '5' });
  await expect(call).rejects.toMatchObject({ reason: 'schema', id: data.id });
});

test('a header whose name holds the key is left out of the error', async () => {
  const fetch = async () =>
    new Response('{}', {
      status: 403,
      headers: { [`x-${canaryKey.replace(/[^a-z]/gi, '')}`]: '1', 'x-a': '1' },
    });
  const error: unknown = await create({ apiKey: canaryKey.replace(/[^a-z]/gi, ''), fetch })
    .balance.retrieve()
    .catch((reason: unknown) => reason);
  expect([...Object(error).headers.keys()]).toEqual(['content-type', 'x-a']);
});
