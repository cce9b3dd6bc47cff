// Receivers in their real frameworks, right ones and those whose mistake shows in another way in each: the doctor names the mistake, and
// the fix in the framework's own words. test/doctor/receivers has every other mistake.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingHttpHeaders, Server } from 'node:http';
import { after, test } from 'node:test';
import { serve } from '@hono/node-server';
import { Controller, Module, Post, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import express, {
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import fastify, { type FastifyInstance } from 'fastify';
import { Hono } from 'hono';
import { createSandbox, type Diagnosis } from 'merchant-payments/sandbox';

const secret = 'whsec_of_the_doctor';
const sandbox = createSandbox({ webhookSecret: secret });
after(() => sandbox.close());

type SignedBody = string | Buffer;

/** Verifies a delivery as merchants write it by hand. */
function isAuthentic(headers: IncomingHttpHeaders, body: SignedBody): boolean {
  const timestamp = `${headers['x-service-timestamp']}`;
  // Compared as text: Buffer.from(value, 'hex') would drop whatever follows the signature.
  const mac = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  const [expected, given] = [Buffer.from(mac), Buffer.from(`${headers['x-service-signature']}`)];
  const isFresh = Math.abs(Date.now() - Number(timestamp) * 1000) <= 300_000;
  return isFresh && given.length === expected.length && timingSafeEqual(given, expected);
}

async function examine(server: Server, path = '/webhooks'): Promise<Diagnosis> {
  if (!server.listening) await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  try {
    return await sandbox.doctor(`http://127.0.0.1:${address.port}${path}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

function finds({ findings, summary }: Diagnosis, code: string | undefined, words = ''): void {
  assert.deepEqual(
    findings.map((finding) => finding.code),
    code === undefined ? [] : [code],
  );
  assert.ok(summary.includes(words), `${summary} does not hold ${words}`);
  assert.ok(!JSON.stringify(findings).includes(secret));
}

/** Shows errors to the sender, as in development, and writes none to the log of the tests. */
const quietExpress = () => express().set('env', 'test');
const answer = (response: Response, good: boolean) => response.status(good ? 200 : 400).json({ good });
const raw = express.raw({ type: 'application/json' });
type Handler = (request: Request, response: Response) => unknown;
const withRaw = (handler: Handler) => (app: Express) => app.post('/webhooks', raw, handler);
const withJson = (handler: Handler) => (app: Express) => app.use(express.json()).post('/webhooks', handler);
const bytesOf = (request: Request): Buffer =>
  Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
const csrf: RequestHandler = (_, response) => void response.status(403).send('invalid csrf token');
const login: RequestHandler = (_, response) => response.redirect('/login');

const ownFix = "app.post('/webhooks', express.raw({ type: 'application/json' }), handler)";
const inExpress: [string, (app: Express) => unknown, string | undefined, string?][] = [
  [
    'a correct handler',
    withRaw((q, s) => answer(s, isAuthentic(q.headers, bytesOf(q)))),
    undefined,
    'All good',
  ],
  [
    'express.json() and JSON.stringify(req.body)',
    withJson((q, s) => answer(s, isAuthentic(q.headers, JSON.stringify(q.body)))),
    're_encodes',
    ownFix,
  ],
  [
    'express.json() and req.body as it is',
    withJson((q, s) => answer(s, isAuthentic(q.headers, q.body))),
    'parsed_object',
    ownFix,
  ],
  ['no route', (app) => app.post('/elsewhere', raw), 'not_found'],
  ['CSRF middleware', (app) => app.use(csrf), 'csrf', 'In Express'],
  ['a redirect to the login', (app) => app.use(login), 'redirect_login', 'In Express'],
  ['a small body limit', (app) => app.use(express.json({ limit: 10 })), 'too_large'],
];

for (const [what, prepare, code, words] of inExpress) {
  test(`Express with ${what}: ${code ?? 'no finding'}`, async () => {
    const app = quietExpress();
    prepare(app);
    finds(await examine(app.listen(0, '127.0.0.1')), code, words);
  });
}

test('Express in production, which hides why it throws: the likely reason is named', async () => {
  const app = quietExpress();
  withJson((q, s) => answer(s, isAuthentic(q.headers, q.body)))(app);
  app.use(
    (_error: unknown, _q: Request, s: Response, _next: NextFunction) => void s.status(500).send('Sorry'),
  );
  finds(await examine(app.listen(0, '127.0.0.1')), 'handler_failed', ownFix);
});

const inFastify: [string, (app: FastifyInstance) => unknown, string | undefined, string?][] = [
  [
    'a correct content type parser',
    (app) => {
      app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) =>
        done(null, body),
      );
      app.post('/webhooks', (q, s) =>
        s.code(Buffer.isBuffer(q.body) && isAuthentic(q.headers, q.body) ? 200 : 400).send(),
      );
    },
    undefined,
  ],
  [
    'JSON.stringify(request.body)',
    (app) =>
      app.post('/webhooks', (q, s) =>
        s.code(isAuthentic(q.headers, JSON.stringify(q.body)) ? 200 : 400).send(),
      ),
    're_encodes',
  ],
  [
    'request.body as it is',
    (app) =>
      app.post<{ Body: Buffer }>('/webhooks', async (q, s) =>
        s.code(isAuthentic(q.headers, q.body) ? 200 : 400).send(),
      ),
    'parsed_object',
    'In Fastify: app.addContentTypeParser(',
  ],
];

for (const [what, prepare, code, words] of inFastify) {
  test(`Fastify with ${what}: ${code ?? 'no finding'}`, async () => {
    const app = fastify();
    prepare(app);
    await app.listen({ port: 0, host: '127.0.0.1' });
    finds(await examine(app.server), code, words);
  });
}

const inHono: [string, (request: globalThis.Request) => Promise<SignedBody>, string | undefined][] = [
  ['the raw body', async (request) => Buffer.from(await request.arrayBuffer()), undefined],
  [
    'JSON.stringify(await c.req.json())',
    async (request) => JSON.stringify(await request.json()),
    're_encodes',
  ],
];

for (const [what, read, code] of inHono) {
  test(`Hono with ${what}: ${code ?? 'no finding'}`, async () => {
    const app = new Hono().post('/webhooks', async (c) =>
      c.text('', isAuthentic(c.req.header(), await read(c.req.raw)) ? 200 : 400),
    );
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', overrideGlobalObjects: false });
    finds(await examine(server as Server), code);
  });
}

@Controller('webhooks')
class Webhooks {
  @Post()
  receive(@Req() request: Request & { rawBody?: Buffer }, @Res() response: Response) {
    if (!request.rawBody)
      throw new TypeError('The "data" argument must be of type string or an instance of Buffer.');
    answer(response, isAuthentic(request.headers, request.rawBody));
  }
}

@Module({ controllers: [Webhooks] })
class Shop {}

for (const [rawBody, code] of [
  [true, undefined],
  [false, 'handler_failed'],
] as const) {
  test(`NestJS with rawBody: ${rawBody}: ${code ?? 'no finding'}`, async () => {
    const app = await NestFactory.create<NestExpressApplication>(Shop, { rawBody, logger: false });
    await app.listen(0, '127.0.0.1');
    finds(
      await examine(app.getHttpServer()),
      code,
      rawBody ? '' : 'In NestJS: NestFactory.create(AppModule, { rawBody: true })',
    );
    await app.close().catch(() => undefined);
  });
}
