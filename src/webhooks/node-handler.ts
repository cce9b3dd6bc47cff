import { Buffer } from 'node:buffer';
import { hasMethods, propertyOf } from '../input/functions.js';
import { invalidBody, longestBody, type RawBody } from './body.js';
import type { WebhookHeaders } from './headers.js';
import { type HandlerOptions, readOnOrAccept } from './on-or-accept.js';
import { invalidOptions } from './options.js';
import type { Reply, Responder } from './responder.js';

/** The parts of a `node:http`, Express or NestJS request that are used. */
export interface NodeRequest {
  /** The HTTP method. Any method but POST gets 405. */
  method?: string | undefined;
  /** The headers as Node parsed them. */
  headers: WebhookHeaders;
  /** The body as a body parser left it: bytes from `express.raw()` can be verified, a parsed object cannot. */
  body?: unknown;
  /** The bytes that NestJS keeps with `rawBody: true`. */
  rawBody?: unknown;
  /** True if the stream has been read from. */
  readableDidRead?: boolean;
  /** True if the connection was closed before the handler was called. */
  destroyed?: boolean;
  /** A part of the body arrived. */
  on(event: 'data', listener: (chunk: Uint8Array | string) => void): unknown;
  /** The request failed. */
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** The body is complete, or the connection was closed. */
  on(event: 'end' | 'close', listener: () => void): unknown;
}

/** The parts of a `node:http`, Express or NestJS response that are used. */
export interface NodeResponse {
  /** The status, which is set before `end()`. */
  statusCode: number;
  /** True if a response was sent already. */
  headersSent?: boolean;
  /** Sets `content-type` and `allow`. */
  setHeader(name: string, value: string): unknown;
  /** Sends the response. */
  end(body: string): unknown;
}

/**
 * A framework's request that holds the request of `node:http`: as `raw` in Fastify and in NestJS on Fastify, as `req` in Koa,
 * as `request` in AdonisJS.
 */
export type FrameworkRequest = ({ raw: NodeRequest } | { req: NodeRequest } | { request: NodeRequest }) & {
  /** The body as the framework left it: bytes or text can be verified, a parsed object cannot. */
  body?: unknown;
  /** The bytes that NestJS keeps with `rawBody: true`, and that fastify-raw-body and koa-bodyparser keep. */
  rawBody?: unknown;
};

/**
 * A framework's response that holds the response of `node:http`: as `raw` in Fastify and in NestJS on Fastify, as `res` in
 * Koa, as `response` in AdonisJS.
 */
export type FrameworkResponse = { raw: NodeResponse } | { res: NodeResponse } | { response: NodeResponse };

/**
 * A request listener of `node:http`, Express, Fastify and others. It returns a promise that never rejects and resolves once the
 * response was written. `Result` lets a place such as `createServer()` ignore that promise; do not pass it yourself.
 */
export type NodeListener = <Result = Promise<void>>(
  request: NodeRequest | FrameworkRequest,
  response: NodeResponse | FrameworkResponse,
) => Result;

/**
 * Returns a webhook receiver for `node:http` and the frameworks on it: Express, NestJS, Fastify, Koa, h3 1, AdonisJS. It
 * takes the same options as `handler()` and responds in the same way.
 *
 * The receiver reads the raw body itself, so mount it before `express.json()`. A body that `express.raw()` has read, or that
 * NestJS kept with `rawBody: true`, is used unchanged; a parsed body is rejected, and the error names the line to change. In
 * Fastify, pass `request` and `reply` themselves; in Koa `ctx.request` and `ctx.response`.
 *
 * Koa, h3 and others respond by themselves once your route has returned: await or return what the listener returns.
 *
 * @throws {WebhookConfigError} an option is invalid. Only a `secret` that is a function is checked later, at the first
 * delivery: 500 and `onError`.
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { nodeHandler } from 'merchant-payments/webhooks';
 *
 * const receive = nodeHandler({
 *   secret: () => process.env.PAYMENTS_WEBHOOK_SECRET,
 *   on: {
 *     'order.paid': (event) => {
 *       console.log(`fulfil ${event.data.order_id}`);
 *     },
 *   },
 * });
 * const server = createServer(receive);
 * ```
 */
export function nodeHandler(options: HandlerOptions): NodeListener {
  return nodeListener(readOnOrAccept(options, 'webhooks.nodeHandler()'));
}

