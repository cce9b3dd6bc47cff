import { SandboxError, shown } from '../sandbox-error.js';
import type { SandboxOrder, StoredCheckout } from './checkout.js';
import { Agenda } from './clock.js';
import type { SandboxEvent } from './event.js';
import { type Ids, newIds } from './ids.js';
import type { Ledger } from './money.js';
import type { Product } from './product.js';

/** The most objects of one kind, so that a runaway loop ends in an error and not in a crash. */
export const capacity = 100_000;

/** All data of a sandbox. Maps keep the order of creation. */
export class Store {
  readonly products = new Map<string, Product>();
  readonly checkouts = new Map<string, StoredCheckout>();
  readonly orders = new Map<string, SandboxOrder>();
  readonly events = new Map<string, SandboxEvent>();
  readonly agenda = new Agenda();
  ledger: Ledger;
  ids: Ids;

  constructor(now: number, seed: number | undefined) {
    this.ledger = emptyLedger(now);
    this.ids = newIds(seed);
  }

  clear(now: number, seed: number | undefined): void {
    for (const map of [this.products, this.checkouts, this.orders, this.events]) map.clear();
    this.agenda.clear();
    this.ledger = emptyLedger(now);
    this.ids = newIds(seed);
  }

  addCheckout(checkout: StoredCheckout): void {
    const { id, state, expiresAt } = checkout;
    this.checkouts.set(id, checkout);
    if (state === 'open' || state === 'processing')
      this.agenda.add({ at: expiresAt.getTime(), kind: 'expire', id });
  }

  addOrder(order: SandboxOrder): void {
    const { id, credited, settled, settlesAt } = order;
    this.orders.set(id, order);
    if (!settled && credited !== undefined) this.agenda.add({ at: settlesAt.getTime(), kind: 'settle', id });
  }
}

/** The object that `ref` names by its id, or by a url with the id in it. */
export function found<One>(map: ReadonlyMap<string, One>, noun: string, ref: unknown, id = ref): One {
  const one = typeof id === 'string' ? map.get(id) : undefined;
  if (one) return one;
  const wanted = noun === 'checkout' ? 'the id or the url' : 'the id';
  const problem = `There is no ${noun} ${shown(ref)}. Pass ${wanted} of one.`;
  throw new SandboxError(typeof ref === 'string' ? 'unknown_id' : 'invalid_options', problem);
}

const emptyLedger = (now: number): Ledger => ({
  available: 0n,
  pending: 0n,
  frozen: 0n,
  updatedAt: new Date(now),
});
