import { inspect } from 'node:util';
import { PaymentsClient } from 'merchant-payments';
import { describe, expect, test, vi } from 'vitest';
import list from '../fixtures/product-list.json' with { type: 'json' };
import { succeed } from '../helpers/bodies.js';
import { bodyCanary, canaryKey, traces } from '../helpers/canary.js';
import { FaultyServer, rawResponse, resetSocket, respondWith } from '../helpers/faulty-server.js';
import { call, carriers, clientOf, methods, settle, watch } from '../helpers/meeting.js';

watch();

test('the walk finds a key wherever one can hide', () => {
  const hidden: unknown[] = [
    canaryKey,
    { deep: [{ key: `x${canaryKey}x` }] },
    Object.defineProperty({}, 'key', { value: canaryKey }),
    { [Symbol('key')]: canaryKey },
    { [canaryKey]: 1 },
    new (class {
      get key() {
        return canaryKey;
      }
    })(),
    Object.create({ inherited: canaryKey }),
    new Error('outer', { cause: new Error(canaryKey) }),
    Object.assign(new Error('plain'), { stack: `at ${canaryKey}` }),
    new Headers({ 'x-api-key': canaryKey }),
    new Map([['key', canaryKey]]),
    Buffer.from(canaryKey).toString('base64'),
    encodeURIComponent(canaryKey),
    JSON.stringify({ key: canaryKey }),
    { toJSON: () => canaryKey },
  ];
  for (const value of hidden) expect(traces(value), inspect(value)).not.toEqual([]);
  expect(traces({ key: 'another' })).toEqual([]);
});

describe.each(carriers)('over %s', (carrier) => {
  test('client, resources, pages and promises, pending or settled, hide the key', async () => {
    const server = await FaultyServer.start((socket, { method, target }) => {
      if (target.startsWith('/v1/products?') || (method === 'GET' && target === '/v1/products')) {
        socket.write(rawResponse(200, JSON.stringify(list)));
      } else if (method === 'GET') socket.write(rawResponse(200, '{"code":0,"data":{}}'));
    });
    const client = clientOf(carrier, server.url, { headers: { authorization: `Bearer ${canaryKey}` } });
    const pending = client.products.create({ name: 'Mug', price: '5' }, { timeoutMs: 300 });
    pending.catch(() => {}); // it may be over before it is awaited
    const page = await client.products.list();
    const iterator = client.products.list({}, { prefetch: 2 });
    const withResponse = client.products.list().withResponse();
    const failed = client.balance.retrieve();
    const values = { client, resource: client.products, page, pending, iterator, withResponse, failed };
    for (const [name, value] of Object.entries(values)) {
      expect(traces(value), name).toEqual([]);
      expect(JSON.stringify(value) ?? '', name).not.toContain(canaryKey);
    }
    expect(traces((await withResponse).response)).toEqual([]);
    await Promise.allSettled([pending, failed, iterator]);
    await server.close();
  });

  test('hooks receive neither key nor body, whatever happens', async () => {
    const hookCalls: unknown[] = [];
    const hook = (facts: unknown) => hookCalls.push(facts);
    const hooks = { request: hook, response: hook, retry: hook, error: hook };
    for (const behave of [succeed, resetSocket, respondWith(401, canaryKey), respondWith(200, bodyCanary)]) {
      const server = await FaultyServer.start(behave);
      for (const method of methods) await settle(call(clientOf(carrier, server.url, { hooks }), method));
      await server.close();
    }
    expect(hookCalls.length).toBeGreaterThan(30);
    expect(traces(hookCalls)).toEqual([]);
    expect(traces(hookCalls, bodyCanary).filter((place) => !place.includes('bodySnippet'))).toEqual([]);
  });

  test('a hook that throws, rejects or never ends changes nothing', async () => {
    const server = await FaultyServer.start(succeed);
    const hooks = {
      request: () => {
        throw new Error('hook');
      },
      response: () => Promise.reject(new Error('hook')),
      retry: () => new Promise(() => {}),
      error: () => {
        throw new Error('hook');
      },
    };
    for (const method of methods) await call(clientOf(carrier, server.url, { hooks }), method);
    const { url } = server;
    await server.close();
    const { error } = await settle(call(clientOf(carrier, url, { hooks, maxRetries: 1 }), 'GET'));
    expect(error).toMatchObject({ name: 'ConnectionError', attempts: 2 });
  });
});

describe('where everybody can read the key, the constructor refuses it', () => {
  const options = { apiKey: canaryKey, baseUrl: 'https://api.shop.example' };
  const browser = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36';
  const refused: [string, Record<string, unknown>][] = [
    ['a page', { window: { document: {} }, document: {}, navigator: { userAgent: browser } }],
    ['a worker of a page', { WorkerGlobalScope: class {}, navigator: { userAgent: browser } }],
  ];
  test.each(refused)('%s', (_title, globals) => {
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
    expect(() => new PaymentsClient(options)).toThrow(/browser.+dangerouslyAllowBrowser/);
    expect(() => new PaymentsClient({ ...options, dangerouslyAllowBrowser: true })).not.toThrow();
  });

  const accepted: [string, Record<string, unknown>][] = [
    ['Node', {}],
    ['Node from 21 on', { navigator: { userAgent: 'Node.js/24' } }],
    ['Bun', { navigator: { userAgent: 'Bun/1.4.4' }, Bun: {} }],
    ['Deno', { navigator: { userAgent: 'Deno/2.9' }, Deno: {} }],
    ['Deno 1, whose global is called window', { window: globalThis, navigator: { userAgent: 'Deno/1.46' } }],
    ['a worker of Deno', { WorkerGlobalScope: class {}, navigator: { userAgent: 'Deno/2.9' } }],
    ['workerd', { WorkerGlobalScope: class {}, navigator: { userAgent: 'Cloudflare-Workers' } }],
    ['an edge function', { EdgeRuntime: 'edge-runtime', navigator: undefined }],
  ];
  test.each(accepted)('%s is a server', (_title, globals) => {
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
    expect(() => new PaymentsClient(options)).not.toThrow();
  });
});
