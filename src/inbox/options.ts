import { ConfigurationError } from '../errors.js';
import { type Duration, dayMs } from '../input/duration.js';
import type { HooksOf } from '../input/hooks.js';
import type { Delivery } from '../webhooks/delivery.js';
import type { DeliveryFacts, WebhookHookFacts } from '../webhooks/hooks.js';
import { readHooks, webhookHooks } from '../webhooks/hooks.js';
import type { OrderPaidEvent, UnknownEvent, WebhookEvent } from '../webhooks/index.js';
import { hasMethods, invalidOptions, ownOptions, readFunction } from '../webhooks/own-options.js';
import { type ReceiverOptions, readReport, receiverOptions } from '../webhooks/responder.js';
import { readTolerance } from '../webhooks/timestamp.js';
import { readDuration } from './params.js';
import type { PoolOf, PostgresClient, PostgresPool, PostgresRun } from './postgres.js';
import { defaultSchema, type PostgresPlace } from './postgres-tables.js';
import { type GivenDatabase, isSqliteDatabase, type SqliteDatabase } from './sqlite.js';
import type { SqlitePlace } from './sqlite-tables.js';

/** A delivery as your function gets it. */
export interface InboxDelivery extends Delivery {
  /** Counted from 1. */
  attempt: number;
  /**
   * Runs `fn`, which has to be synchronous, and marks the delivery done in one transaction; returns what `fn` returned. What
   * `fn` writes through `db` happens exactly once. Can be called once per attempt; if it throws, the attempt has failed.
   */
  commit: <Result>(
    fn: (
      db: SqliteDatabase,
    ) => Result extends PromiseLike<unknown> ? 'The function of commit() must be synchronous' : Result,
  ) => Result;
  /** Aborted after `attemptMs`, when `close()` has waited for `graceMs`, and when another process has taken the delivery over. */
  signal: AbortSignal;
}

/** A delivery as your function gets it from an inbox on PostgreSQL. */
export interface PostgresDelivery<Client> extends Omit<InboxDelivery, 'commit'> {
  /**
   * Runs `fn` and marks the delivery done in one transaction, whose client is `tx`; resolves to what `fn` returned. What `fn`
   * writes through `tx` happens exactly once. Can be called once per attempt; if it rejects, the attempt has failed.
   */
  commit: <Result>(fn: (tx: Client) => Result) => Promise<Awaited<Result>>;
  /**
   * Marks the delivery done in a transaction of your own, instead of `commit()`: if that is rolled back, the attempt has failed.
   * `run` executes one statement in it, never through the pool, and returns its rows.
   */
  done: (run: PostgresRun) => Promise<void>;
}

