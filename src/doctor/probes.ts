import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { version } from '../version.js';
import { type SignatureScheme, sign } from '../webhooks/index.js';
import { readScheme } from '../webhooks/scheme.js';
import { macOf } from '../webhooks/signature.js';
import type { Outgoing } from './delivery.js';
import type { ProbeName } from './diagnosis.js';
import type { KnownScheme } from './schemes.js';
import { spaced } from './spaced.js';

/** How the sandbox signs. */
export interface Signer {
  secret: string;
  scheme: Partial<SignatureScheme>;
}

/** A probe: what is sent, and what a right receiver does with it. */
export interface Probe {
  name: ProbeName;
  says: string;
  expected: 'accepted' | 'refused';
  make(signer: Signer, order: string): Outgoing;
}

const day = 86_400_000;

/**
 * Eight deliveries about one throw-away order, and the first right one again. The false ones come first, so that a
 * receiver that drops duplicates before it verifies is not taken for one that verifies.
 */
export const probes: readonly Probe[] = [
  {
    name: 'unsigned',
    says: 'no signature at all',
    expected: 'refused',
    make: (_, order) => outgoing(eventBody(order), {}),
  },
  {
    name: 'forged',
    says: 'signed with another secret',
    expected: 'refused',
    make: ({ scheme }, order) => signed(eventBody(order), { scheme, secret: `whsec_${randomText()}` }),
  },
  {
    name: 'tampered',
    says: 'amount raised after signing',
    expected: 'refused',
    make: (signer, order) => ({
      ...signed(eventBody(order), signer),
      body: eventBody(order).replace('19.90', '919.90'),
    }),
  },
  {
    name: 'compact',
    says: 'right, compact JSON',
    expected: 'accepted',
    make: (signer, order) => signed(eventBody(order), signer),
  },
  {
    name: 'spaced',
    says: 'right, JSON with spaces',
    expected: 'accepted',
    make: (signer, order) => signed(spaced(paid(order)), signer),
  },
  {
    name: 'newline',
    says: 'right, with a final line feed',
    expected: 'accepted',
    make: (signer, order) => signed(`${spaced(paid(order))}\n`, signer),
  },
  {
    name: 'non_ascii',
    says: 'right, with letters beyond ASCII',
    expected: 'accepted',
    make: (signer, order) => signed(withNote(order, 'Café ☕ 東京'), signer),
  },
  {
    name: 'stale',
    says: 'right, signed a day ago',
    expected: 'refused',
    make: (signer, order) => signed(eventBody(order), signer, Date.now() - day),
  },
  {
    name: 'duplicate',
    says: 'the same order again',
    expected: 'accepted',
    make: (signer, order) => signed(eventBody(order), signer),
  },
];

/** Characters that nobody can guess. */
export const randomText = (): string => randomBytes(10).toString('hex');

export const newOrder = (): string => `ord_doctor${randomText()}`;

export const paid = (order: string) => ({
  type: 'order.paid',
  data: { order_id: order, amount: '19.90', currency: 'USD' },
});

export const eventBody = (order: string): string => JSON.stringify(paid(order));

/** The event with a field that the specification does not list. */
export function withNote(order: string, note: string): string {
  const { type, data } = paid(order);
  return JSON.stringify({ type, data: { ...data, note } });
}

export function signed(body: string, { secret, scheme }: Signer, time = Date.now()): Outgoing {
  return outgoing(body, sign({ rawBody: body, secret, scheme, timestamp: new Date(time) }));
}

/** A body with the signature that a receiver's mistake would expect: any key, any text in the place of the body. */
export function signedBy(mistake: { key: string; text: string }, body: string, signer: Signer): Outgoing {
  const scheme = readScheme(signer.scheme);
  const own = signed(body, signer).headers;
  const timestamp = own[scheme.timestampHeader] ?? '';
  const mac = Buffer.from(macOf(mistake.key, timestamp, Buffer.from(mistake.text), scheme));
  return outgoing(body, {
    [scheme.signatureHeader]: scheme.prefix + mac.toString(scheme.encoding),
    [scheme.timestampHeader]: timestamp,
  });
}

/** A body signed by a scheme of the table; `undefined` where the secret is no key for it. */
export function signedAs(known: KnownScheme, body: string, { secret, scheme }: Signer): Outgoing | undefined {
  const { signatureHeader, timestampHeader } = readScheme(scheme);
  const { separator: _, ...written } = known.scheme;
  try {
    const own = sign({
      rawBody: body,
      secret,
      scheme: { ...written, prefix: '', signatureHeader, timestampHeader, timestamp: known.unit },
    });
    const timestamp = own[timestampHeader] ?? '';
    const signature = known.header
      .replace('{timestamp}', timestamp)
      .replace('{signature}', own[signatureHeader] ?? '');
    return outgoing(body, { [signatureHeader]: signature, [timestampHeader]: timestamp });
  } catch {
    return undefined;
  }
}

export function outgoing(body: string, headers: Record<string, string>): Outgoing {
  const names = { 'content-type': 'application/json', 'user-agent': `merchant-payments-doctor/${version}` };
  return { body, headers: { ...names, ...headers } };
}
