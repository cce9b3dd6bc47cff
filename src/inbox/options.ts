import { ConfigurationError } from '../errors.js';
import { readHooks } from '../webhooks/hooks.js';
import type { OrderPaidEvent, UnknownEvent } from '../webhooks/index.js';
import { invalidOptions, ownOptions, readFunction } from '../webhooks/own-options.js';
import { type ReceiverOptions, readReport, receiverOptions } from '../webhooks/receiver.js';
import type { InboxDelivery } from './attempt.js';
import { type Duration, readDuration } from './duration.js';
import { type InboxHookFacts, type InboxHooks, inboxHooks } from './hooks.js';
import type { SqliteDatabase } from './sqlite.js';

/** Options of `openInbox()`: `file` or `database`, `secret` and `on`, and what differs from the defaults. */
export interface InboxOptions extends ReceiverOptions {
  /** Path of the SQLite file; created with mode 600 if it does not exist. `:memory:` is for tests. */
  file?: string | undefined;
  /** Instead of `file`: your own open `DatabaseSync`, to write your own tables in `commit()`. It stays open. */
  database?: SqliteDatabase | undefined;
  /** Your functions, by event type. One may run more than once for a delivery, but never twice at a time. */
  on?: {
    /** A customer paid: fulfil the order. */
    'order.paid': (event: OrderPaidEvent, delivery: InboxDelivery) => unknown;
  };
  /** Gets events of a type that this version does not know. Default: they are kept and parked. */
  onUnknown?: ((event: UnknownEvent, delivery: InboxDelivery) => unknown) | undefined;
  /** Waits between attempts, with jitter; after the last one the delivery is parked. Default: nine, from 5 s to 12 h. */
  retries?: readonly Duration[] | undefined;
  /** How long `close()` waits for functions before it aborts their `signal`, in milliseconds; default 10,000. */
  graceMs?: number | undefined;
  /** How many deliveries this process works on at a time; default 4. */
  concurrency?: number | undefined;
  /** How long until the delivery of a dead process is taken over, in milliseconds; default 60,000. */
  leaseMs?: number | undefined;
  /** `false`: only store deliveries, and let another process work on them. Then `on` is not needed. Default `true`. */
  work?: boolean | undefined;
  /** Functions called with what happens to deliveries, for logs and metrics. */
  hooks?: InboxHooks | undefined;
}

const absent = {
  file: undefined,
  database: undefined,
  ...receiverOptions,
  on: undefined,
  onUnknown: undefined,
  retries: undefined,
  graceMs: undefined,
  concurrency: undefined,
  leaseMs: undefined,
  work: undefined,
};

const what = 'openInbox()';
const defaultRetries = ['5s', '30s', '2m', '10m', '30m', '1h', '3h', '6h', '12h'];

/** The longest lease and grace: a day. */
const longestMs = 86_400_000;

/** Checks the options, before a file is touched. */
export function readInboxOptions(options: InboxOptions) {
  const own = ownOptions(options, absent, what);
  const work = own.work === undefined ? true : own.work;
  if (typeof work !== 'boolean') throw invalidOptions('work must be true or false.');
  return {
    own,
    work,
    place: readPlace(own.file, own.database),
    onPaid: readOn(own.on, work),
    onUnknown: readFunction<[UnknownEvent, InboxDelivery]>(own.onUnknown, 'onUnknown'),
    retriesMs: readRetries(own.retries),
    graceMs: readInteger(own.graceMs, 'graceMs', 10_000, 0, longestMs),
    concurrency: readInteger(own.concurrency, 'concurrency', 4, 1, 1000),
    leaseMs: readInteger(own.leaseMs, 'leaseMs', 60_000, 100, longestMs),
    tell: readHooks<InboxHookFacts>(own.hooks, inboxHooks, what),
    report: readReport(own.onError),
  };
}

function readPlace(file: unknown, database: unknown): { file: string } | { database: SqliteDatabase } {
  if (file !== undefined && database !== undefined)
    throw new ConfigurationError('openInbox(): pass "file" or "database", not both.');
  if (database !== undefined) {
    if (!isDatabase(database))
      throw new ConfigurationError('openInbox(): database must be a DatabaseSync of node:sqlite.');
    if (database.isOpen === false)
      throw new ConfigurationError('openInbox(): database is closed. Pass an open one.');
    return { database };
  }
  if (typeof file !== 'string' || file.trim() === '')
    throw new ConfigurationError(
      'openInbox(): pass "file", the path of a SQLite file, or "database", an open DatabaseSync.',
    );
  return { file };
}

function isDatabase(value: unknown): value is SqliteDatabase {
  if (typeof value !== 'object' || value === null) return false;
  return ['exec', 'prepare', 'close'].every((method) => typeof Reflect.get(value, method) === 'function');
}

function readOn(given: unknown, work: boolean) {
  if (given === undefined && !work) return undefined;
  const on = ownOptions(given, { 'order.paid': undefined }, `${what}: on`);
  const onPaid = readFunction<[OrderPaidEvent, InboxDelivery]>(on['order.paid'], 'on["order.paid"]');
  if (onPaid || !work) return onPaid;
  throw invalidOptions(`${what}: on has no function for "order.paid", so orders would not be fulfilled.`);
}

function readRetries(given: unknown = defaultRetries): number[] {
  if (!Array.isArray(given))
    throw invalidOptions('retries must be an array of waits, such as ["5s", "30s", "2m"].');
  return Array.from(given, (each: unknown) => {
    const ms = readDuration(each);
    if (ms !== undefined) return ms;
    throw invalidOptions('retries must hold durations such as "500ms", "5s", "2m", "3h", or milliseconds.');
  });
}

function readInteger(given: unknown, name: string, otherwise: number, least: number, most: number): number {
  if (given === undefined) return otherwise;
  if (typeof given === 'number' && Number.isInteger(given) && given >= least && given <= most) return given;
  throw invalidOptions(`${name} must be an integer from ${least} to ${most}.`);
}
