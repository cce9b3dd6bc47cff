import { ConfigurationError, InvalidParamsError } from '../errors.js';
import { readIsoMoment } from '../schemas/moment.js';
import { type Delivery, digestOf, writable } from '../webhooks/delivery.js';
import {
  type DeliveryFacts,
  type HooksOf,
  readHooks,
  type WebhookHookFacts,
  webhookHooks,
} from '../webhooks/hooks.js';
import type { OrderPaidEvent, UnknownEvent } from '../webhooks/index.js';
import { invalidOptions, ownOptions, readFunction } from '../webhooks/own-options.js';
import { type ReceiverOptions, readReport, receiverOptions } from '../webhooks/responder.js';
import type { AttemptDelivery } from './attempt.js';
import { inboxStates, type ListParams } from './entry.js';
import { type ClientOf, hasMethods, type PostgresPool, type PostgresRun } from './postgres.js';
import type { PostgresPlace } from './postgres-store.js';
import type { SqliteDatabase } from './sqlite.js';
import type { SqlitePlace } from './sqlite-tables.js';

/** A duration: `'500ms'`, `'5s'`, `'2m'`, `'3h'`, `'90d'`, or a number of milliseconds. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

/** A delivery as your function gets it. */
export interface InboxDelivery extends Delivery {
  /** Counted from 1. */
  attempt: number;
  /**
   * Runs `fn` and marks the delivery done in one transaction, and returns what `fn` returned: what `fn` writes through
   * `db` happens exactly once. `fn` has to be synchronous. It can be called once per attempt; if it throws, the attempt
   * has failed.
   */
  commit: <Result>(fn: (db: SqliteDatabase) => Result) => Result;
  /** Aborted after `attemptMs`, when `close()` has waited for `graceMs`, and when another process has taken the delivery over. */
  signal: AbortSignal;
}

/** A delivery as your function gets it from an inbox on PostgreSQL. */
export interface PostgresDelivery<Client> extends Omit<InboxDelivery, 'commit'> {
  /**
   * Runs `fn` and marks the delivery done in one transaction, whose client it passes, and resolves to what `fn` returned:
   * what `fn` writes through `tx` happens exactly once. It can be called once per attempt; if it rejects, the attempt has
   * failed.
   */
  commit: <Result>(fn: (tx: Client) => Result) => Promise<Awaited<Result>>;
  /**
   * Marks the delivery done in a transaction of your own, instead of `commit()`. `run` executes one statement in it, and
   * returns its rows. If the transaction is rolled back, the attempt has failed.
   */
  done: (run: PostgresRun) => Promise<void>;
}

/** What each hook of an inbox receives: never a secret, a header or a body. */
export interface InboxHookFacts extends Pick<WebhookHookFacts, 'received' | 'duplicate' | 'refused'> {
  /** Your function is called. */
  started: AttemptFacts;
  /** A delivery is done. */
  done: AttemptFacts & {
    /** How long the attempt took. */
    durationMs: number;
  };
  /** An attempt failed. */
  failed: AttemptFacts & {
    /** How long the attempt took. */
    durationMs: number;
    /** What your function threw. */
    error: unknown;
    /** When the next attempt follows; `null` if none does. */
    delayMs: number | null;
  };
  /** There are no more attempts until somebody calls `retry()`. `attempt` is 0 if there was none. */
  parked: AttemptFacts & {
    /** Why: what the last attempt failed with, as text. */
    lastError: string;
  };
}

/** The attempt that a hook is called for. */
export interface AttemptFacts extends DeliveryFacts {
  /** Counted from 1. */
  attempt: number;
}

/** Functions called with what happens to deliveries, for logs and metrics. Errors that they throw are ignored. */
export type InboxHooks = HooksOf<InboxHookFacts>;

