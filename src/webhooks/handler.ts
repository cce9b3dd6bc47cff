import { Buffer } from 'node:buffer';
import { hasMethods, propertyOf } from '../input/functions.js';
import { invalidBody, longestBody } from './body.js';
import { type HandlerOptions, readOnOrAccept } from './on-or-accept.js';
import type { Respond } from './responder.js';

/**
 * Returns a webhook receiver for Fetch-style routes: Next.js, Hono, Bun, Deno, Cloudflare Workers.
 *
 * The receiver reads the raw body itself and verifies it. It responds with 413 if the body is longer than 1 MiB, 400 if it
 * is not authentic, and 500 if the options or your function fail.
 *
 * With `on`, your function runs inside the request, and the response is 200 once your function has finished. A delivery
 * that arrives again gets 409 while the first is handled and 200 afterwards, as far as this process remembers; a delivery of
 * the same order with another content gets 409. Nothing is stored: if your function fails and the service does not retry,
 * the event is lost.
 *
 * With `accept`, you store the delivery, and 200 means that it is stored. `merchant-payments/inbox` stores deliveries in
 * SQLite or PostgreSQL.
 *
 * @throws {WebhookConfigError} an option is invalid. Only a `secret` that is a function is checked later, at the first
 * delivery: 500 and `onError`.
 * @example
 * ```ts
 * import { handler } from 'merchant-payments/webhooks';
 *
 * export const POST = handler({
 *   secret: () => process.env.PAYMENTS_WEBHOOK_SECRET,
 *   on: {
 *     'order.paid': (event) => {
 *       console.log(`fulfil ${event.data.order_id}`);
 *     },
 *   },
 * });
 * ```
 * @example
 * ```ts no-run: needs your queue, such as BullMQ's, whose job ids hold no colon
 * import { handler } from 'merchant-payments/webhooks';
 *
 * declare const queue: { add(name: string, data: object, options: { jobId: string }): Promise<unknown> };
 *
 * export const POST = handler({
 *   secret: () => process.env.PAYMENTS_WEBHOOK_SECRET,
 *   accept: async (delivery) => {
 *     const jobId = encodeURIComponent(`${delivery.key}#${delivery.digest}`);
 *     await queue.add('webhook', delivery, { jobId });
 *   },
 * });
 * ```
 */
export function handler(options: HandlerOptions): (request: Request) => Promise<Response> {
  return fetchHandler(readOnOrAccept(options, 'webhooks.handler()').respond);
}

/** Returns a receiver of Fetch requests that passes what it receives to a responder. */
export function fetchHandler(respond: Respond): (request: Request) => Promise<Response> {
  return async (request) => {
    const { method = 'POST', headers }: Partial<Request> = isRequest(request) ? request : {};
    const { status, body } = await respond({ method, headers, read: () => readRequest(request) });
    return Response.json(body, { status, headers: status === 405 ? { allow: 'POST' } : {} });
  };
}

/** True for a Fetch request of any realm or library. */
function isRequest(value: unknown): value is Request {
  return hasMethods<Request>(value, 'arrayBuffer') && hasMethods(value.headers, 'get');
}

/** The paths at which frameworks keep the request in the argument of their routes, and how an error names each. */
const requestPlaces = new Map([
  ['request', 'request, as in SvelteKit and Astro'],
  ['req', 'req: event.req in h3 2'],
  ['raw', 'raw: c.req.raw in Hono'],
  ['req.raw', 'req.raw: c.req.raw in Hono'],
]);

/** Returns an error that names the value that was passed instead of a request. */
function noRequestError(given: unknown): Error {
  for (const [path, place] of requestPlaces)
    if (isRequest(propertyAt(given, path)))
      return invalidBody(
        `webhooks.handler() takes a Fetch Request, and was passed ${nameOf(given)}`,
        `Pass its ${place}`,
      );
  if (hasMethods(given, 'on') || propertyOf(given, 'headers') !== undefined)
    return invalidBody('webhooks.handler() takes Fetch requests', 'Use webhooks.nodeHandler() here');
  return invalidBody('no request was passed', 'With Hono, pass c.req.raw');
}

function nameOf(given: unknown): string {
  const name = propertyOf(propertyOf(given, 'constructor'), 'name');
  const isClass = typeof name === 'string' && /^[A-Z]\w{0,40}$/.test(name) && name !== 'Object';
  return isClass ? name : 'another object';
}

function propertyAt(given: unknown, path: string): unknown {
  return path.split('.').reduce((value: unknown, name) => propertyOf(value, name), given);
}

async function readRequest(request: Request): Promise<Uint8Array | undefined> {
  if (!isRequest(request)) throw noRequestError(request);
  if (request.bodyUsed) {
    throw invalidBody('the request was read before', 'Pass it unread, or read `request.clone()` before');
  }
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = request.body.getReader();
  for (let part = await reader.read(); part.value; part = await reader.read()) {
    length += part.value.byteLength;
    if (length <= longestBody) chunks.push(part.value);
    // Up to this length the rest is read and dropped, so that the next delivery on the connection gets through.
    else if (length > 9 * longestBody) {
      await reader.cancel();
      break;
    }
  }
  const declared = Number(request.headers.get('content-length'));
  return length > longestBody || declared > longestBody ? undefined : Buffer.concat(chunks);
}
