import type { Outgoing } from './delivery.js';
import type { ProbeName } from './diagnosis.js';
import { outgoing, randomText, type Signer, signDelivery } from './signed.js';
import { unevenlySpaced } from './spaced.js';

/** The throw-away order that the deliveries are about. */
export interface Order {
  id: string;
  amount: string;
  currency: string;
}

/** A probe: what is sent, and what a correct receiver does with it. */
export interface Probe {
  name: ProbeName;
  says: string;
  expected: 'accepted' | 'refused';
  make(signer: Signer, order: Order): Outgoing;
}

const day = 86_400_000;

/**
 * Eight deliveries about one order, and the first valid one again. The forged ones come first, so that a receiver that
 * drops duplicates before it verifies is not taken for one that verifies.
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
    make: ({ scheme }, order) => signDelivery(eventBody(order), { scheme, secret: `whsec_${randomText()}` }),
  },
  {
    name: 'tampered',
    says: 'amount raised after signing',
    expected: 'refused',
    make: (signer, order) => ({
      ...signDelivery(eventBody(order), signer),
      body: eventBody({ ...order, amount: `9${order.amount}` }),
    }),
  },
  {
    name: 'compact',
    says: 'valid, compact JSON',
    expected: 'accepted',
    make: (signer, order) => signDelivery(eventBody(order), signer),
  },
  {
    name: 'spaced',
    says: 'valid, JSON with uneven spaces',
    expected: 'accepted',
    make: (signer, order) => signDelivery(unevenlySpaced(paid(order)), signer),
  },
  {
    name: 'newline',
    says: 'valid, with a final line feed',
    expected: 'accepted',
    make: (signer, order) => signDelivery(`${unevenlySpaced(paid(order))}\n`, signer),
  },
  {
    name: 'non_ascii',
    says: 'valid, with letters beyond ASCII',
    expected: 'accepted',
    make: (signer, order) => signDelivery(withNote(order, 'Café ☕ 東京'), signer),
  },
  {
    name: 'stale',
    says: 'valid, signed a day ago',
    expected: 'refused',
    make: (signer, order) => signDelivery(eventBody(order), signer, Date.now() - day),
  },
  {
    name: 'duplicate',
    says: 'valid, the same order again',
    expected: 'accepted',
    make: (signer, order) => signDelivery(eventBody(order), signer),
  },
];

export const newOrderId = (): string => `ord_doctor${randomText()}`;

export const paid = ({ id, amount, currency }: Order) => ({
  type: 'order.paid',
  data: { order_id: id, amount, currency },
});

export const eventBody = (order: Order): string => JSON.stringify(paid(order));

/** The event with a field that the specification does not list. */
export function withNote(order: Order, note: string): string {
  const { type, data } = paid(order);
  return JSON.stringify({ type, data: { ...data, note } });
}
