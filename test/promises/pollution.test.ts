import { PaymentsClient, PaymentsError } from 'merchant-payments';
import { afterEach, beforeAll, expect, test } from 'vitest';
import balance from '../fixtures/balance.json' with { type: 'json' };
import checkout from '../fixtures/checkout-retrieved.json' with { type: 'json' };
import list from '../fixtures/product-list.json' with { type: 'json' };
import { rightBody } from '../helpers/bodies.js';
import { canaryKey } from '../helpers/canary.js';
import { FaultyServer, respondsWith } from '../helpers/faulty-server.js';
import { call, clientOf, methods, settled } from '../helpers/meeting.js';

/** Names that the client, ky, `Request` and `node:http` read from objects of options, with values that would do harm. */
const pollution: Record<string, unknown> = {
  // Ours, in options, parameters, answers and errors.
  apiKey: 'polluted',
  baseUrl: 'https://evil.example',
  timeoutMs: 0.001,
  totalTimeoutMs: 0.001,
  maxRetries: 9,
  userAgent: 'polluted',
  allowInsecureHttp: true,
  dangerouslyAllowBrowser: true,
  request: () => sent.push('hook'),
  prefetch: 8,
  problem: 'polluted',
  page: 9,
  status: 'ARCHIVED',
  query: { polluted: 1 },
  id: 'polluted',
  code: 7,
  data: { polluted: 1 },
  metadata: { polluted: '1' },
  description: 'polluted',
  message: 'polluted',
  // ky's.
  prefix: 'https://evil.example',
  prefixUrl: 'https://evil.example',
  searchParams: { polluted: 1 },
  json: { polluted: 1 },
  retry: 5,
  hooks: { beforeRequest: [() => sent.push('ky hook')] },
  context: { polluted: 1 },
  throwHttpErrors: true,
  stringifyJson: () => 'polluted',
  // The Fetch standard's.
  headers: { 'x-polluted': '1' },
  body: 'polluted',
  credentials: 'include',
  referrer: 'https://evil.example',
  redirect: 'follow',
  fetch: () => sent.push('fetch'),
  duplex: 'half',
  integrity: 'sha256-polluted',
  method: 5,
  window: 5,
  // Node's.
  agent: false,
  auth: 'polluted:polluted',
  path: '/polluted',
  host: 'evil.example',
  hostname: 'evil.example',
  port: 1,
  socketPath: '/tmp/polluted',
  protocol: 'polluted:',
  setHost: false,
  createConnection: () => sent.push('connection'),
  lookup: () => sent.push('lookup'),
  localAddress: '192.0.2.1',
  maxHeaderSize: 1,
  insecureHTTPParser: true,
  proxyEnv: { HTTP_PROXY: 'http://evil.example' },
  rejectUnauthorized: false,
};

const sent: string[] = [];

/** A field that is on every object while a function runs; then it is taken away, come what may. */
async function polluted<T>(name: string, value: unknown, run: () => Promise<T>): Promise<T> {
  Object.defineProperty(Object.prototype, name, {
    value,
    configurable: true,
    enumerable: true,
    writable: true,
  });
  try {
    return await run();
  } finally {
    Reflect.deleteProperty(Object.prototype, name);
  }
}

// Node itself cannot load all of its modules while a prototype is polluted.
beforeAll(async () => {
  await bytesSent();
});

afterEach(() => {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(sent.splice(0)).toEqual([]);
});

/**
 * Everything that reaches the server in one call of each method. Over Node's `http`: the option `fetch` is as safe
 * as the function that is passed, and Node's own reads inherited options.
 */
async function bytesSent(name?: string): Promise<string[]> {
  const server = await FaultyServer.start((socket, request) => {
    respondsWith(200, rightBody(request.method))(socket, request);
  });
  const calls = async () => {
    const client = clientOf('http', server.url, { timeoutMs: 20_000, totalTimeoutMs: 40_000, maxRetries: 0 });
    for (const method of methods) await call(client, method);
    await client.request({ method: 'GET', path: '/v1/balance' });
  };
  await (name === undefined ? calls() : polluted(name, pollution[name], calls)).catch((error: unknown) => {
    sent.push(String(error));
  });
  await server.close();
  return server.requests.map(({ method, target, headers, body }) =>
    [method, target, ...headers.filter((line) => !/^host:/i.test(line)), body].join('\n'),
  );
}

test.each(Object.keys(pollution))('what a polluted prototype says of "%s" changes no byte', async (name) => {
  expect(await bytesSent(name)).toEqual(await bytesSent());
});

// Its `EventTarget` refuses every listener.
test('where Node itself cannot make a request, the error names the polluted prototype', async () => {
  const server = await FaultyServer.start(respondsWith(200, rightBody('GET')));
  const client = clientOf('http', server.url, { maxRetries: 0 });
  const { error } = await polluted('signal', {}, () => settled(call(client, 'GET')));
  expect(error).toMatchObject({ outcome: 'not_sent', reason: 'polluted_prototype' });
  expect(server.requests).toHaveLength(0);
  await server.close();
});

test.each([
  ['fetch', () => sent.push('fetch')],
  ['timeoutMs', 0.001],
  ['totalTimeoutMs', 0.001],
])('a client that is made without the option %s has none from a polluted prototype', async (name, value) => {
  const server = await FaultyServer.start(respondsWith(200, rightBody('GET')));
  const calls = () => new PaymentsClient({ apiKey: canaryKey, baseUrl: server.url }).balance.retrieve();
  expect(await polluted(name, value, calls)).toMatchObject({ available: '1250.00' });
  await server.close();
});

