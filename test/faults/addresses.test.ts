import { describe, expect, test } from 'vitest';
import checkout from '../fixtures/checkout-retrieved.json' with { type: 'json' };
import { rightBody, succeed } from '../helpers/bodies.js';
import { canaryKey } from '../helpers/canary.js';
import { type ArrivedRequest, FaultyServer, rawResponse, respondWith } from '../helpers/faulty-server.js';
import { call, carriers, clientOf, expectNoTrace, settle, watch } from '../helpers/meeting.js';

watch();

function keyOf({ headers }: ArrivedRequest): string | undefined {
  return headers.find((line) => line.startsWith('x-api-key: '))?.slice('x-api-key: '.length);
}

const ids = [
  'a/b',
  'a?b',
  'a#b',
  'a%2Fb',
  'é',
  '...',
  '%2e%2e',
  '..%2f..',
  '/',
  '//evil.example',
  '\\evil',
  '@evil.example',
  'https://evil.example/',
  ';x',
  "'",
  '"',
  '<b>',
  '{id}',
  '$&',
  '$1',
  '😀',
  'x'.repeat(1024),
  ':',
  '*',
  '~',
  '(',
];

describe.each(carriers)('over %s', (carrier) => {
  test('an id is one segment of the path, and the server sees it as it is', async () => {
    const server = await FaultyServer.start(respondWith(200, JSON.stringify(checkout)));
    const client = clientOf(carrier, `${server.url}/pay`);
    for (const id of ids) await client.checkouts.retrieve(id);
    const segments = server.requests.map(({ target }) => target.split('/'));
    expect(segments.map((parts) => parts.slice(0, -1).join('/'))).toEqual(ids.map(() => '/pay/v1/checkouts'));
    expect(segments.map((parts) => decodeURIComponent(parts.at(-1) ?? ''))).toEqual(ids);
    expect(server.requests.every((request) => keyOf(request) === canaryKey)).toBe(true);
    await server.close();
  });

  test('an invalid id is refused, and nothing is sent', async () => {
    const server = await FaultyServer.start(succeed);
    const client = clientOf(carrier, server.url);
    const wrong = [
      '.',
      '..',
      '',
      ' ',
      'a b',
      'a\n',
      '\u00a0',
      'a\0',
      '\ud800',
      'a\udc00',
      'x'.repeat(10_000),
      7,
      {},
      null,
      undefined,
    ];
    for (const id of wrong) {
      for (const promise of [
        Reflect.apply(client.checkouts.retrieve, client.checkouts, [id]),
        Reflect.apply(client.products.update, client.products, [id, { name: 'Mug' }]),
      ]) {
        const { error } = await settle(promise);
        const expected = { name: 'InvalidParamsError', outcome: 'not_sent', issues: [{ path: 'id' }] };
        expect(error).toMatchObject(expected);
        expectNoTrace(error);
      }
    }
    expect(server.connections).toBe(0);
    await server.close();
  });

  test('no text gets out of its place: query, metadata and texts arrive as they were passed', async () => {
    const server = await FaultyServer.start(succeed);
    const client = clientOf(carrier, server.url);
    const hostile = [
      '\r\nx-evil: 1',
      '\0',
      '../..',
      '//evil.example',
      '&a=b',
      '#',
      '%0d%0a',
      '"}{',
      '\u2028',
      '__proto__',
    ];
    for (const text of hostile) {
      await client.products.create({ name: text, price: '1', metadata: { [`k${text}`]: text } });
      await client.request({ method: 'GET', path: '/v1/balance', query: { [`k${text}`]: text } });
      await client.request({ method: 'POST', path: '/v1/anything', body: { [`k${text}`]: [text] } });
    }
    hostile.forEach((text, index) => {
      const [create, get, post] = server.requests.slice(index * 3, index * 3 + 3);
      expect(JSON.parse(create?.body ?? '')).toEqual({
        name: text,
        price: '1',
        metadata: { [`k${text}`]: text },
      });
      const url = new URL(get?.target ?? '', server.url);
      expect(url.origin).toBe(server.url);
      expect(url.pathname).toBe('/v1/balance');
      expect([...url.searchParams]).toEqual([[`k${text}`, text]]);
      expect(JSON.parse(post?.body ?? '')).toEqual({ [`k${text}`]: [text] });
    });
    expect(server.requests).toHaveLength(hostile.length * 3);
    for (const { headers } of server.requests) expect(headers.join('\n')).not.toMatch(/^x-evil/im);
    await server.close();
  });

  test('a path that leads elsewhere is refused', async () => {
    const server = await FaultyServer.start(succeed);
    const client = clientOf(carrier, server.url);
    const paths = [
      'v1/x',
      '',
      '//evil.example/x',
      '/\\evil.example',
      '/v1/../x',
      '/v1/%2e%2e/x',
      '/v1/./x',
      '/v1?a=b',
      '/v1#a',
      '/v1\r\nx: y',
      '/v1 x',
      '/v1/é',
      'https://evil.example/',
      '@evil.example',
      '/v1/\0',
      '/v1/\ud800',
    ];
    for (const path of paths) {
      const { error } = await settle(client.request({ method: 'GET', path }));
      expect(error, path).toMatchObject({ name: 'InvalidParamsError', issues: [{ path: 'path' }] });
    }
    expect(server.connections).toBe(0);
    await server.close();
  });

  test('changes after the call was made are not sent', async () => {
    const server = await FaultyServer.start(succeed);
    const client = clientOf(carrier, server.url);
    const metadata = { sku: 'A' };
    const params = { name: 'Mug', price: '5', metadata };
    const headers = { 'x-a': '1' };
    const body = { deep: [1] };
    const calls = [
      client.products.create(params, { headers }),
      client.request({ method: 'POST', path: '/v1/x', body }),
    ];
    params.name = 'Other';
    metadata.sku = 'B';
    headers['x-a'] = '2';
    body.deep.push(2);
    await Promise.all(calls);
    const bodies = server.requests.map((request) => JSON.parse(request.body));
    expect(bodies).toContainEqual({ name: 'Mug', price: '5', metadata: { sku: 'A' } });
    expect(bodies).toContainEqual({ deep: [1] });
    expect(server.requests.flatMap((request) => request.headers)).toContain('x-a: 1');
    await server.close();
  });

  test('two clients at once, 200 calls, no key on a call of the other', async () => {
    const server = await FaultyServer.start((socket, request) => {
      const available = keyOf(request) === 'key-one-1' ? '1.00' : '2.00';
      socket.write(rawResponse(200, rightBody('GET').replace('1250.00', available)));
    });
    const one = clientOf(carrier, server.url, { apiKey: 'key-one-1' });
    const two = clientOf(carrier, server.url, { apiKey: 'key-two-2' });
    const values = await Promise.all(Array.from({ length: 200 }, (_, n) => call(n % 2 ? two : one, 'GET')));
    values.forEach((value, n) => {
      expect(value).toMatchObject({ available: n % 2 ? '2.00' : '1.00' });
    });
    await server.close();
  });
});
