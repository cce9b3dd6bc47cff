import { Buffer } from 'node:buffer';
import type { Outgoing } from '../sending/delivery.js';
import { version } from '../version.js';
import { type SignatureScheme, sign } from '../webhooks/index.js';
import { probeAgent } from '../webhooks/probe.js';
import { readScheme } from '../webhooks/scheme.js';
import { macOf } from '../webhooks/signature.js';

export type Order = { id: string; amount: string; currency: string };

export const paidEvent = ({ id, amount, currency }: Order) => ({
  type: 'order.paid',
  data: { order_id: id, amount, currency },
});
export const eventBody = (order: Order): string => JSON.stringify(paidEvent(order));

export type Signer = { secret: string; scheme: Partial<SignatureScheme> };

export function toOutgoing(body: string, headers: Record<string, string>): Outgoing {
  const own = { 'content-type': 'application/json', 'user-agent': `${probeAgent}${version}` };
  return { body, headers: { ...own, ...headers } };
}

export function signDelivery(body: string, { secret, scheme }: Signer, time = Date.now()): Outgoing {
  return toOutgoing(body, sign({ rawBody: body, secret, scheme, timestamp: new Date(time) }));
}

/** The values that a faulty receiver uses instead of the secret, the body, the scheme's content or the time. */
export type Mistake = { key?: string; text?: string; content?: string; timestamp?: string };

/** Makes a delivery with the signature that a receiver's mistake expects. */
export function signMistakenly(mistake: Mistake, order: Order, signer: Signer): Outgoing {
  const body = eventBody(order);
  const scheme = readScheme({ ...signer.scheme, ...(mistake.content && { content: mistake.content }) });
  const usual = signDelivery(body, signer).headers[scheme.timestampHeader] ?? '';
  const { key = signer.secret, text = body, timestamp = usual } = mistake;
  const mac = macOf(key, timestamp, Buffer.from(text), scheme);
  return toOutgoing(body, {
    [scheme.signatureHeader]: scheme.prefix + mac.toString(scheme.encoding),
    [scheme.timestampHeader]: timestamp,
  });
}