/** Either of the two: the store checks what `commit()` and `done()` take. */
export interface AttemptDelivery extends Omit<InboxDelivery, 'commit'> {
  commit: (fn: unknown) => unknown;
  done?: (run: unknown) => Promise<unknown>;
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
    /** When the next attempt follows, unless the delivery turns out to be done; `null` if none does. */
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

/** Options of every inbox. */
export interface CommonInboxOptions<Given> extends ReceiverOptions {
  /**
   * Your functions, by event type. One succeeds once what it returns has resolved: a `commit()` after that parks the delivery.
   * One may run more than once for a delivery, but never twice at a time: except beside one that outlived `attemptMs` or, in
   * another process, its lease, or from which `retry()` with `force` took its delivery.
   */
  on?:
    | {
        /** A customer paid: fulfil the order. */
        'order.paid': (event: OrderPaidEvent, delivery: Given) => unknown;
      }
    | undefined;
  /** Gets events of a type that this version does not know. Default: they are kept and parked. */
  onUnknown?: ((event: UnknownEvent, delivery: Given) => unknown) | undefined;
  /** Waits between attempts, each at most a year, give or take 10 %; then the delivery is parked. Default: nine, 5 s to 12 h. */
  retries?: readonly Duration[] | undefined;
  /** How long `close()` waits for functions before it aborts their `signal`, in milliseconds: 0 to a day; default 10,000. */
  graceMs?: number | undefined;
  /** How many deliveries this process works on at a time: 1 to 1000; default 4. */
  concurrency?: number | undefined;
  /** How long until the delivery of a dead process is taken over, in milliseconds: 100 to a day; default 60,000. */
  leaseMs?: number | undefined;
  /** How long a function may run, 1 ms to 7 days: then the attempt has failed and its `signal` is aborted; default `'15m'`. */
  attemptMs?: Duration | undefined;
  /** How often to look for what other processes have stored, 100 ms to a day; default `'1s'`. What this process stores, and what is due later, is worked on without. */
  pollInterval?: Duration | undefined;
  /** After what time `purge()` runs by itself, in the process that works: it looks each tenth of that, at least once an hour. Default: never. */
  purgeAfter?: Duration | undefined;
  /** How many refused deliveries the quarantine holds, each with the signature header and at most 64 KiB: 0 to 10,000; default 100. If processes differ, the smallest applies. */
  keepRefused?: number | undefined;
  /** `false`: only store deliveries, and let another process work on them. Then `on` is not needed. Default `true`. */
  work?: boolean | undefined;
  /** Functions called with what happens to deliveries, for logs and metrics. */
  hooks?: InboxHooks | undefined;
}

/** Options of an inbox in a SQLite file: `file`, `secret` and `on`, and what differs from the defaults. */
export interface FileInboxOptions extends CommonInboxOptions<InboxDelivery> {
  /** Path of the SQLite file; created with mode 600 if it does not exist. `:memory:` is for tests. */
  file: string;
  database?: undefined;
  pool?: undefined;
  schema?: undefined;
}

/** Options of an inbox in a SQLite database that is open already. */
export interface DatabaseInboxOptions extends CommonInboxOptions<InboxDelivery> {
  /** Your own open database of `node:sqlite`, `better-sqlite3` or `libsql`, to write your own tables in `commit()`. It stays open. */
  database: SqliteDatabase | GivenDatabase;
  file?: undefined;
  pool?: undefined;
  schema?: undefined;
}

/** Options of an inbox in PostgreSQL, whose pool connects clients of this type. */
export interface PostgresInboxOptions<Client = PostgresClient>
  extends CommonInboxOptions<PostgresDelivery<Client>> {
  /** A `Pool` of `pg` of your own, or anything of its shape. It stays open. */
  pool: PoolOf<Client>;
  /** Where the tables are: created at the first start if the role may. Default `payments_inbox`. */
  schema?: string | undefined;
  file?: undefined;
  database?: undefined;
}

/** Options of `openInbox()`: `file`, `database` or `pool` says where it is. */
export type InboxOptions<Client = PostgresClient> =
  | FileInboxOptions
  | DatabaseInboxOptions
  | PostgresInboxOptions<Client>;

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
  pollInterval: undefined,
  purgeAfter: undefined,
  keepRefused: undefined,
  work: undefined,
};
const inboxHooks = { ...webhookHooks, started: undefined, parked: undefined };

const what = 'openInbox()';
const defaultRetries = ['5s', '30s', '2m', '10m', '30m', '1h', '3h', '6h', '12h'];

export type InboxSettings = ReturnType<typeof readInboxOptions>;