/** Returns a request listener that passes what it receives to a responder. */
export function nodeListener({ respond, report }: Responder): NodeListener {
  function listen<Result>(request: unknown, response: unknown): Result;
  async function listen(request: unknown, response: unknown): Promise<void> {
    try {
      const incoming = unwrap<NodeRequest>(request, ['raw', 'req', 'request'], 'on');
      const outgoing = unwrap<NodeResponse>(response, ['raw', 'res', 'response'], 'setHeader');
      if (!incoming || !outgoing) throw notNodeError();
      // Without hijack(), Fastify sends a response of its own once the route has returned.
      if (hasMethods<{ hijack(): void }>(response, 'hijack')) response.hijack();
      const { method, headers } = incoming.inner;
      send(
        outgoing.inner,
        await respond({ method, headers, read: () => readNodeRequest(request, incoming) }),
      );
    } catch (error) {
      await report(error);
    }
  }
  return listen;
}

/** An object of `node:http`, and the property of a framework's object that holds it, if one does. */
interface Unwrapped<Inner> {
  inner: Inner;
  at?: string;
}

/** Finds the object of `node:http`, which has `method`: the given object, or the value of one of its properties. */
function unwrap<Inner>(given: unknown, properties: string[], method: string): Unwrapped<Inner> | undefined {
  if (hasMethods<Inner>(given, method)) return { inner: given };
  for (const at of properties) {
    const inner = propertyOf(given, at);
    if (hasMethods<Inner>(inner, method)) return { inner, at };
  }
  return undefined;
}

/** Returns the error for other arguments, such as a Fetch request from a route of Next.js or Hono. */
function notNodeError(): Error {
  return invalidBody(
    'nodeHandler() takes the request and the response of node:http, or those of Express, Fastify, Koa or AdonisJS',
    'For Fetch requests, use handler()',
  );
}

function send(response: NodeResponse, { status, body }: Reply): void {
  if (response.headersSent) {
    throw invalidOptions(
      `The webhook was answered before its handler had finished, which would have responded with ${status}. Await or return what ` +
        'nodeHandler() returns, as frameworks respond once a route has returned: `await receive(ctx.request, ctx.response)` in Koa, ' +
        '`return receive(event.node.req, event.node.res)` in h3.',
    );
  }
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  if (status === 405) response.setHeader('allow', 'POST');
  response.end(JSON.stringify(body));
}

async function readNodeRequest(
  outer: unknown,
  { inner, at }: Unwrapped<NodeRequest>,
): Promise<RawBody | undefined> {
  const kept = [propertyOf(outer, 'rawBody'), propertyOf(outer, 'body'), inner.rawBody, inner.body];
  // AdonisJS keeps the body behind request.raw().
  if (hasMethods<{ raw(): unknown }>(outer, 'raw')) kept.push(outer.raw());
  const given = kept.find(isRaw);
  if (given !== undefined) return Buffer.byteLength(given) > longestBody ? undefined : given;
  if (!inner.readableDidRead) return readStream(inner);
  throw invalidBody('a body parser has read the request before', rawBodyAdvice.get(at) ?? '');
}

/** Advice on getting the raw body, by the property in which a framework keeps the request of `node:http`. */
const rawBodyAdvice = new Map([
  [
    undefined,
    'In Express, register this route before app.use(express.json()), alone or with express.raw({ type: "application/json" }); ' +
      'in NestJS, create the app with `rawBody: true`; in a Next.js API route, export `config = { api: { bodyParser: false } }`; ' +
      'in Fastify and NestJS on it, pass request and reply themselves, in Koa ctx.request and ctx.response',
  ],
  [
    'raw',
    'In Fastify, register fastify-raw-body before this route; in NestJS, create the app with `rawBody: true`, and do not switch ' +
      'its body parser off',
  ],
  [
    'req',
    'In Koa, use this route before the body parser, or take koa-bodyparser, which keeps ctx.request.rawBody',
  ],
  ['request', 'In AdonisJS, let the body parser read JSON, of which it keeps request.raw()'],
]);

function isRaw(body: unknown): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array;
}

/** Reads the body with event listeners: leaving a `for await` loop would close the connection before 413 could be sent. */
function readStream(request: NodeRequest): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    const close = () => reject(new Error('The connection closed before the body was complete.'));
    // A closed request emits no more events, so waiting for them would never end.
    if (request.destroyed) close();
    request.on('data', (chunk) => {
      length += chunk.length;
      if (length <= longestBody) chunks.push(Buffer.from(chunk));
      else {
        // The rest is read and dropped, so that the next delivery on the connection gets through.
        chunks.length = 0;
        resolve(undefined);
      }
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
    request.on('close', close);
  });
}
