import { Buffer } from 'node:buffer';
import { invalidBody, longestBody } from './body.js';
import { createReceiver, type HandlerOptions } from './receiver.js';

/**
 * A webhook receiver for Fetch-style routes: Next.js, Hono, Bun, Deno, Cloudflare Workers.
 *
 * It reads the raw body itself (at most 1 MiB, then 413), verifies it, and answers 200 when handled, 400 when not
 * authentic, 409 while another delivery of the order is being handled, and 500 when it is this side's fault, so
 * that the sender tries again. An order is handed over once, as far as `claim` can see: in memory by default.
 *
 * @throws {WebhookConfigError} an option is unknown or no function. A bad secret is answered 500 instead.
 * @example
 * ```ts
 * import { handler } from 'merchant-payments/webhooks';
 *
 * export const POST = handler({
 *   secret: process.env.PAYMENTS_WEBHOOK_SECRET,
 *   on: { 'order.paid': (event) => console.log(`fulfil ${event.data.order_id}`) },
 * });
 * ```
 */
export function handler(options: HandlerOptions): (request: Request) => Promise<Response> {
  const receive = createReceiver(options, 'webhooks.handler()');
  return async (request) => {
    const { method, headers } = request;
    const { status, body } = await receive({ method, headers, read: () => readRequest(request) });
    return Response.json(body, { status, headers: status === 405 ? { allow: 'POST' } : {} });
  };
}

async function readRequest(request: Request): Promise<Uint8Array | undefined> {
  if (typeof request.headers.get !== 'function') {
    throw invalidBody('webhooks.handler() takes Fetch requests', 'Use webhooks.nodeHandler() here');
  }
  if (request.bodyUsed) {
    throw invalidBody('the request was read before', 'Pass it unread, or read `request.clone()` before');
  }
  if (Number(request.headers.get('content-length')) > longestBody) return undefined;
  if (!request.body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = request.body.getReader();
  for (let part = await reader.read(); part.value; part = await reader.read()) {
    length += part.value.byteLength;
    if (length > longestBody) {
      await reader.cancel();
      return undefined;
    }
    chunks.push(part.value);
  }
  return Buffer.concat(chunks);
}
