import type { Outgoing } from './delivery.js';
import type { ProbeName } from './diagnosis.js';
import { newSecret, outgoing, randomText, type Signer, signDelivery } from './signed.js';
import { unevenlySpaced } from './spaced.js';

/** The test order of the deliveries. */
export interface Order {
  id: string;
  amount: string;
  currency: string;
}

/** A probe: what is sent, and what a correct receiver does with it. */
interface Probe {
  says: string;
  expected: 'accepted' | 'refused';
  make(order: Order, signer: Signer): Outgoing;
}

const day = 86_400_000;
const refused = (says: string, make: Probe['make']): Probe => ({ says, expected: 'refused', make });
const accepted = (says: string, make: Probe['make']): Probe => ({ says, expected: 'accepted', make });
const valid: Probe['make'] = (order, signer) => signDelivery(eventBody(order), signer);

/**
 * Eight deliveries about one order, and the first valid one again. The forged ones come first, so that a receiver that
 * drops duplicates before it verifies is not mistaken for one that verifies.
 */
export const probes: Readonly<Record<ProbeName, Probe>> = {
  unsigned: refused('no signature at all', (order) => outgoing(eventBody(order), {})),
  forged: refused('signed with a different secret', (order, { scheme }) =>
    valid(order, { scheme, secret: newSecret(scheme) }),
  ),
  tampered: refused('amount raised after signing', (order, signer) => ({
    ...valid(order, signer),
    body: eventBody({ ...order, amount: `9${order.amount}` }),
  })),
  compact: accepted('valid, compact JSON', valid),
  spaced: accepted('valid, JSON with uneven spaces', (order, signer) =>
    signDelivery(unevenlySpaced(paid(order)), signer),
  ),
  newline: accepted('valid, with a trailing newline', (order, signer) =>
    signDelivery(`${unevenlySpaced(paid(order))}\n`, signer),
  ),
  non_ascii: accepted('valid, with non-ASCII letters', (order, signer) =>
    signDelivery(withNote(order, 'Café ☕ 東京'), signer),
  ),
  stale: refused('valid, signed a day ago', (order, signer) =>
    signDelivery(eventBody(order), signer, Date.now() - day),
  ),
  duplicate: accepted('valid, the same order again', valid),
};

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
