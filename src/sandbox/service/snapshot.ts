import * as z from 'zod/mini';
import { SandboxError } from '../sandbox-error.js';
import { storedCheckout, storedOrder } from './checkout.js';
import type { Clock } from './clock.js';
import { storedEvent } from './event.js';
import { storedLedger } from './money.js';
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

/** Fills a new store, and schedules what is still to come. */
export function restore(store: Store, saved: SnapshotContent): void {
  store.ledger = saved.ledger;
  Object.assign(store.ids.counts, saved.ids.counts);
  for (const one of saved.products) store.products.set(one.id, one);
  for (const one of saved.checkouts) store.addCheckout(one);
  for (const one of saved.orders) store.addOrder(one);
  for (const one of saved.events) {
    // An attempt that was in flight when the snapshot was taken is made again.
    if (one.state === 'pending') one.nextAttemptAt ??= one.createdAt;
    store.events.set(one.id, one);
    if (one.nextAttemptAt) store.agenda.add({ at: one.nextAttemptAt.getTime(), kind: 'deliver', id: one.id });
  }
}
