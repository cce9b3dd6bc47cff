// The lines of docs/frameworks.md, each in its framework: a delivery whose function takes a moment is answered 200 once it is
// fulfilled, a changed one 400.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { AppFactory } from '@adonisjs/application/factories';
import { BodyParserMiddlewareFactory } from '@adonisjs/bodyparser/factories';
import { ServerFactory } from '@adonisjs/http-server/factories';
import { bodyParser } from '@koa/bodyparser';
import Fastify, { type FastifyInstance } from 'fastify';
import fastifyRawBody from 'fastify-raw-body';
import * as h3 from 'h3';
import { fromNodeHandler, H3, serve, toNodeHandler } from 'h3v2';
import Koa from 'koa';
import 'reflect-metadata';
import { Controller, Module, Post, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { type NodeRequest, type NodeResponse, sign } from 'merchant-payments/webhooks';
import {
  errors,
  newFetchReceiver,
  newNodeReceiver,
  rawBody,
  receives,
  receivesAt,
  secret,
} from '../lib/deliveries.js';

async function fastify(prepare: (app: FastifyInstance) => Promise<unknown>): Promise<void> {
  const app = Fastify();
  await prepare(app);
  app.post('/webhooks', newNodeReceiver());
  await app.listen({ port: 0, host: '127.0.0.1' });
  try {
    await receives(app.server);
  } finally {
    await app.close();
  }
}

test('Fastify with fastify-raw-body: nodeHandler() is the route', () =>
  fastify(async (app) => app.register(fastifyRawBody)));

test('Fastify with a parser that gives the bytes', () =>
  fastify(async (app) =>
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
      done(null, body);
    }),
  ));

test('Fastify without either: 500, and the error names both', async () => {
  const app = Fastify();
  app.post('/webhooks', newNodeReceiver());
  errors.length = 0;
  const headers = { 'content-type': 'application/json', ...sign({ rawBody, secret }) };
  const response = await app.inject({ method: 'POST', url: '/webhooks', payload: rawBody, headers });
  assert.equal(response.statusCode, 500);
  assert.match(String(errors[0]), /In Fastify, register fastify-raw-body before this route; in NestJS/);
});

@Controller('webhooks')
class WebhooksController {
  readonly handle = newNodeReceiver();

  @Post()
  receive(@Req() request: NodeRequest, @Res() response: NodeResponse): Promise<void> {
    return this.handle(request, response);
  }
}

@Module({ controllers: [WebhooksController] })
class AppModule {}

test('NestJS on Fastify with rawBody: true, and on its default Express', async () => {
  for (const adapter of [[new FastifyAdapter()], []] as const) {
    const options = { rawBody: true, logger: false } as const;
    const [on] = adapter;
    const app = await (on
      ? NestFactory.create(AppModule, on, options)
      : NestFactory.create(AppModule, options));
    await app.listen(0, '127.0.0.1');
    await receives(app.getHttpServer());
    await app.close();
  }
});

test('Koa: the request and response of ctx, before the body parser and after it', async () => {
  const receive = newNodeReceiver();
  const plain = new Koa();
  plain.use(async (ctx) => {
    await receive(ctx.request, ctx.response);
  });
  await receives(createServer(plain.callback()));
  const parsed = new Koa();
  const again = newNodeReceiver();
  parsed.use(bodyParser());
  parsed.use(async (ctx) => {
    await again(ctx.request, ctx.response);
  });
  await receives(createServer(parsed.callback()));
});

test('h3 1: as Fetch route, and as listener that is returned', async () => {
  const app = h3.createApp();
  const [receive, listen] = [newFetchReceiver(), newNodeReceiver()];
  app.use(
    '/webhooks',
    h3.defineEventHandler((event) => receive(h3.toWebRequest(event))),
  );
  app.use(
    '/node',
    h3.defineEventHandler((event) => listen(event.node.req, event.node.res)),
  );
  await receives(createServer(h3.toNodeListener(app)));
  await receives(createServer(h3.toNodeListener(app)), '/node');
});

test('h3 2: event.req; the event itself is refused by name', async () => {
  const [receive, listen] = [newFetchReceiver(), newNodeReceiver()];
  const app = new H3();
  app.post('/webhooks', (event) => receive(event.req));
  app.post('/node', fromNodeHandler(listen));
  app.post('/wrong', (event) => Reflect.apply(receive, undefined, [event]));
  await receives(createServer(toNodeHandler(app)));
  await receives(createServer(toNodeHandler(app)), '/node');
  const server = serve(app, { port: 0, hostname: '127.0.0.1', silent: true });
  await server.ready();
  errors.length = 0;
  const headers = { ...sign({ rawBody, secret }) };
  const response = await fetch(new URL('/wrong', server.url), { method: 'POST', body: rawBody, headers });
  await server.close(true);
  assert.equal(response.status, 500);
  assert.match(String(errors[0]), /was passed H3Event\. Pass its req: event\.req in h3 2/);
});

test('AdonisJS: the request and response of the context, with its body parser and without', async () => {
  const parser = new BodyParserMiddlewareFactory().create();
  class Parser {
    handle = parser.handle.bind(parser);
  }
  for (const middleware of [[async () => ({ default: Parser })], []]) {
    const app = new AppFactory().create(new URL('./', import.meta.url), (path) => import(path));
    await app.init();
    const adonis = new ServerFactory().merge({ app }).create();
    const receive = newNodeReceiver();
    adonis.use(middleware);
    adonis.getRouter().post('/webhooks', ({ request, response }) => receive(request, response));
    await adonis.boot();
    await receives(createServer((request, response) => void adonis.handle(request, response)));
  }
});

// React Router is not installed: this is its route, called with what it documents.
test('React Router: the request of the arguments', async () => {
  const receive = newFetchReceiver();
  const action = ({ request }: { request: Request }) => receive(request);
  await receivesAt((init) => action({ request: new Request('http://shop.example/webhooks', init) }));
});
