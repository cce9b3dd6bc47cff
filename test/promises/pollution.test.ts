import { ConfigurationError, type PaymentsClient } from 'merchant-payments';
import { afterEach, expect, test } from 'vitest';
import { rightBody } from '../helpers/bodies.js';
import { FaultyServer, respondWith } from '../helpers/faulty-server.js';
import { call, clientOf, settle } from '../helpers/meeting.js';

/** Puts an enumerable field on every object while a function runs. */
async function runPolluted<T>(name: string, value: unknown, run: () => Promise<T>): Promise<T> {
  Object.assign(Object.prototype, { [name]: value });
  try {
    return await run();
  } finally {
    Reflect.deleteProperty(Object.prototype, name);
  }
}

afterEach(() => {
  expect(Object.keys(Object.prototype)).toEqual([]);
});

const calls: [string, (client: PaymentsClient) => Promise<unknown>][] = [
  ['products.create', (client) => client.products.create({ name: 'Mug', price: '5' })],
  ['products.list', async (client) => client.products.list()],
  ['products.update', (client) => client.products.update('prod_1', { price: '5' })],
  ['checkouts.create', (client) => client.checkouts.create({ productId: 'prod_1' })],
  ['checkouts.retrieve', (client) => client.checkouts.retrieve('chk_1')],
  ['balance.retrieve', (client) => client.balance.retrieve()],
  ['request', (client) => client.request({ method: 'GET', path: '/v1/balance' })],
];

/** Names that the client, ky, `Request`, `node:http` and property descriptors read. */
const names = ['polluted', 'apiKey', 'id', 'code', 'prefix', 'signal', 'headers', 'hostname', 'get', 'value'];

for (const name of names)
  test.each(calls)(
    `while every object has the field "${name}", %s is refused, and sends nothing`,
    async (operation, run) => {
      const server = await FaultyServer.start(respondWith(200, rightBody('GET')));
      const client = clientOf('http', server.url);
      const { error } = await runPolluted(name, 'polluted', () => settle(run(client)));
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error).toMatchObject({ operation, outcome: 'not_sent', attempts: 0 });
      expect(String(error)).toContain(`${operation}: Object.prototype has the field "${name}"`);
      expect(server.connections).toBe(0);
      await server.close();
    },
  );

test('a field that is not enumerable, as a polyfill defines one, disturbs no call', async () => {
  const server = await FaultyServer.start(respondWith(200, rightBody('GET')));
  Object.defineProperty(Object.prototype, 'polyfill', { value: () => {}, configurable: true });
  const { value } = await settle(call(clientOf('http', server.url), 'GET'));
  Reflect.deleteProperty(Object.prototype, 'polyfill');
  expect(value).toMatchObject({ available: '1250.00' });
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
  const server = await FaultyServer.start(respondWith(200, body));
  const { value } = await settle(call(clientOf('http', server.url), 'POST'));
  const { metadata } = Object(value);
  expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype);
  expect(Object.keys(metadata)).toEqual(['__proto__', 'constructor', 'prototype']);
  expect(metadata.polluted).toBeUndefined();
  await server.close();
});
