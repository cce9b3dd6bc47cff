import type { Outgoing, Sent, WebhookTarget } from '../../doctor/delivery.js';
import { type Answer, post } from './post.js';

/** How long a receiver may take. */
export const answerWithinMs = 10_000;

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
    if (typeof target === 'function') return await call(target, outgoing, signal);
    return await post(target, { ...outgoing, signal, allowRemote });
  } catch (error) {
    if (timer.signal.aborted) return { error: `No answer within ${withinMs / 1000} s.`, code: 'timeout' };
    if (stop.aborted) return { error: 'The sandbox was closed.' };
    return failure(error);
  } finally {
    clearTimeout(timeout);
  }
}

async function call(
  handler: (request: Request) => Response | Promise<Response>,
  outgoing: Outgoing,
  signal: AbortSignal,
): Promise<Answer> {
  const over = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  const response = await Promise.race([handler(asRequest(handler, outgoing)), over]);
  if (!(response instanceof Response)) throw new TypeError('The handler returned no Response.');
  const body = await Promise.race([response.text(), over]);
  return { status: response.status, headers: Object.fromEntries(response.headers), body };
}

/** A delivery as the receiver's route sees it. */
export function asRequest(target: WebhookTarget | undefined, { headers, body }: Outgoing): Request {
  const url = typeof target === 'string' ? target : 'http://localhost/webhooks';
  return new Request(url, { method: 'POST', headers, body });
}

function failure(error: unknown): { error: string; code?: string } {
  if (!(error instanceof Error)) return { error: 'The handler threw something that is no Error.' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const message = error.message || (code ?? error.name);
  return { error: message.slice(0, 500), ...(code === undefined ? {} : { code }) };
}
