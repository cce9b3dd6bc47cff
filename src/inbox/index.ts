/**
 * Stores webhook deliveries in SQLite or PostgreSQL before the response, and runs your function until it succeeds; and keeps
 * the order book, which says which of your orders a payment is for.
 *
 * @module merchant-payments/inbox
 */
export type { InboxError, OrderBookError } from '../errors.js';
export { ConfigurationError, InvalidParamsError, PaymentsError, WebhookConfigError } from '../errors.js';
export type { Duration } from '../input/duration.js';
export type { Delivery } from '../webhooks/delivery.js';
export type { OrderPaidEvent, RefusedDelivery, UnknownEvent, WebhookEvent } from '../webhooks/index.js';
export type { InboxEntry, InboxState, InboxStats, RefusedEntry } from './entry.js';
export type { Recovered } from './intake.js';
export { type Inbox, openInbox, type RecoverParams } from './open-inbox.js';
export type {
  AttemptFacts,
  CommonInboxOptions,
  DatabaseInboxOptions,
  FileInboxOptions,
  InboxDelivery,
  InboxHookFacts,
  InboxHooks,
  InboxOptions,
  PostgresDelivery,
  PostgresInboxOptions,
} from './options.js';
export { type BookTransaction, type InTransaction, type OrderBook, openOrderBook } from './order-book.js';
export type { CreditOptions, OpenParams, OrderBookOptions, ReserveParams } from './order-book-options.js';
export type { BookOrder, BookPayment, HeldPayment, PaidOrder } from './orders.js';
export type { DiscardRefusedParams, ListParams } from './params.js';
export type { PoolOf, PostgresClient, PostgresPool, PostgresRun } from './postgres.js';
export type { GivenDatabase, SqliteDatabase, SqliteStatement, SqliteValue } from './sqlite.js';