/** Options of every inbox, whatever it stores in. */
export interface CommonInboxOptions<Given> extends ReceiverOptions {
  /** Your functions, by event type. One may run more than once for a delivery, but never twice at a time. */
  on?:
    | {
        /** A customer paid: fulfil the order. */
        'order.paid': (event: OrderPaidEvent, delivery: Given) => unknown;
      }
    | undefined;
  /** Gets events of a type that this version does not know. Default: they are kept and parked. */
  onUnknown?: ((event: UnknownEvent, delivery: Given) => unknown) | undefined;
  /** Waits between attempts, with jitter; after the last one the delivery is parked. Default: nine, from 5 s to 12 h. */
  retries?: readonly Duration[] | undefined;
  /** How long `close()` waits for functions before it aborts their `signal`, in milliseconds; default 10,000. */
  graceMs?: number | undefined;
  /** How many deliveries this process works on at a time; default 4. */
  concurrency?: number | undefined;
  /** How long until the delivery of a dead process is taken over, in milliseconds; default 60,000. */
  leaseMs?: number | undefined;
  /** How long a function may run: after that the attempt has failed and its `signal` is aborted; default `'15m'`. */
  attemptMs?: Duration | undefined;
  /** How many refused deliveries the quarantine holds; default 100, 0 for none. */
  keepRefused?: number | undefined;
  /** `false`: only store deliveries, and let another process work on them. Then `on` is not needed. Default `true`. */
  work?: boolean | undefined;
  /** Functions called with what happens to deliveries, for logs and metrics. */
  hooks?: InboxHooks | undefined;
}

/** Options of `openInbox()` on SQLite: `file` or `database`, `secret` and `on`, and what differs from the defaults. */
export interface InboxOptions extends CommonInboxOptions<InboxDelivery> {
  /** Path of the SQLite file; created with mode 600 if it does not exist. `:memory:` is for tests. */
  file?: string | undefined;
  /** Instead of `file`: your own open `DatabaseSync`, to write your own tables in `commit()`. It stays open. */
  database?: SqliteDatabase | undefined;
  pool?: undefined;
}

/** Options of `openInbox()` on PostgreSQL: `pool`, `secret` and `on`, and what differs from the defaults. */
export interface PostgresInboxOptions<Pool extends PostgresPool>
  extends CommonInboxOptions<PostgresDelivery<ClientOf<Pool>>> {
  /** A `Pool` of `pg` of your own, or anything of its shape. It stays open. */
  pool: Pool;
  /** Where the tables are: created at the first start if the role may. Default `public`. */
  schema?: string | undefined;
  file?: undefined;
  database?: undefined;
}

const absent = {
  file: undefined,
  database: undefined,
  pool: undefined,
  schema: undefined,
  ...receiverOptions,
  on: undefined,
  onUnknown: undefined,
  retries: undefined,
  graceMs: undefined,
  concurrency: undefined,
  leaseMs: undefined,
  attemptMs: undefined,
  keepRefused: undefined,
  work: undefined,
};
const inboxHooks = { ...webhookHooks, started: undefined, parked: undefined };

const what = 'openInbox()';
const defaultRetries = ['5s', '30s', '2m', '10m', '30m', '1h', '3h', '6h', '12h'];
const dayMs = 86_400_000;

/** Checks the options, before a file is touched. */
export function readInboxOptions(options: object) {
  const own = ownOptions(options, absent, what);
  const work = own.work === undefined ? true : own.work;
  if (typeof work !== 'boolean') throw invalidOptions('work must be true or false.');
  const attemptMs = readDuration(own.attemptMs === undefined ? '15m' : own.attemptMs);
  if (attemptMs === undefined || attemptMs < 1 || attemptMs > 7 * dayMs)
    throw invalidOptions('attemptMs must be a duration from 1 ms to 7 days, such as "15m".');
  return {
    own,
    work,
    attemptMs,
    place: readPlace(own),
    onPaid: readOn(own.on, work),
    onUnknown: readFunction<[UnknownEvent, AttemptDelivery]>(own.onUnknown, 'onUnknown'),
    retriesMs: readRetries(own.retries),
    graceMs: readInteger(own.graceMs, 'graceMs', 10_000, 0, dayMs),
    concurrency: readInteger(own.concurrency, 'concurrency', 4, 1, 1000),
    leaseMs: readInteger(own.leaseMs, 'leaseMs', 60_000, 100, dayMs),
    keepRefused: readInteger(own.keepRefused, 'keepRefused', 100, 0, 10_000),
    callHook: readHooks<InboxHookFacts>(own.hooks, inboxHooks, what),
    report: readReport(own.onError),
  };
}

