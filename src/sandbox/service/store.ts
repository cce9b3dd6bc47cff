import * as z from 'zod/mini';
import { limits } from '../../schemas/params.js';
import type { Product } from '../../schemas/product.js';
import { SandboxError, shown } from '../checks.js';
import { Agenda, type Clock } from './clock.js';
import type { SandboxEvent } from './event.js';
import type { Ids } from './ids.js';
import type { Ledger } from './money.js';
import type { SandboxOrder, StoredCheckout } from './records.js';

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

/** The object that `ref` names by its id, or by a url with the id in it. */
export function found<One>(map: ReadonlyMap<string, One>, noun: string, ref: unknown, id = ref): One {
  const one = typeof id === 'string' ? map.get(id) : undefined;
  if (one) return one;
  const wanted = noun === 'checkout' ? 'the id or the url' : 'the id';
  const problem = `There is no ${noun} ${shown(ref)}. Pass ${wanted} of one.`;
  throw new SandboxError(typeof ref === 'string' ? 'unknown_id' : 'invalid_options', problem);
}

/** All data of a sandbox, as JSON. It holds the key and the secret. Its parts may change. */
export interface SandboxSnapshot {
  /** Version of the format. */
  version: 2;
  [part: string]: unknown;
}

const text = z.string();
const money = text.check(z.regex(limits.price));
const counts = z.record(z.enum(['prod', 'chk', 'ord', 'evt']), z.number());
const cents = z.coerce.bigint();
const date = z.coerce.date();

/** Objects that the sandbox wrote itself. Read are their dates, which JSON made text, and what pages rely on. */
function written<One>(fields: z.core.$ZodLooseShape) {
  const read = z.looseObject({ id: text, ...fields });
  return z.array(z.pipe(read, z.custom<One, z.output<typeof read>>()));
}

const snapshot = z.object({
  version: z.literal(2),
  apiKey: text,
  webhookSecret: text,
  clock: z.object({ frozenAt: z.optional(z.number()), offset: z.number() }),
  ids: z.object({ seed: z.optional(z.number()), counts }),
  ledger: z.object({ available: cents, pending: cents, updatedAt: date }),
  products: written<Product>({ name: text, price: money, createdAt: date, updatedAt: date }),
  checkouts: written<StoredCheckout>({ productId: text, amount: money, createdAt: date, expiresAt: date }),
  orders: written<SandboxOrder>({ amount: money, paidAt: date, settlesAt: date }),
  events: written<SandboxEvent>({
    data: z.looseObject({ order_id: text }),
    body: text,
    createdAt: date,
    nextAttemptAt: z.optional(date),
    attempts: z.array(z.looseObject({ at: date })),
  }),
});

export type SnapshotContent = z.output<typeof snapshot>;

/** Reads what `snapshot()` returned, even after a round trip through JSON. */
export function readSnapshot(value: unknown): SnapshotContent {
  const result = snapshot.safeParse(value);
  if (result.success) return result.data;
  const where = result.error.issues[0]?.path.join('.') || 'the whole of it';
  const problem = `This is not a snapshot that this version can read (${where}).`;
  throw new SandboxError('invalid_options', `${problem} Pass what snapshot() returned.`);
}

export function takeSnapshot(
  { agenda: _, ...data }: Store,
  { state: clock }: Clock,
  { apiKey, webhookSecret }: { apiKey: string; webhookSecret: string },
): SandboxSnapshot {
  const written = JSON.stringify({ version: 2, apiKey, webhookSecret, clock, ...data }, (_, value) => {
    if (value instanceof Map) return [...value.values()];
    return typeof value === 'bigint' ? String(value) : value;
  });
  return JSON.parse(written);
}

export function restore(store: Store, saved: SnapshotContent): void {
  store.ledger = saved.ledger;
  Object.assign(store.ids.counts, saved.ids.counts);
  for (const one of saved.products) store.products.set(one.id, one);
  for (const one of saved.checkouts) store.addCheckout(one);
  for (const one of saved.orders) store.addOrder(one);
  for (const one of saved.events) {
    // An attempt that was in flight when the snapshot was taken is made again.
    if (one.state === 'pending' || one.state === 'retrying') one.nextAttemptAt ??= one.createdAt;
    store.events.set(one.id, one);
    if (one.nextAttemptAt) store.agenda.add({ at: one.nextAttemptAt.getTime(), kind: 'deliver', id: one.id });
  }
}
