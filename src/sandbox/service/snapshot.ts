import * as z from 'zod/mini';
import { SandboxError } from '../sandbox-error.js';
import type { Settings } from '../settings.js';
import type { Clock } from './clock.js';
import type { Store } from './store.js';

const text = z.string();
const moment = z.number();
const optionalText = z.optional(text);
const method = z.enum(['card', 'walletA', 'walletB']);
const textMap = z.record(text, text);

const product = z.object({
  id: text,
  name: text,
  description: optionalText,
  image: z.nullable(text),
  price: text,
  currency: text,
  status: z.enum(['ACTIVE', 'ARCHIVED']),
  metadata: textMap,
  createdAt: moment,
  updatedAt: moment,
});

const checkout = z.object({
  id: text,
  productId: text,
  amount: text,
  currency: text,
  state: z.enum(['open', 'processing', 'paid', 'cancelled', 'expired']),
  successUrl: optionalText,
  cancelUrl: optionalText,
  displayMerchantName: optionalText,
  createdAt: moment,
  expiresAt: moment,
  method: z.optional(method),
  declined: z.optional(z.enum(['card_declined', 'insufficient_funds', 'wallet_declined'])),
  orderId: optionalText,
});

const order = z.object({
  id: text,
  checkoutId: text,
  productId: text,
  amount: text,
  currency: text,
  method,
  paidAt: moment,
  credited: optionalText,
  settlesAt: moment,
  settled: z.boolean(),
});

const attempt = z.object({
  number: z.number(),
  ok: z.boolean(),
  at: moment,
  durationMs: z.number(),
  target: text,
  requestHeaders: textMap,
  status: z.optional(z.number()),
  responseHeaders: z.optional(textMap),
  responseBody: optionalText,
  error: optionalText,
  hint: optionalText,
});

const event = z.object({
  id: text,
  type: z.literal('order.paid'),
  orderId: text,
  createdAt: moment,
  body: text,
  state: z.enum(['pending', 'held', 'no_url', 'retrying', 'delivered', 'failed']),
  attempts: z.array(attempt),
  tries: z.number(),
  nextAttemptAt: z.optional(moment),
});

const cents = text.check(z.regex(/^\d+$/));

const snapshot = z.object({
  version: z.literal(1),
  apiKey: text,
  webhookSecret: text,
  clock: z.object({ frozenAt: z.optional(moment), offset: z.number() }),
  ids: z.object({
    seed: z.optional(z.number()),
    counts: z.object({ prod: z.number(), chk: z.number(), ord: z.number(), evt: z.number() }),
  }),
  ledger: z.object({ available: cents, pending: cents, frozen: cents, updatedAt: moment }),
  products: z.array(product),
  checkouts: z.array(checkout),
  orders: z.array(order),
  events: z.array(event),
});

/** What a snapshot holds. */
export type SnapshotContent = z.output<typeof snapshot>;

/** Reads what `snapshot()` gave, also after a trip through JSON. */
export function readSnapshot(value: unknown): SnapshotContent {
  const result = snapshot.safeParse(value);
  if (result.success) return result.data;
  const [first] = result.error.issues;
  throw new SandboxError(
    'invalid_options',
    `This is no snapshot that this version can read (${first?.path.join('.') || 'the whole of it'}). Pass what snapshot() gave.`,
  );
}

/** All that a sandbox remembers, detached from it. */
export function takeSnapshot(store: Store, clock: Clock, settings: Settings): SnapshotContent {
  const { available, pending, frozen, updatedAt } = store.ledger;
  return structuredClone({
    version: 1,
    apiKey: settings.apiKey,
    webhookSecret: settings.webhookSecret,
    clock: clock.state,
    ids: { seed: store.ids.seed, counts: store.ids.counts },
    ledger: {
      available: String(available),
      pending: String(pending),
      frozen: String(frozen),
      updatedAt,
    },
    products: [...store.products.values()],
    checkouts: [...store.checkouts.values()],
    orders: [...store.orders.values()],
    events: [...store.events.values()],
  });
}

/** Fills an empty store, and writes down again what is still to come. */
export function restore(store: Store, saved: SnapshotContent, seed: number | undefined): void {
  const { ledger, ids } = saved;
  store.clear(ledger.updatedAt, seed ?? ids.seed, ids.counts);
  store.ledger = {
    available: BigInt(ledger.available),
    pending: BigInt(ledger.pending),
    frozen: BigInt(ledger.frozen),
    updatedAt: ledger.updatedAt,
  };
  for (const one of saved.products) store.products.set(one.id, one);
  for (const one of saved.checkouts) {
    store.checkouts.set(one.id, one);
    if (one.state === 'open' || one.state === 'processing')
      store.agenda.add({ at: one.expiresAt, kind: 'expire', id: one.id });
  }
  for (const one of saved.orders) {
    store.orders.set(one.id, one);
    if (!one.settled && one.credited !== undefined)
      store.agenda.add({ at: one.settlesAt, kind: 'settle', id: one.id });
  }
  for (const one of saved.events) {
    // An attempt that was under way when the snapshot was taken is made again.
    if (one.state === 'pending') one.nextAttemptAt ??= one.createdAt;
    store.events.set(one.id, one);
    if (one.nextAttemptAt !== undefined)
      store.agenda.add({ at: one.nextAttemptAt, kind: 'deliver', id: one.id });
  }
}
