import { Buffer } from 'node:buffer';
import { invalidBody, longestBody, type RawBody } from './body.js';
import type { WebhookHeaders } from './headers.js';
import { type HandlerOptions, readOnOrAccept } from './on-or-accept.js';
import type { Reply, Responder } from './responder.js';

/** The parts of a `node:http`, Express or NestJS request that are used. */
export interface NodeRequest {
  /** Anything but POST gets 405. */
  method?: string | undefined;
  /** As Node parsed them. */
  headers: WebhookHeaders;
  /** The body as a body parser left it: bytes from `express.raw()` can be verified, a parsed object cannot. */
  body?: unknown;
  /** The bytes that NestJS keeps with `rawBody: true`. */
  rawBody?: unknown;
  /** Whether the stream has been read from. */
  readableDidRead?: boolean;
  /** Whether the connection was closed before the handler was called. */
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
  /** Set before `end()`. */
  statusCode: number;
  /** For `content-type` and `allow`. */
  setHeader(name: string, value: string): unknown;
  /** Sends the response. */
  end(body: string): unknown;
}

/**
 * A webhook receiver for `node:http` and frameworks on it: Express, NestJS, Fastify. It takes the same
 * options as `handler()` and responds in the same way.
 *
 * It reads the raw body itself, so mount it before `express.json()`. A body that `express.raw()` has read, or that
 * NestJS kept with `rawBody: true`, is used as it is; a parsed one is rejected, and the error names the line to change.
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
export function nodeHandler(options: HandlerOptions): (request: NodeRequest, response: NodeResponse) => void {
  return nodeListener(readOnOrAccept(options, 'webhooks.nodeHandler()'));
}

/** A request listener. What it returns settles once the response is sent, and never rejects: nobody waits for it. */
export function nodeListener({
  respond,
  report,
}: Responder): (request: NodeRequest, response: NodeResponse) => Promise<void> {
  return async (request, response) => {
    try {
      if (typeof request?.on !== 'function' || typeof response?.setHeader !== 'function') throw notNode();
      const { method, headers } = request;
      send(response, await respond({ method, headers, read: () => readNodeRequest(request) }));
    } catch (error) {
      // Such as a response that a middleware has sent already.
      await report(error);
    }
  };
}

/** What a Fetch route of Next.js, Hono or the sandbox passes, and what Fastify passes. */
function notNode(): Error {
  return invalidBody(
    'nodeHandler() takes the request and the response of node:http',
    'For Fetch requests, use handler(); in Fastify, pass request.raw and reply.raw',
  );
}

function send(response: NodeResponse, { status, body }: Reply): void {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  if (status === 405) response.setHeader('allow', 'POST');
  response.end(JSON.stringify(body));
}

async function readNodeRequest(request: NodeRequest): Promise<RawBody | undefined> {
  const given = [request.rawBody, request.body].find(isRaw);
  if (given !== undefined) return Buffer.byteLength(given) > longestBody ? undefined : given;
  if (!request.readableDidRead) return readStream(request);
  throw invalidBody(
    'a body parser has read the request before',
    'In Express, register this route before app.use(express.json()), alone or with express.raw({ type: "application/json" }); ' +
      'in NestJS, create the app with `rawBody: true`; in a Next.js API route, export `config = { api: { bodyParser: false } }`',
  );
}

function isRaw(body: unknown): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array;
}

/** By events, not `for await`: leaving that loop would close the connection before 413 could be sent. */
function readStream(request: NodeRequest): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    const close = () => reject(new Error('The connection closed before the body was complete.'));
    // Its events are over: waiting for them would never end.
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
