import { type RequestOptions, request } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { inspect } from 'node:util';
import { createSandbox, type Sandbox } from 'merchant-payments/sandbox';
import { afterEach, describe, expect, test } from 'vitest';
import { createContext } from '../../src/sandbox/create.js';
import { controls } from '../../src/sandbox/http/control.js';
import { caller, checkout, mug, open } from './open.js';

let sandbox: Sandbox;
afterEach(() => sandbox?.close());

async function listenWith(options: Parameters<Sandbox['listen']>[0] = {}) {
  sandbox = createSandbox();
  await sandbox.listen(options);
  return { sandbox, port: Number(new URL(sandbox.url).port) };
}

/** One request with the headers as they are written here, Host included. */
function send(
  options: RequestOptions,
  body = '',
): Promise<{ status: number; headers: object; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', agent: false, ...options }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    });
    sent.on('error', reject).end(body);
  });
}

/** Sends bytes that no HTTP library would send, and resolves to the response. */
function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let got = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => {
      got += chunk;
    });
    socket.on('close', () => resolve(got));
    socket.on('error', () => resolve(got));
  });
}

describe('who can reach it', () => {
  const other = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === 'IPv4' && !one.internal)?.address;

  test.skipIf(other === undefined)('it listens on loopback only, unless set otherwise', async () => {
    const { port } = await listenWith();
    const refused = await send({ host: other, port, path: '/v1/balance' }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('a Host header that does not name it gets 421', async () => {
    const { port } = await listenWith();
    const hosts: [string, number][] = [
      [`127.0.0.1:${port}`, 200],
      [`localhost:${port}`, 200],
      [`shop.localhost:${port}`, 200],
      [`[::1]:${port}`, 200],
      ['evil.example', 421],
      [`evil.example:${port}`, 421],
      [`localhost.evil.example:${port}`, 421],
      [`127.evil.example:${port}`, 421],
      [`127.0.0.1:${port + 1}`, 200],
      ['localhost', 200],
      [`user@127.0.0.1:${port}`, 421],
    ];
    for (const [host, status] of hosts) {
      const answered = await send({
        port,
        path: '/v1/balance',
        headers: { host, 'x-api-key': sandbox.apiKey },
      });
      expect([host, answered.status]).toEqual([host, status]);
      expect((await send({ port, path: '/_sandbox/state', headers: { host } })).status).toBe(status);
    }
    const both = `Host: 127.0.0.1:${port}\r\nHost: evil.example\r\n`;
    expect(
      await sendRaw(port, `GET /_sandbox/health HTTP/1.1\r\n${both}Connection: close\r\n\r\n`),
    ).not.toContain(' 200 ');
    expect(await sendRaw(port, 'GET /_sandbox/health HTTP/1.1\r\nConnection: close\r\n\r\n')).toContain(
      ' 421 ',
    );
    const absolute = `GET http://evil.example/_sandbox/health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`;
    expect(await sendRaw(port, absolute)).toContain(' 421 ');
  });

  test('a health check may name it as it likes', async () => {
    const { port } = await listenWith();
    for (const host of ['sandbox', 'payments.internal:80', 'evil.example'])
      expect((await send({ port, path: '/_sandbox/health', headers: { host } })).status).toBe(200);
  });

  test('a name that was allowed, and the public origin, are its own', async () => {
    sandbox = createSandbox({ publicUrl: 'https://pay.example' });
    await sandbox.listen({ allowHosts: ['sandbox', 'Annas-Mac.local'] });
    const port = Number(new URL(sandbox.url).port);
    for (const host of [`sandbox:${port}`, 'sandbox:1', 'annas-mac.local', 'Annas-Mac.local', 'pay.example'])
      expect((await send({ port, path: '/_sandbox/state', headers: { host } })).status).toBe(200);
    for (const host of ['pay.example:1', 'sandbox.example'])
      expect((await send({ port, path: '/_sandbox/state', headers: { host } })).status).toBe(421);
  });

  test('open to other machines, control and dashboard ask for the access token, customers and the API do not', async () => {
    const { port } = await listenWith({ host: '0.0.0.0', accessToken: 'the-token' });
    const { url, id } = await checkout(sandbox);
    const get = (path: string, headers = {}) =>
      send({ port, path, headers: { host: `127.0.0.1:${port}`, ...headers } });
    const refused = await get('/_sandbox/state');
    expect(refused.status).toBe(401);
    expect(refused.text).toContain('in a program, send it as "authorization: Bearer <SANDBOX_TOKEN>"');
    expect((await get('/_sandbox/state', { authorization: 'Bearer wrong' })).status).toBe(401);
    expect((await get('/_sandbox/state', { authorization: 'Bearer the-token' })).status).toBe(200);
    expect((await get('/_sandbox/health')).status).toBe(200);
    expect((await get(`/pay/${id}`)).status).toBe(200);
    expect(url).toContain(`/pay/${id}`);
    const link = new URL(sandbox.dashboardUrl);
    const opened = await get(link.pathname + link.search);
    expect(opened).toMatchObject({ status: 303, headers: { location: '/' } });
    expect(opened.headers).toMatchObject({
      'set-cookie': ['sandbox_token=the-token; Path=/; HttpOnly; SameSite=Strict'],
    });
    expect((await get('/_sandbox/state', { cookie: 'a=b; sandbox_token=the-token' })).status).toBe(200);
    const named = { host: 'sandbox:80', 'x-api-key': sandbox.apiKey };
    expect((await get('/v1/balance', named)).status).toBe(200);
    expect((await get('/_sandbox/state', { ...named, authorization: 'Bearer the-token' })).status).toBe(421);
  });

  test('the link to the dashboard opens it whatever characters the access token has', async () => {
    const accessToken = 'a+b/c==&d#e%41';
    const { port } = await listenWith({ host: '0.0.0.0', accessToken });
    const { pathname, search } = new URL(sandbox.dashboardUrl);
    const opened = await send({ port, path: pathname + search, headers: { host: `127.0.0.1:${port}` } });
    expect(opened).toMatchObject({ status: 303, headers: { location: '/' } });
    const cookie = String(Reflect.get(opened.headers, 'set-cookie')).split(';')[0];
    const state = { port, path: '/_sandbox/state', headers: { host: `127.0.0.1:${port}`, cookie } };
    expect((await send(state)).status).toBe(200);
  });

  test('neither an empty access token nor an empty host opens it to everybody', async () => {
    const { port } = await listenWith({ host: '0.0.0.0', accessToken: '' });
    const headers = { host: `127.0.0.1:${port}` };
    expect((await send({ port, path: '/?token=', headers })).status).toBe(401);
    await expect(createSandbox().listen({ host: '' })).rejects.toThrow(
      'listen: host must be an address, such as "127.0.0.1".',
    );
  });

  test('no response lets another origin read it', async () => {
    const context = createContext({ webhook: () => new Response(null, { status: 500 }) });
    const target = context.sandbox;
    const { id, productId } = await checkout(target);
    const { event } = await target.trigger('order.paid');
    const found = new Set([
      '/',
      `/pay/${id}`,
      `/pay/${id}/status`,
      `/wallet/${id}`,
      '/nothing',
      '/v1/nothing',
    ]);
    for (const path of ['products', `products/${productId}`, 'checkouts', `checkouts/${id}`, 'balance'])
      found.add(`/v1/${path}`);
    for (const route of Object.keys(controls(context))) {
      const path = route.split(' ')[1] ?? '';
      const own = path.startsWith('/events') ? event.id : path.startsWith('/products') ? productId : id;
      found.add(`/_sandbox${path.replace(':id', own)}`);
    }
    const key = { 'x-api-key': target.apiKey };
    const methods = ['OPTIONS', 'GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
    const readable: string[] = [];
    // Every page that a page links to or has a form for, too.
    for (const path of found)
      for (const method of methods)
        for (const headers of [
          { ...key, origin: 'https://evil.example', 'access-control-request-method': 'POST' },
          { ...key, origin: target.url },
        ]) {
          const response = await target.fetch(path, { method, headers, redirect: 'manual' });
          const names = [...response.headers.keys()].filter((name) => name.startsWith('access-control'));
          if (names.length > 0) readable.push(`${method} ${path}: ${names}`);
          if (method === 'OPTIONS') expect([path, response.status]).toEqual([path, 405]);
          const text = await response.text();
          for (const [, link = ''] of text.matchAll(/(?:href|action)="(\/[^"#]*)/g))
            if (!/[?]show=/.test(link)) found.add(link);
        }
    expect(readable).toEqual([]);
    expect([...found].filter((path) => !path.startsWith('/_sandbox')).length).toBeGreaterThan(25);
    expect(found).toContain('/developer/key');
  });
});

describe('who can change it', () => {
  const foreign = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost:1' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ];

  test.each(foreign)('a page of another site moves no clock: %j', async (headers) => {
    const { sandbox: target } = open({ now: new Date(0) });
    const move = (more: object) =>
      target.fetch('/_sandbox/clock', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...more },
        body: '{"advance":"1h"}',
      });
    expect((await move(headers)).status).toBe(403);
    expect(target.now()).toEqual(new Date(0));
    expect((await move({ origin: target.url, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    expect(target.now()).toEqual(new Date(3_600_000));
  });

  test('control takes JSON alone: a form can send none', async () => {
    const { sandbox: target } = open();
    const key = target.apiKey;
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      undefined,
    ]) {
      const headers = type === undefined ? {} : { 'content-type': type };
      const renewed = await target.fetch('/_sandbox/key', { method: 'POST', headers, body: '{}' });
      expect(renewed.status).toBe(415);
    }
    expect(target.apiKey).toBe(key);
  });

  test('a reset takes no body, and no other site can ask for it', async () => {
    const { sandbox: target } = open();
    await target.trigger('order.paid');
    const reset = async (headers: HeadersInit) =>
      (await target.fetch('/_sandbox/state', { method: 'DELETE', headers })).status;
    expect(await reset({ origin: 'https://evil.example' })).toBe(403);
    expect(await reset({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(target.orders).toHaveLength(1);
    expect(await reset({})).toBe(200);
    expect(target.orders).toEqual([]);
  });

  test('a checkout is paid by the form of its own page alone', async () => {
    const { sandbox: target } = open();
    const [first, second] = [await checkout(target), await checkout(target)];
    const tokenOf = async (url: string) =>
      /name="token" value="([^"]+)"/.exec(await (await target.fetch(url)).text())?.[1] ?? '';
    const pay = async (token: string, headers = {}, method = 'POST') =>
      (
        await target.fetch(`${first.url}/pay`, {
          method,
          headers,
          redirect: 'manual',
          ...(method === 'POST'
            ? { body: new URLSearchParams({ token, method: 'card', card: '1111' }) }
            : {}),
        })
      ).status;
    const token = await tokenOf(first.url);
    for (const headers of foreign) expect(await pay(token, headers)).toBe(403);
    expect(await pay('')).toBe(403);
    expect(await pay(await tokenOf(second.url))).toBe(403);
    expect(await pay(token, {}, 'GET')).toBeGreaterThanOrEqual(400);
    expect(target.orders).toEqual([]);
    expect(await pay(token, { origin: target.url })).toBe(303);
    expect(target.orders).toHaveLength(1);
  });
});

describe('secrets', () => {
  test('a live key gets the 401 of the spec, and is kept nowhere', async () => {
    const { sandbox: target, call } = open();
    const live = 'service_live_4242424242424242';
    expect((await call('GET', '/v1/balance', undefined, { 'x-api-key': live })).status).toBe(401);
    expect(target.requests).toMatchObject([{ key: 'live', status: 401 }]);
    const traces = inspect([target, target.requests, target.snapshot()], { depth: null, showHidden: true });
    expect(traces).not.toContain('4242424242');
  });

  test('key and secret are random, and shown by no inspection, log or event', async () => {
    const [one, two] = [createSandbox(), createSandbox()];
    expect(one.apiKey).toMatch(/^service_test_\w{20}$/);
    expect(one.apiKey).not.toBe(two.apiKey);
    expect(one.webhookSecret).not.toBe(two.webhookSecret);
    one.setWebhook(() => new Response());
    await caller(one)('POST', '/v1/products', mug);
    await one.trigger('order.paid');
    const shown = inspect([one, one.requests, one.events, one.orders, one.checkouts], {
      depth: null,
      showHidden: true,
    });
    expect(shown).not.toContain(one.apiKey);
    expect(shown).not.toContain(one.webhookSecret);
    expect(JSON.stringify(one)).not.toContain(one.apiKey);
  });

  test('after a new key, the old one gets 401 at once', async () => {
    const { sandbox: target, call } = open();
    const old = target.apiKey;
    const next = target.regenerateKey();
    expect(next).not.toBe(old);
    expect((await call('GET', '/v1/balance', undefined, { 'x-api-key': old })).status).toBe(401);
    expect((await call('GET', '/v1/balance', undefined, { 'x-api-key': next })).status).toBe(200);
  });

  test('ids are random, and with a seed the same in each run, whatever else was made', async () => {
    const ids = async (seed: number | undefined, extra: number) => {
      const { sandbox: target } = open({ seed });
      for (let count = 0; count < extra; count++) await caller(target)('POST', '/v1/products', mug);
      const { order, event } = await target.trigger('order.paid');
      return [order.id, event.id, order.checkoutId];
    };
    expect(await ids(7, 0)).toEqual(await ids(7, 3));
    expect(await ids(7, 0)).not.toEqual(await ids(8, 0));
    expect(await ids(undefined, 0)).not.toEqual(await ids(undefined, 0));
    for (const id of await ids(undefined, 0)) expect(id).toMatch(/^(ord|evt|chk)_[0-9A-Za-z]{20}$/);
  });
});

describe('limits', () => {
  test('a body in chunks is read, and a form larger than 1 MiB is refused', async () => {
    const { sandbox, port } = await listenWith();
    const head = [
      'POST /v1/products HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      `x-api-key: ${sandbox.apiKey}`,
      'content-type: application/json',
      'transfer-encoding: chunked',
      'connection: close',
    ];
    const chunks = ['{"name":"Mug",', '"price":"19.90"}', ''].map(
      (part) => `${part.length.toString(16)}\r\n${part}\r\n`,
    );
    expect(await sendRaw(port, `${head.join('\r\n')}\r\n\r\n${chunks.join('')}`)).toContain(' 200 ');
    expect(sandbox.products).toMatchObject([{ name: 'Mug' }]);
    const form = new URLSearchParams({ url: 'x'.repeat(1024 * 1024) });
    const saved = await fetch(`${sandbox.url}/developer/webhook`, { method: 'POST', body: form });
    expect([saved.status, await saved.text()]).toEqual([413, 'The body is larger than 1 MiB.\n']);
    const latin1 = { method: 'POST', body: Buffer.from('url=caf\u00e9', 'latin1') };
    const garbled = await fetch(`${sandbox.url}/developer/webhook`, latin1);
    expect([garbled.status, await garbled.text()]).toEqual([400, 'The body is not UTF-8.\n']);
    expect((await fetch(`${sandbox.url}/_sandbox/state`, { method: 'DELETE' })).status).toBe(200);
    expect(sandbox.products).toEqual([]);
  });

  test('a body that never ends is cut off at 1 MiB', async () => {
    const { port } = await listenWith();
    const headers = `Host: 127.0.0.1:${port}\r\nx-api-key: ${sandbox.apiKey}\r\nContent-Type: application/json\r\n`;
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    const got = await sendRaw(
      port,
      `POST /v1/products HTTP/1.1\r\n${headers}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(20)}`,
    );
    expect(got).toContain(' 413 ');
  });

  test('a store of 100,000 products takes no more, and says how to go on', async () => {
    const { sandbox: target, call } = open();
    await call('POST', '/v1/products', mug);
    const saved = JSON.parse(JSON.stringify(target.snapshot()));
    const [product] = saved.products;
    saved.products = Array.from({ length: 100_000 }, (_, index) => ({ ...product, id: `prod_${index}` }));
    const full = open({ from: saved });
    const refused = await full.call('POST', '/v1/products', mug);
    expect(refused).toMatchObject({ status: 507, body: { message: expect.stringContaining('Reset it.') } });
    expect((await full.call('GET', '/v1/products')).body.data.pagination.total).toBe(100_000);
    full.sandbox.reset();
    expect((await full.call('POST', '/v1/products', mug)).status).toBe(200);
  });

  test('at most 16 deliveries are under way', async () => {
    let [now, most] = [0, 0];
    const { sandbox: target } = open({
      webhooks: 'manual',
      webhook: async () => {
        now++;
        most = Math.max(most, now);
        await new Promise(setImmediate);
        now--;
        return new Response();
      },
    });
    for (let count = 0; count < 50; count++) await target.trigger('order.paid');
    expect(await target.deliver()).toHaveLength(50);
    expect(most).toBe(16);
  });

  test('the log keeps the newest 500 requests', async () => {
    const { sandbox: target, call } = open();
    for (let count = 0; count < 502; count++) await call('GET', '/v1/balance');
    expect(target.requests).toHaveLength(500);
    expect(target.requests[0]?.number).toBe(3);
    expect(target.requests.at(-1)?.number).toBe(502);
  });
});

describe('lifetime', () => {
  test('importing the package and creating a sandbox starts no server and no timer', () => {
    const before = process.getActiveResourcesInfo().length;
    createSandbox();
    expect(process.getActiveResourcesInfo().length).toBe(before);
  });

  test('twenty sandboxes share no state, and close() ends each', async () => {
    const many = await Promise.all(Array.from({ length: 20 }, () => createSandbox().listen()));
    expect(new Set(many.map(({ url }) => url)).size).toBe(20);
    await Promise.all(many.map((one) => caller(one, fetch)('POST', '/v1/products', mug)));
    expect(many.map(({ products }) => products.length)).toEqual(Array(20).fill(1));
    await Promise.all(many.map((one) => one.close()));
    const [first] = many;
    expect(first?.url).toBe('http://sandbox.localhost');
  });

  test('close() ends a connection that is open, and a long poll', async () => {
    const { sandbox: target } = await listenWith();
    // Nothing else ends it for 30 seconds.
    const poll = fetch(`${target.url}/_sandbox/events?wait=30s`).then(
      ({ status }) => status,
      () => 'ended',
    );
    while (process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length === 0)
      await new Promise(setImmediate);
    await target.close();
    expect(await poll).toBe('ended');
  });

  test('a port that is taken is named, and no other is used instead', async () => {
    const { port } = await listenWith();
    await expect(createSandbox().listen({ port })).rejects.toThrow(`Port ${port} on 127.0.0.1 is taken`);
  });
});
