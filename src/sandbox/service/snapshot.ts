import * as z from 'zod/mini';
import { SandboxError } from '../sandbox-error.js';
import { storedCheckout } from './checkout.js';
import type { Clock } from './clock.js';
import { storedEvent } from './event.js';
import { storedLedger } from './ledger.js';
import { storedOrder } from './order.js';
import { storedProduct } from './product.js';
import type { Store } from './store.js';

/** All data of a sandbox, as JSON. It holds the key and the secret. Its parts may change. */
export interface SandboxSnapshot {
  /** Version of the format. */
  version: 2;
  [part: string]: unknown;
}

const count = z.number();

const content = z.object({
  version: z.literal(2),
  apiKey: z.string(),
  webhookSecret: z.string(),
  clock: z.object({ frozenAt: z.optional(z.number()), offset: z.number() }),
  ids: z.object({
    seed: z.optional(z.number()),
    counts: z.object({ prod: count, chk: count, ord: count, evt: count }),
  }),
  ledger: storedLedger,
  products: z.array(storedProduct),
  checkouts: z.array(storedCheckout),
  orders: z.array(storedOrder),
  events: z.array(storedEvent),
});

/** What a snapshot holds. */
export type SnapshotContent = z.output<typeof content>;

/** Reads what `snapshot()` returned, even after a round trip through JSON. */
export function readSnapshot(value: unknown): SnapshotContent {
  const result = content.safeParse(value);
  if (result.success) return result.data;
  const [first] = result.error.issues;
  throw new SandboxError(
    'invalid_options',
    `This is not a snapshot that this version can read (${first?.path.join('.') || 'the whole of it'}). Pass what snapshot() returned.`,
  );
}

/** A copy of all data of a sandbox. */
export function takeSnapshot(
  { ledger, ids, products, checkouts, orders, events }: Store,
  clock: Clock,
  keys: { apiKey: string; webhookSecret: string },
): SandboxSnapshot {
  const all = {
    version: 2,
    apiKey: keys.apiKey,
    webhookSecret: keys.webhookSecret,
    clock: clock.state,
    ids: { seed: ids.seed, counts: ids.counts },
    ledger,
    products: [...products.values()],
    checkouts: [...checkouts.values()],
    orders: [...orders.values()],
    events: [...events.values()],
  };
  return JSON.parse(JSON.stringify(all, (_, value) => (typeof value === 'bigint' ? String(value) : value)));
}

/** Fills an empty store, and schedules what is still to come. */
export function restore(store: Store, saved: SnapshotContent, seed: number | undefined): void {
  const { ledger, ids, products, checkouts, orders, events } = saved;
  const { agenda } = store;
  store.clear(0, seed ?? ids.seed, ids.counts);
  store.ledger = ledger;
  for (const one of products) store.products.set(one.id, one);
  for (const one of checkouts) {
    store.checkouts.set(one.id, one);
    if (one.state === 'open' || one.state === 'processing')
      agenda.add({ at: one.expiresAt.getTime(), kind: 'expire', id: one.id });
  }
  for (const one of orders) {
    store.orders.set(one.id, one);
    if (!one.settled && one.credited !== undefined)
      agenda.add({ at: one.settlesAt.getTime(), kind: 'settle', id: one.id });
  }
  for (const one of events) {
    // An attempt that was in flight when the snapshot was taken is made again.
    if (one.state === 'pending') one.nextAttemptAt ??= one.createdAt;
    store.events.set(one.id, one);
    if (one.nextAttemptAt) agenda.add({ at: one.nextAttemptAt.getTime(), kind: 'deliver', id: one.id });
  }
}
