import * as z from 'zod/mini';
import { limits } from '../../schemas/params.js';
import type { Product } from '../../schemas/product.js';
import { SandboxError } from '../checks.js';
import type { Clock } from './clock.js';
import type { SandboxEvent } from './event.js';
import type { SandboxOrder, StoredCheckout } from './records.js';
import type { Store } from './store.js';

/** All data of a sandbox as JSON, with the key, the secret and the webhook's URL. Its parts may change between versions. */
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

/**
 * Returns a schema of objects that the sandbox wrote itself. It reads the dates, which JSON made strings, and checks only the fields
 * that pages rely on.
 */
function storedObjects<One>(fields: z.core.$ZodLooseShape) {
  const read = z.looseObject({ id: text, ...fields });
  return z.array(z.pipe(read, z.custom<One, z.output<typeof read>>()));
}

const snapshot = z.object({
  version: z.literal(2),
  apiKey: text,
  webhookSecret: text,
  webhook: z.optional(text),
  scheme: z._default(z.looseObject({}), {}),
  clock: z.object({ frozenAt: z.optional(z.number()), offset: z.number() }),
  ids: z.object({ seed: z.optional(z.number()), counts }),
  ledger: z.object({ available: cents, pending: cents, updatedAt: date }),
  products: storedObjects<Product>({ name: text, price: money, createdAt: date, updatedAt: date }),
  checkouts: storedObjects<StoredCheckout>({
    productId: text,
    amount: money,
    createdAt: date,
    expiresAt: date,
  }),
  orders: storedObjects<SandboxOrder>({ amount: money, paidAt: date, settlesAt: date }),
  events: storedObjects<SandboxEvent>({
    data: z.looseObject({ order_id: text }),
    body: text,
    createdAt: date,
    nextAttemptAt: z.optional(date),
    attempts: z.array(z.looseObject({ at: date })),
  }),
});

export type SnapshotContent = z.output<typeof snapshot>;

/** Reads a result of `snapshot()`, also after a round trip through JSON. */
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
  settings: { apiKey: string; webhookSecret: string; webhook?: unknown; choices: { signature: object } },
): SandboxSnapshot {
  const { apiKey, webhookSecret, webhook, choices } = settings;
  const signing = { apiKey, webhookSecret, scheme: choices.signature };
  // A function cannot be written as JSON, so only a URL is saved.
  const address = typeof webhook === 'string' ? { webhook } : {};
  const content = { version: 2, ...signing, ...address, clock, ...data };
  const written = JSON.stringify(content, (_, value) => {
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
    // An attempt that was in flight when the snapshot was taken has no next time, so it is made again.
    if (one.state === 'pending' || one.state === 'retrying') one.nextAttemptAt ??= one.createdAt;
    store.events.set(one.id, one);
    if (one.nextAttemptAt) store.agenda.add({ at: one.nextAttemptAt.getTime(), kind: 'deliver', id: one.id });
  }
}
