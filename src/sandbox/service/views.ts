import type { Attempt, Balance, Product, SandboxCheckout, SandboxEvent, SandboxOrder } from '../types.js';
import { fromCents, twoDecimals } from './cents.js';
import type { AttemptRecord, CheckoutRecord, EventRecord, OrderRecord, ProductRecord } from './records.js';
import type { Ledger } from './store.js';

// Records as the programmer sees them: copies, with dates, and products in the form that the client returns.

export const viewProduct = (record: ProductRecord): Product => ({
  ...record,
  description: record.description ?? null,
  price: twoDecimals(record.price),
  metadata: { ...record.metadata },
  createdAt: new Date(record.createdAt),
  updatedAt: new Date(record.updatedAt),
});

export const viewCheckout = (record: CheckoutRecord, url: string): SandboxCheckout => ({
  id: record.id,
  productId: record.productId,
  amount: record.amount,
  currency: record.currency,
  url,
  state: record.state,
  successUrl: record.successUrl,
  cancelUrl: record.cancelUrl,
  displayMerchantName: record.displayMerchantName,
  method: record.method,
  declined: record.declined,
  orderId: record.orderId,
  createdAt: new Date(record.createdAt),
  expiresAt: new Date(record.expiresAt),
});

export const viewOrder = (record: OrderRecord): SandboxOrder => ({
  id: record.id,
  checkoutId: record.checkoutId,
  productId: record.productId,
  amount: record.amount,
  currency: record.currency,
  method: record.method,
  paidAt: new Date(record.paidAt),
  credited: record.credited,
  settled: record.settled,
});

export const viewAttempt = (record: AttemptRecord): Attempt => ({
  ...structuredClone(record),
  at: new Date(record.at),
});

export const viewEvent = (record: EventRecord, order: OrderRecord): SandboxEvent => ({
  id: record.id,
  type: record.type,
  data: { order_id: order.id, amount: order.amount, currency: order.currency },
  body: record.body,
  state: record.state,
  attempts: record.attempts.map(viewAttempt),
  nextAttemptAt: record.nextAttemptAt === undefined ? undefined : new Date(record.nextAttemptAt),
  createdAt: new Date(record.createdAt),
});

export const viewBalance = (ledger: Ledger, currency: string): Balance => ({
  available: fromCents(ledger.available),
  pending: fromCents(ledger.pending),
  frozen: fromCents(ledger.frozen),
  currency,
  updatedAt: new Date(ledger.updatedAt),
});