test.each([
  ['balance', 'available', '9.99'],
  ['balance', 'currency', 'USD'],
  ['checkout', 'amount', '0.01'],
  ['checkout', 'url', 'https://evil.example'],
] as const)(
  'a %s whose %s is missing does not get one from a polluted prototype',
  async (of, name, value) => {
    const { data } = of === 'balance' ? balance : checkout;
    const body = JSON.stringify({ code: 0, message: 'success', data: { ...data, [name]: undefined } });
    const server = await FaultyServer.start(respondsWith(200, body));
    const client = clientOf('http', server.url);
    const retrieve = async () =>
      of === 'balance' ? client.balance.retrieve() : client.checkouts.retrieve('chk_1');
    const { error } = await polluted(name, value, () => settled(retrieve()));
    expect(error).toMatchObject({ name: 'InvalidResponseError', reason: 'schema', issues: [{ path: name }] });
    await server.close();
  },
);

/** What the client looks for in its own objects, with values that would change what a failure means. */
const ofFailures: [name: string, value: unknown][] = [
  ['data', { polluted: 1 }],
  ['error', new Error('polluted')],
  ['retriable', 'any'],
  ['code', 401],
  ['message', 5],
  ['id', 'polluted'],
  ['leaving', { signal: {} }],
];

test.each(ofFailures)(
  'what a polluted prototype says of "%s" makes no failure another',
  async (name, value) => {
    for (const [status, body] of [
      [200, '{"code":0,"message":"success","data":{}}'],
      [200, 'no JSON'],
      [502, '<html>'],
      [401, '{"code":401}'],
    ] as const) {
      const server = await FaultyServer.start(respondsWith(status, body));
      const client = clientOf('http', server.url);
      const run = async () => {
        const { error } = await settled(call(client, 'POST'));
        const { name, outcome, apiCode, id }: Record<string, unknown> = Object.assign(
          Object.create(null),
          error,
        );
        return { is: error instanceof PaymentsError, name, outcome, apiCode, id };
      };
      const usual = await run();
      expect(await polluted(name, value, run)).toEqual(usual);
      expect(server.requests).toHaveLength(2);
      await server.close();
    }
  },
);

test.each([
  ['headers', { 'x-polluted': '1' }],
  ['prefetch', 'polluted'],
])('what a polluted prototype says of "%s" reaches no page of a list', async (name, value) => {
  const server = await FaultyServer.start((socket, request) => {
    const pagination = { ...list.data.pagination, totalPages: 3, page: server.requests.length };
    respondsWith(200, JSON.stringify({ ...list, data: { ...list.data, pagination } }))(socket, request);
  });
  const client = clientOf('http', server.url);
  await polluted(name, value, async () => {
    for await (const product of client.products.list()) expect(product.id).toBeTruthy();
  });
  expect(server.requests).toHaveLength(3);
  expect(server.requests.flatMap(({ headers }) => headers).join()).not.toContain('polluted');
  await server.close();
});

test('a list of which an item cannot be read stays unusable, whatever the prototype holds', async () => {
  const [item] = list.data.items;
  const body = JSON.stringify({ ...list, data: { ...list.data, items: [item, { ...item, price: 'x' }] } });
  const server = await FaultyServer.start(respondsWith(200, body));
  const client = clientOf('http', server.url);
  const { error } = await polluted('checks', 'polluted', () => settled(client.products.list()));
  expect(error).toMatchObject({ reason: 'schema', issues: [{ path: 'items.1.price' }] });
  await server.close();
});

test('a response without a code stays unusable, whatever the prototype holds', async () => {
  const server = await FaultyServer.start(respondsWith(200, '{"message":"success","data":{}}'));
  const { error } = await polluted('code', 0, () => settled(call(clientOf('http', server.url), 'GET')));
  expect(error).toMatchObject({ reason: 'envelope' });
  await server.close();
});

test.each([
  ['strings alone', '"x"', '"z"'],
  ['an object and a number', '{"polluted":"x"}', '1'],
])('keys of a response pollute no prototype: %s', async (_values, proto, other) => {
  const body = rightBody('POST').replace(
    '{"sku":"MUG-1"}',
    `{"__proto__":${proto},"constructor":"y","prototype":${other}}`,
  );
  expect(body).toContain('__proto__');
  const server = await FaultyServer.start(respondsWith(200, body));
  const { value } = await settled(call(clientOf('http', server.url), 'POST'));
  const { metadata } = Object(value);
  expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype);
  expect(Object.keys(metadata)).toEqual(['__proto__', 'constructor', 'prototype']);
  expect(metadata.polluted).toBeUndefined();
  await server.close();
});

test.each(['get', 'set'])(
  'where a polluted prototype has "%s", an error is one of the package',
  async (name) => {
    const server = await FaultyServer.start(respondsWith(502, '<html>'));
    const client = clientOf('http', server.url);
    const { error } = await polluted(name, 'polluted', () => settled(call(client, 'POST')));
    expect(error).toMatchObject({ name: 'ServerError', outcome: 'unknown', status: 502 });
    await server.close();
  },
);
