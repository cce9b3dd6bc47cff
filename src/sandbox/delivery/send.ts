import type { Outgoing, Sent, WebhookTarget } from '../../sending/delivery.js';
import { untilAborted } from '../abort.js';
import { post } from './post.js';

/** Sends a delivery once, to a URL or to a route handler itself. Never rejects. */
export async function send(
  target: WebhookTarget,
  outgoing: Outgoing,
  { withinMs, allowRemote, stop }: { withinMs: number; allowRemote: boolean; stop: AbortSignal },
): Promise<Sent> {
  const timer = new AbortController();
  const timeout = setTimeout(() => timer.abort(), withinMs);
  const signal = AbortSignal.any([timer.signal, stop]);
  try {
    stop.throwIfAborted();
    if (typeof target === 'function') return await untilAborted(call(target, outgoing), signal);
    return await post(target, { ...outgoing, signal, allowRemote });
  } catch (error) {
    if (timer.signal.aborted) return { error: `No response within ${withinMs / 1000} s.`, code: 'timeout' };
    return failure(stop.aborted ? stop.reason : error);
  } finally {
    clearTimeout(timeout);
  }
}

async function call(handler: Exclude<WebhookTarget, string>, outgoing: Outgoing): Promise<Sent> {
  const response = await handler(asRequest(handler, outgoing));
  if (!(response instanceof Response)) throw new TypeError('The handler returned no Response.');
  const { status, headers } = response;
  return { status, headers: Object.fromEntries(headers), body: await response.text() };
}

/** A delivery as the receiver's route sees it. */
export function asRequest(
  target: WebhookTarget | undefined,
  { headers, repeated = {}, body }: Outgoing,
): Request {
  const url = typeof target === 'string' ? target : 'http://localhost/webhooks';
  const request = new Request(url, { method: 'POST', headers, body });
  for (const [name, value] of Object.entries(repeated)) request.headers.append(name, value);
  return request;
}

function failure(error: unknown): Sent {
  if (!(error instanceof Error)) return { error: 'The handler threw something that is not an Error.' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const message = error.message || (code ?? error.name);
  return { error: message.trim().slice(0, 500), ...(code === undefined ? {} : { code }) };
}
