import { Agenda } from './clock.js';
import { type IdKind, Ids } from './ids.js';
import type { CheckoutRecord, EventRecord, OrderRecord, ProductRecord } from './records.js';

/** The account's money, in hundredths. */
export interface Ledger {
  available: bigint;
  pending: bigint;
  frozen: bigint;
  updatedAt: number;
}

/** Objects of one kind that a sandbox holds at most, so that a runaway loop ends in an error and not in a crash. */
export const capacity = 100_000;

/** All that a sandbox remembers. Plain maps in the order of creation. */
export class Store {
  readonly products = new Map<string, ProductRecord>();
  readonly checkouts = new Map<string, CheckoutRecord>();
  readonly orders = new Map<string, OrderRecord>();
  readonly events = new Map<string, EventRecord>();
  readonly agenda = new Agenda();
  ledger: Ledger;
  #ids: Ids;

  constructor(now: number, seed: number | undefined) {
    this.ledger = emptyLedger(now);
    this.#ids = new Ids(seed, undefined);
  }

  nextId(kind: IdKind): string {
    return this.#ids.next(kind);
  }

  /** What `nextId` goes on from, for a snapshot. */
  get ids(): Pick<Ids, 'seed' | 'counts'> {
    return this.#ids;
  }

  clear(now: number, seed: number | undefined, counts?: Readonly<Record<IdKind, number>>): void {
    for (const map of [this.products, this.checkouts, this.orders, this.events]) map.clear();
    this.agenda.clear();
    this.ledger = emptyLedger(now);
    this.#ids = new Ids(seed, counts);
  }
}

const emptyLedger = (now: number): Ledger => ({ available: 0n, pending: 0n, frozen: 0n, updatedAt: now });