function readPlace({
  file,
  database,
  pool,
  schema = 'public',
}: Record<string, unknown>): SqlitePlace | PostgresPlace {
  if ([file, database, pool].filter((each) => each !== undefined).length > 1)
    throw new ConfigurationError('openInbox(): pass one of "file", "database" and "pool".');
  if (pool !== undefined) {
    if (!hasMethods<PostgresPool>(pool, 'connect'))
      throw new ConfigurationError('openInbox(): pool must be a Pool of pg, or have connect() as it has.');
    if (typeof schema !== 'string' || !/^[^\0]{1,63}$/.test(schema))
      throw new ConfigurationError(
        'openInbox(): schema must be the name of a schema, of at most 63 characters.',
      );
    return { pool, schema };
  }
  if (database !== undefined) {
    if (!hasMethods<SqliteDatabase>(database, 'exec', 'prepare', 'close'))
      throw new ConfigurationError('openInbox(): database must be a DatabaseSync of node:sqlite.');
    return { database };
  }
  if (typeof file !== 'string' || file.trim() === '')
    throw new ConfigurationError(
      'openInbox(): pass "file", the path of a SQLite file, "database", an open DatabaseSync, or "pool", a Pool of pg.',
    );
  return { file };
}

function readOn(given: unknown, work: boolean) {
  if (given === undefined && !work) return undefined;
  const on = ownOptions(given, { 'order.paid': undefined }, `${what}: on`);
  const onPaid = readFunction<[OrderPaidEvent, AttemptDelivery]>(on['order.paid'], 'on["order.paid"]');
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

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: dayMs };

/** A duration in milliseconds, or `undefined` if invalid. */
export function readDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value : undefined;
  const [, count, unit = ''] =
    (typeof value === 'string' && /^(\d+(?:\.\d+)?)(ms|[smhd])$/.exec(value)) || [];
  const ms = unitMs[unit];
  return ms === undefined ? undefined : Number(count) * ms;
}

export function readList({ state, limit, after }: ListParams) {
  if (state !== undefined && !inboxStates.includes(state))
    throw invalid('list', 'state', `must be one of ${inboxStates.map((each) => `"${each}"`).join(', ')}.`);
  const key = after === undefined ? undefined : readDeliveryKey('list', after, 'after');
  return { state, limit: readLimit('list', limit), after: key };
}

export function readLimit(method: string, limit = 100): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
  throw invalid(method, 'limit', 'must be an integer from 1 to 1000.');
}

export function readDeliveryKey(method: string, key: unknown, path = 'key'): string {
  if (typeof key === 'string' && key !== '') return key;
  throw invalid(method, path, 'must be the key of a delivery, such as "order.paid:ord_1001".');
}

/** How old something is, or when it was. */
export function readAge(olderThan: unknown): { ageMs: number } | Date {
  if (olderThan instanceof Date && !Number.isNaN(olderThan.getTime())) return olderThan;
  const ageMs = olderThan instanceof Date ? undefined : readDuration(olderThan);
  if (ageMs !== undefined) return { ageMs };
  throw invalid('purge', 'olderThan', 'must be a duration such as "90d", or a valid Date.');
}

export function readForMs(forMs: unknown): number {
  const ms = readDuration(forMs);
  if (ms !== undefined) return ms;
  throw invalid('drain', 'forMs', 'must be a duration such as "20s".');
}

/** The fields of a delivery, checked: what is stored has to be readable later. */
export function readDelivery(delivery: Omit<Delivery, 'digest'>): Delivery {
  if (typeof delivery !== 'object' || delivery === null) throw invalid('accept', '', 'must be a delivery.');
  const { key, event, rawBody, encoding, headers, receivedAt } = delivery;
  readDeliveryKey('accept', key);
  const type: unknown = event?.type === 'unknown' ? event.originalType : event?.type;
  if (typeof type !== 'string') throw invalid('accept', 'event', 'must be an event of verify().');
  if (typeof rawBody !== 'string') throw invalid('accept', 'rawBody', 'must be a string.');
  if (encoding !== undefined && encoding !== 'base64')
    throw invalid('accept', 'encoding', 'must be "base64".');
  if (typeof headers !== 'object' || headers === null)
    throw invalid('accept', 'headers', 'must be an object.');
  if (typeof receivedAt !== 'string' || !readIsoMoment(receivedAt))
    throw invalid('accept', 'receivedAt', 'must be ISO 8601 with a zone.');
  return {
    ...{ key, event: writable(event), rawBody, ...(encoding && { encoding }), headers, receivedAt },
    digest: digestOf(writable(event)),
  };
}

function invalid(method: string, path: string, message: string): InvalidParamsError {
  return new InvalidParamsError({ operation: `inbox.${method}` }, [{ path, message }]);
}
