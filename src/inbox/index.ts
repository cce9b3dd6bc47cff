/**
 * Stores webhook deliveries in a SQLite file before the response, and runs your function until it succeeds.
 *
 * @module
 */
export { ConfigurationError, InvalidParamsError, PaymentsError, WebhookConfigError } from '../errors.js';
export type { Delivery } from '../webhooks/delivery.js';
export type { OrderPaidEvent, UnknownEvent, WebhookEvent } from '../webhooks/index.js';
export type { InboxDelivery } from './attempt.js';
export type { Duration } from './duration.js';
export type { InboxEntry, InboxState, InboxStats } from './entries.js';
export type { AttemptFacts, InboxHookFacts, InboxHooks } from './hooks.js';
export type { Inbox } from './inbox.js';
export { openInbox } from './open-inbox.js';
export type { InboxOptions } from './options.js';
export type { ListParams } from './params.js';
export type { SqliteDatabase, SqliteStatement, SqliteValue } from './sqlite.js';
