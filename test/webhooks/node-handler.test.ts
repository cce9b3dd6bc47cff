import { createServer, type IncomingMessage, request as openRequest, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { nodeHandler, sign } from '../../src/webhooks/index.js';

const secret = 'whsec_merchant_test_7Qm2xV9c';
const rawBody = '{"type":"order.paid","data":{"order_id":"ord_1001","amount":"19.90","currency":"USD"}}';
const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

type BodyParser = (request: IncomingMessage, response: ServerResponse) => Promise<object> | object;

/** A node:http server with the receiver; `before` plays the body parser in front of it. */
async function serve(before: BodyParser = () => ({})) {
  const fulfilled: string[] = [];
  const errors: unknown[] = [];
  const receive = nodeHandler({
    secret,
    on: { 'order.paid': (event) => fulfilled.push(event.data.order_id) },
    onError: (error) => errors.push(error),
  });
  const server = createServer(async (request, response) => {
    await receive(Object.assign(request, await before(request, response)), response);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = listeningAt(server.address());
  const url = `http://127.0.0.1:${port}/webhooks`;
  const post = async (
    body: string | Uint8Array<ArrayBuffer> = rawBody,
    headers = sign({ rawBody: body, secret }),
  ) => {
    const response = await fetch(url, { method: 'POST', body, headers });
    return { status: response.status, body: await response.json() };
  };
  return { url, port, post, fulfilled, errors };
}

function listeningAt(address: AddressInfo | string | null): AddressInfo {
  if (address === null || typeof address === 'string') throw new Error('not listening');
  return address;
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('a node:http server', () => {
  it('responds with 200 to a good delivery, 400 to a changed one, and fulfils a repeated one once', async () => {
    const { post, fulfilled } = await serve();
    expect(await post()).toEqual({ status: 200, body: { received: true } });
    expect(await post(`${rawBody}\n`, sign({ rawBody, secret }))).toMatchObject({
      status: 400,
      body: { error: 'signature_mismatch', bytes: 87 },
    });
    expect(await post()).toMatchObject({ status: 200 });
    expect(fulfilled).toEqual(['ord_1001']);
  });

  it('responds with 405 to GET, with the allowed method, as JSON', async () => {
    const { url } = await serve();
    const response = await fetch(url);
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({ error: 'method_not_allowed' });
    expect((await fetch(url, { method: 'POST' })).headers.has('allow')).toBe(false);
  });

  it('takes 1 MiB and responds with 413 to one byte more, over the same connection', async () => {
    const { post, errors } = await serve();
    const bodyOfSize = (bytes: number) => `{"type":"${'a'.repeat(bytes - 11)}"}`;
    expect(await post(bodyOfSize(1024 * 1024))).toMatchObject({ status: 200 });
    expect(await post(bodyOfSize(1024 * 1024 + 1))).toEqual({
      status: 413,
      body: { error: 'body_too_large' },
    });
    expect(await post(bodyOfSize(4 * 1024 * 1024))).toMatchObject({ status: 413 });
    expect(await post()).toMatchObject({ status: 200 });
    expect(errors).toEqual([]);
  });

  it('answers the next delivery on the connection after a 413', async () => {
    const { port, fulfilled } = await serve();
    const socket = connect(port, '127.0.0.1');
    const text: string[] = [];
    socket.setEncoding('utf8').on('data', (part: string) => text.push(part));
    const write = (body: string, headers: Record<string, string>) => {
      const lines = Object.entries({
        host: 'shop',
        'content-length': `${Buffer.byteLength(body)}`,
        ...headers,
      });
      socket.write(
        `POST / HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
      );
    };
    // Behind a proxy that keeps connections, the first may be a stranger's.
    write('x'.repeat(3 * 1024 * 1024), {});
    await expect.poll(() => text.join(''), { timeout: 4000 }).toContain('body_too_large');
    write(rawBody, sign({ rawBody, secret }));
    await expect.poll(() => text.join(''), { timeout: 4000 }).toContain('{"received":true}');
    socket.destroy();
    expect(fulfilled).toEqual(['ord_1001']);
  });

  it('never rejects, and always settles, whatever happened to request and response', async () => {
    const errors: unknown[] = [];
    const listener = nodeHandler({
      secret,
      on: { 'order.paid': () => {} },
      onError: (error) => errors.push(error),
    });
    const closed = { method: 'POST', headers: {}, destroyed: true, on: () => {} };
    const sent = {
      setHeader: () => {
        throw new Error('Cannot set headers after they are sent to the client');
      },
      end: () => {},
    };
    const open = { setHeader: () => {}, end: () => {} };
    for (const [request, response] of [
      [closed, open],
      [{ ...closed, method: 'GET' }, sent],
      [undefined, undefined],
      [closed, undefined],
      // A route of Next.js, and one of Hono.
      [new Request('https://shop.example/', { method: 'POST', body: '{}' }), { params: {} }],
      [new Request('https://shop.example/', { method: 'POST', body: '{}' }), undefined],
    ])
      expect(await Reflect.apply(listener, undefined, [request, response])).toBeUndefined();
    const notNode =
      'WebhookConfigError: The webhook cannot be verified: nodeHandler() takes the request and the response of node:http, ' +
      'or those of Express, Fastify, Koa or AdonisJS. For Fetch requests, use handler().';
    expect(errors.map(String)).toEqual([
      'Error: The connection closed before the body was complete.',
      'Error: Cannot set headers after they are sent to the client',
      ...[notNode, notNode, notNode, notNode],
    ]);
  });

  it('reads a body that was decoded to strings, as long as it is UTF-8', async () => {
    const { post, fulfilled } = await serve((request) => {
      request.setEncoding('utf8');
      return {};
    });
    expect(await post()).toMatchObject({ status: 200 });
    expect(fulfilled).toEqual(['ord_1001']);
  });

  it('reports a delivery that breaks off, and fulfils nothing', async () => {
    const { port, errors, fulfilled } = await serve();
    const headers = { ...sign({ rawBody, secret }), 'content-length': String(rawBody.length) };
    const half = openRequest({ port, host: '127.0.0.1', method: 'POST', headers });
    half.on('error', () => {});
    half.write(rawBody.slice(0, 20), () => half.destroy());
    await expect.poll(() => errors, { timeout: 15_000 }).toMatchObject([expect.any(Error)]);
    expect(fulfilled).toEqual([]);
  });
});

type Wrap = (request: IncomingMessage, response: ServerResponse, body: Buffer) => [object, object];

/** A server whose framework passes objects of its own, after it has read the body. */
async function serveWrapped(wrap: Wrap, isRead = true) {
  const errors: unknown[] = [];
  const receive = nodeHandler({
    secret,
    on: { 'order.paid': () => new Promise((resolve) => setTimeout(resolve, 5)) },
    onError: (error) => errors.push(error),
  });
  const server = createServer(async (request, response) => {
    const body = isRead ? await readAll(request) : Buffer.alloc(0);
    await Reflect.apply(receive, undefined, wrap(request, response, body));
    // Koa, h3 and AdonisJS do this once a route has returned.
    if (!response.writableEnded) response.writeHead(404).end('{}');
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  closers.push(() => server.close());
  const url = `http://127.0.0.1:${listeningAt(server.address()).port}/webhooks`;
  const response = await fetch(url, { method: 'POST', body: rawBody, headers: sign({ rawBody, secret }) });
  await response.text();
  return { status: response.status, errors };
}

describe('a framework that passes a request and a response of its own', () => {
  it.each<[string, Wrap]>([
    [
      'Fastify with fastify-raw-body, and NestJS on it: rawBody',
      (raw, reply, body) => [{ raw, rawBody: body, body: JSON.parse(body.toString()) }, { raw: reply }],
    ],
    ['Fastify with parseAs "buffer": body', (raw, reply, body) => [{ raw, body }, { raw: reply }]],
    [
      'Koa with koa-bodyparser: ctx.request.rawBody',
      (req, res, body) => [{ req, rawBody: body.toString() }, { res }],
    ],
    [
      'AdonisJS: request.raw()',
      (request, response, body) => [{ request, raw: () => body.toString(), body: () => ({}) }, { response }],
    ],
  ])('%s is verified, and the promise resolves once the response was written', async (_name, wrap) => {
    expect(await serveWrapped(wrap)).toEqual({ status: 200, errors: [] });
  });

  it.each<[string, Wrap]>([
    ['Fastify', (raw, reply) => [{ raw }, { raw: reply }]],
    ['Koa', (req, res) => [{ req }, { res }]],
  ])('and has left the body unread, such as %s: it is read', async (_name, wrap) => {
    expect(await serveWrapped(wrap, false)).toEqual({ status: 200, errors: [] });
  });

  it('is told that the response is taken care of, if it can be: Fastify by hijack()', async () => {
    const calls: string[] = [];
    const hijack = () => calls.push('hijack');
    const { status } = await serveWrapped((raw, reply, body) => [
      { raw, body },
      { raw: reply, hijack },
    ]);
    expect([status, ...calls]).toEqual([200, 'hijack']);
  });

  it.each<[string, Wrap, string]>([
    [
      'Fastify',
      (raw, reply, body) => [{ raw, body: JSON.parse(body.toString()) }, { raw: reply }],
      'In Fastify, register fastify-raw-body before this route; in NestJS, create the app with `rawBody: true`',
    ],
    ['Koa', (req, res) => [{ req, body: {} }, { res }], 'In Koa, use this route before the body parser'],
    [
      'AdonisJS',
      (request, response) => [{ request }, { response }],
      'In AdonisJS, let the body parser read JSON',
    ],
    [
      'their inner objects',
      (request, response) => [request, response],
      'in Koa ctx.request and ctx.response',
    ],
  ])('and has only parsed the body gets 500, and onError the line to write: %s', async (_name, wrap, fix) => {
    const { status, errors } = await serveWrapped(wrap);
    expect(status).toBe(500);
    expect(errors).toMatchObject([{ code: 'invalid_body', message: expect.stringContaining(fix) }]);
  });

  it('and does not wait: onError learns what to await', async () => {
    const errors: unknown[] = [];
    const on = { 'order.paid': () => new Promise((resolve) => setTimeout(resolve, 20)) };
    const receive = nodeHandler({ secret, on, onError: (error) => errors.push(error) });
    const server = createServer((request, response) => {
      void receive(request, response);
      response.writeHead(404).end('{}');
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    closers.push(() => server.close());
    const url = `http://127.0.0.1:${listeningAt(server.address()).port}/`;
    await fetch(url, { method: 'POST', body: rawBody, headers: sign({ rawBody, secret }) });
    await expect
      .poll(() => errors)
      .toMatchObject([
        {
          name: 'WebhookConfigError',
          message: expect.stringMatching(
            /answered before .* with 200\. Await or return .* in Koa, .* in h3\.$/,
          ),
        },
      ]);
  });
});

describe('a framework that has read the body', () => {
  it.each<[string, BodyParser]>([
    ['express.raw(): a Buffer in body', async (request) => ({ body: await readAll(request) })],
    ['express.text(): text in body', async (request) => ({ body: (await readAll(request)).toString() })],
    [
      'NestJS with rawBody: true: a Buffer in rawBody beside the parsed body',
      async (request) => {
        const bytes = await readAll(request);
        return { rawBody: bytes, body: JSON.parse(bytes.toString()) };
      },
    ],
    ['a parser that left the stream alone: an empty body', () => ({ body: {} })],
  ])('%s is verified', async (_form, before) => {
    const { post, fulfilled } = await serve(before);
    expect(await post()).toMatchObject({ status: 200 });
    expect(await post(`${rawBody} `, sign({ rawBody, secret }))).toMatchObject({ status: 400 });
    expect(fulfilled).toEqual(['ord_1001']);
  });

  it.each<[string, BodyParser]>([
    [
      'express.json(): a parsed object',
      async (request) => ({ body: JSON.parse((await readAll(request)).toString()) }),
    ],
    [
      'nothing that can be found',
      async (request) => {
        await readAll(request);
        return {};
      },
    ],
  ])('%s gets 500, and onError the lines to change', async (_form, before) => {
    const { post, errors, fulfilled } = await serve(before);
    expect(await post()).toEqual({ status: 500, body: { error: 'invalid_body' } });
    expect(fulfilled).toEqual([]);
    for (const fix of [
      'before app.use(express.json())',
      'express.raw({',
      'rawBody: true',
      'bodyParser: false',
    ]) {
      expect(errors).toMatchObject([{ name: 'WebhookConfigError', message: expect.stringContaining(fix) }]);
    }
  });

  it('of 1 MiB as a Buffer is verified', async () => {
    const { post } = await serve(async (request) => {
      await readAll(request);
      return { body: Buffer.alloc(1024 * 1024, ' ') };
    });
    expect(await post()).toMatchObject({ status: 400 });
  });

  it.each([
    ['a Buffer', Buffer.alloc(1024 * 1024 + 1, ' ')],
    ['text', ' '.repeat(1024 * 1024 + 1)],
    ['text of two-byte characters', 'é'.repeat(512 * 1024 + 1)],
  ])('over 1 MiB as %s gets 413', async (_form, body) => {
    const { post } = await serve(async (request) => {
      await readAll(request);
      return { body };
    });
    expect(await post()).toMatchObject({ status: 413 });
  });
});
