import type { Sent } from '../sending/delivery.js';

/** What a sender sees: a route handler that throws becomes a 500 in any server. */
export function asServed(sent: Sent, target: string): Sent {
  const thrown = sent.status === undefined && sent.code !== 'timeout' && !URL.canParse(target);
  return thrown ? { status: 500, headers: {}, body: sent.error } : sent;
}