/** Checks the options, before a file is touched. */
export function readInboxOptions(options: object) {
  const own = ownOptions(options, absent, what);
  const work = own.work === undefined ? true : own.work;
  if (typeof work !== 'boolean') throw invalidOptions('work must be true or false.');
  const attemptMs = readDuration(own.attemptMs === undefined ? '15m' : own.attemptMs);
  if (attemptMs === undefined || attemptMs < 1 || attemptMs > 7 * dayMs)
    throw invalidOptions('attemptMs must be a duration from 1 ms to 7 days, such as "15m".');
  const pollMs = readDuration(own.pollInterval === undefined ? '1s' : own.pollInterval);
  if (pollMs === undefined || pollMs < 100 || pollMs > dayMs)
    throw invalidOptions('pollInterval must be a duration from 100 ms to a day, such as "5m".');
  const purgeAfterMs = own.purgeAfter === undefined ? undefined : readDuration(own.purgeAfter);
  if (own.purgeAfter !== undefined && !(Number(purgeAfterMs) >= 1000))
    throw invalidOptions('purgeAfter must be a duration of at least a second, such as "90d".');
  const onPaid = readOn(own.on, work);
  const onUnknown = readFunction<[UnknownEvent, AttemptDelivery]>(own.onUnknown, 'onUnknown');
  return {
    own,
    work,
    attemptMs,
    pollMs,
    purgeAfterMs,
    place: readPlace(own, what),
    fulfils: onPaid !== undefined,
    /** The function for an event. */
    find(event: WebhookEvent): ((delivery: AttemptDelivery) => unknown) | undefined {
      if (event.type === 'order.paid') return onPaid && ((delivery) => onPaid(event, delivery));
      return onUnknown && ((delivery) => onUnknown(event, delivery));
    },
    retriesMs: readRetries(own.retries),
    graceMs: readInteger(own.graceMs, 'graceMs', 10_000, 0, dayMs),
    concurrency: readInteger(own.concurrency, 'concurrency', 4, 1, 1000),
    leaseMs: readInteger(own.leaseMs, 'leaseMs', 60_000, 100, dayMs),
    toleranceSeconds: readTolerance(own.toleranceSeconds),
    keepRefused: readInteger(own.keepRefused, 'keepRefused', 100, 0, 10_000),
    callHook: readHooks<InboxHookFacts>(own.hooks, inboxHooks, what),
    report: readReport(own.onError),
  };
}

/** Reads which database an inbox or an order book is in. */
export function readPlace(
  own: Record<'file' | 'database' | 'pool' | 'schema', unknown>,
  what: string,
): SqlitePlace | PostgresPlace {
  const { file, database, pool, schema = defaultSchema } = own;
  const unusable = (text: string) => new ConfigurationError(`${what}: ${text}`);
  if ([file, database, pool].filter((each) => each !== undefined).length > 1)
    throw unusable('pass one of "file", "database" and "pool".');
  if (pool !== undefined) {
    if (!hasMethods<PostgresPool>(pool, 'connect'))
      throw unusable('pool must be a Pool of pg, or have connect() as it has.');
    // PostgreSQL cuts longer names.
    if (
      typeof schema === 'string' &&
      /^(?!.*\$payments\$)\P{Cc}+$/u.test(schema) &&
      Buffer.byteLength(schema) <= 63
    )
      return { pool, schema };
    throw unusable('schema must be the name of a schema, of at most 63 bytes.');
  }
  if (database !== undefined) {
    if (isSqliteDatabase(database)) return { database };
    throw unusable('database must be an open database of node:sqlite, better-sqlite3 or libsql.');
  }
  if (typeof file === 'string' && file.trim() !== '') return { file };
  throw unusable(
    'pass "file", the path of a SQLite file, "database", an open SQLite database, or "pool", a Pool of pg.',
  );
}

function readOn(given: unknown, work: boolean) {
  if (given === undefined && !work) return undefined;
  const on = ownOptions(given, { 'order.paid': undefined }, `${what}: on`, [], 'event type');
  const onPaid = readFunction<[OrderPaidEvent, AttemptDelivery]>(on['order.paid'], 'on["order.paid"]');
  if (onPaid || !work) return onPaid;
  throw invalidOptions(`${what}: on has no function for "order.paid", so orders would not be fulfilled.`);
}

function readRetries(given: unknown = defaultRetries): number[] {
  if (!Array.isArray(given))
    throw invalidOptions('retries must be an array of waits, such as ["5s", "30s", "2m"].');
  return Array.from(given, (each: unknown) => {
    const ms = readDuration(each);
    // A date beyond JavaScript's could not be shown.
    if (ms !== undefined && ms <= 366 * dayMs) return ms;
    throw invalidOptions(
      'retries must hold durations such as "500ms", "5s", "2m", "3h", or milliseconds, up to a year.',
    );
  });
}

function readInteger(given: unknown, name: string, otherwise: number, least: number, most: number): number {
  if (given === undefined) return otherwise;
  if (typeof given === 'number' && Number.isInteger(given) && given >= least && given <= most) return given;
  throw invalidOptions(`${name} must be an integer from ${least} to ${most}.`);
}
