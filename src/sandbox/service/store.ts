import { quote } from '../../input/visible.js';
import type { Product } from '../../schemas/product.js';
import { SandboxError } from '../checks.js';
import { Agenda } from './clock.js';
import type { SandboxEvent } from './event.js';
import type { Ids } from './ids.js';
import type { Ledger } from './money.js';
import type { SandboxOrder, StoredCheckout } from './records.js';

/** Maximum number of objects of one kind, so that a runaway loop ends in an error and not in a crash. */
export const capacity = 100_000;

/** All data of a sandbox. Maps keep the order of creation. */
export class Store {
  readonly products = new Map<string, Product>();
  readonly checkouts = new Map<string, StoredCheckout>();
  readonly orders = new Map<string, SandboxOrder>();
  readonly events = new Map<string, SandboxEvent>();
  readonly agenda = new Agenda();
  ledger: Ledger;
  readonly ids: Ids;

  constructor(now: number, seed: number | undefined) {
    this.ledger = { available: 0n, pending: 0n, updatedAt: new Date(now) };
    this.ids = { seed, counts: { prod: 0, chk: 0, ord: 0, evt: 0 } };
  }

  addCheckout(checkout: StoredCheckout): void {
    const { id, expiresAt } = checkout;
    this.checkouts.set(id, checkout);
    this.agenda.add({ at: expiresAt.getTime(), kind: 'expire', id });
  }

  addOrder(order: SandboxOrder): void {
    const { id, settlesAt } = order;
    this.orders.set(id, order);
    this.agenda.add({ at: settlesAt.getTime(), kind: 'settle', id });
  }
}

/** Returns the object with an id, which `ref` is or contains. Throws `unknown_id` if there is none. */
export function findIn<One>(map: ReadonlyMap<string, One>, noun: string, ref: unknown, id = ref): One {
  const one = typeof id === 'string' ? map.get(id) : undefined;
  if (one) return one;
  const wanted = noun === 'checkout' ? 'the id or the url' : 'the id';
  const problem = `There is no ${noun} ${quote(ref)}. Pass ${wanted} of one.`;
  throw new SandboxError(typeof ref === 'string' ? 'unknown_id' : 'invalid_options', problem);
}
