import { Buffer } from 'node:buffer';
import type { Outgoing } from '../sending/delivery.js';
import { version } from '../version.js';
import { type SignatureScheme, sign } from '../webhooks/index.js';
import { readScheme } from '../webhooks/scheme.js';
import { macOf } from '../webhooks/signature.js';

export type Signer = { secret: string; scheme: Partial<SignatureScheme> };

export function outgoing(body: string, headers: Record<string, string>): Outgoing {
  const own = { 'content-type': 'application/json', 'user-agent': `merchant-payments-doctor/${version}` };
  return { body, headers: { ...own, ...headers } };
}

export function signDelivery(body: string, { secret, scheme }: Signer, time = Date.now()): Outgoing {
  return outgoing(body, sign({ rawBody: body, secret, scheme, timestamp: new Date(time) }));
}

/** How a receiver's mistake makes a signature: over `text`, or over the timestamp alone. Default timestamp: the current time. */
export type Mistake = { key: string; text?: string | undefined; timestamp?: string };

/** A body with the signature that a receiver's mistake expects: made with any key, over any text. */
export function signedBy({ key, text, timestamp: given }: Mistake, body: string, signer: Signer): Outgoing {
  const scheme = readScheme(signer.scheme);
  const timestamp = given ?? signDelivery(body, signer).headers[scheme.timestampHeader] ?? '';
  const mac =
    text === undefined
      ? macOf(key, '', Buffer.from(timestamp), { ...scheme, before: [''], after: [''] })
      : macOf(key, timestamp, Buffer.from(text), scheme);
  return outgoing(body, {
    [scheme.signatureHeader]: scheme.prefix + mac.toString(scheme.encoding),
    [scheme.timestampHeader]: timestamp,
  });
}
