import * as z from 'zod/mini';
import { ConfigurationError } from '../errors.js';
import { type Duration, dayMs, durationMs } from '../input/duration.js';
import { functionSchema, hasMethods } from '../input/functions.js';
import { type HooksOf, hooksSchema } from '../input/hooks.js';
import { integer } from '../input/read.js';
import type { EventFunctions } from '../schemas/event.js';
import type { Delivery } from '../webhooks/delivery.js';
import { eventFunctions, functionFor } from '../webhooks/event-functions.js';
import type { DeliveryFacts, WebhookHookFacts } from '../webhooks/hooks.js';
import { hookCaller, webhookHooks } from '../webhooks/hooks.js';
import type { UnknownEvent, WebhookEvent } from '../webhooks/index.js';
import { invalidOptions, optionsObject, readWebhookOptions } from '../webhooks/options.js';
import { type ReceiverOptions, receiverShape, reporter } from '../webhooks/responder.js';
import type { PoolOf, PostgresClient, PostgresPool, PostgresRun } from './postgres.js';
import { defaultSchema, type PostgresPlace } from './postgres-tables.js';
import { type GivenDatabase, isSqliteDatabase, type SqliteDatabase } from './sqlite.js';
import type { SqlitePlace } from './sqlite-tables.js';

/** A delivery as your function gets it. */
export interface InboxDelivery extends Delivery {
  /** The number of this attempt, counted from 1. */
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
  /** A signal that is aborted after `attemptMs`, when `close()` has waited for `graceMs`, and when another process has taken the delivery over. */
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

/** A delivery of either kind: the store checks what `commit()` and `done()` take. */
export interface AttemptDelivery extends Omit<InboxDelivery, 'commit'> {
  commit: (fn: unknown) => unknown;
  done?: (run: unknown) => Promise<unknown>;
}

/** The facts that each hook of an inbox receives: never a secret, a header or a body. */
export interface InboxHookFacts extends Pick<WebhookHookFacts, 'received' | 'duplicate' | 'refused'> {
  /** An attempt begins: your function is called next. */
  started: AttemptFacts;
  /** A delivery is done. */
  done: AttemptFacts & {
    /** The time that the attempt took. */
    durationMs: number;
  };
  /** An attempt failed. */
  failed: AttemptFacts & {
    /** The time that the attempt took. */
    durationMs: number;
    /** The error that your function threw. */
    error: unknown;
    /** The time until the next attempt, unless the delivery is done or somebody else has it by then; `null` if no attempt follows. */
    delayMs: number | null;
  };
  /** There are no more attempts until somebody calls `retry()`. `attempt` is 0 if there was none. */
  parked: AttemptFacts & {
    /** The reason, as text: the error of the last attempt, which `failed` has as `error`, or another one. */
    lastError: string;
  };
}

/** The attempt that a hook is called for. */
export interface AttemptFacts extends DeliveryFacts {
  /** The number of the attempt, counted from 1. */
  attempt: number;
}

/** Functions called with what happens to deliveries, for logs and metrics. Errors that they throw are ignored. */
export type InboxHooks = HooksOf<InboxHookFacts>;

/** Options of every inbox. */
export interface CommonInboxOptions<Given> extends ReceiverOptions {
  /**
   * Your functions, by event type. A function succeeds once what it returns has resolved: a `commit()` after that parks the
   * delivery. It may run more than once for a delivery, but never twice at a time, except beside a run that outlived
   * `attemptMs` or, in another process, its lease, or from which `retry()` with `force` took the delivery.
   */
  on?: EventFunctions<[delivery: Given]> | undefined;
  /** Your function for events that `on` has none for, also of types that this version does not know. Default: they are kept and parked. */
  onUnknown?: ((event: UnknownEvent, delivery: Given) => unknown) | undefined;
  /** Waits between attempts, each at most a year, give or take 10 %. After the last attempt the delivery is parked. Default: nine, 5 s to 12 h. */
  retries?: readonly Duration[] | undefined;
  /** The time that `close()` waits for functions before it aborts their `signal`, in milliseconds: 0 to a day; default 10,000. */
  graceMs?: number | undefined;
  /** The number of deliveries that this process works on at a time: 1 to 1000; default 4. */
  concurrency?: number | undefined;
  /** The time until the delivery of a dead process is taken over, in milliseconds: 100 to a day; default 60,000. */
  leaseMs?: number | undefined;
  /** The time limit of a function, 1 ms to 7 days: after it, the attempt has failed and its `signal` is aborted; default `'15m'`. */
  attemptMs?: Duration | undefined;
  /** The time between looks for what other processes have stored, 100 ms to a day; default `'1s'`. Deliveries that this process stores, and retries that are due later, do not wait for a look. */
  pollInterval?: Duration | undefined;
  /** The age from which `purge()` deletes deliveries by itself, in the process that works: it runs each tenth of that time, at least once an hour. Default: never. */
  purgeAfter?: Duration | undefined;
  /** The number of refused deliveries that the quarantine holds, each with a signature header and at most 64 KiB: 0 to 10,000; default 1000. If processes differ, the smallest applies. */
  keepRefused?: number | undefined;
  /** True if this process works on deliveries. With `false`, it only stores them for another process, and `on` is not needed. Default `true`. */
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
  /** The schema of the tables, which are created at the first start if the role may do that. Default `payments_inbox`. */
  schema?: string | undefined;
  file?: undefined;
  database?: undefined;
}

/** Options of `openInbox()`: `file`, `database` or `pool` says where it is. */
export type InboxOptions<Client = PostgresClient> =
  | FileInboxOptions
  | DatabaseInboxOptions
  | PostgresInboxOptions<Client>;

const what = 'openInbox()';

const waits = 'must be an array of waits, such as ["5s", "30s", "2m"].';
const usualRetries: Duration[] = ['5s', '30s', '2m', '10m', '30m', '1h', '3h', '6h', '12h'];

/** The options that say in which database an inbox or an order book is: `readPlace` reads them. */
export const placeShape = {
  file: z.optional(z.unknown()),
  database: z.optional(z.unknown()),
  pool: z.optional(z.unknown()),
  schema: z.optional(z.unknown()),
};

const inboxOptions = optionsObject('{ file, secret, on }', {
  ...placeShape,
  ...receiverShape,
  hooks: z.optional(hooksSchema<InboxHookFacts>([...webhookHooks, 'started', 'parked'])),
  on: z.optional(eventFunctions<[AttemptDelivery]>()),
  onUnknown: z.optional(functionSchema<[UnknownEvent, AttemptDelivery]>()),
  // A longer wait could end at a date beyond JavaScript's, which could not be shown.
  retries: z.prefault(z.array(durationMs(0, '366d'), waits), usualRetries),
  graceMs: z._default(integer(0, dayMs), 10_000),
  concurrency: z._default(integer(1, 1000), 4),
  leaseMs: z._default(integer(100, dayMs), 60_000),
  attemptMs: z.prefault(durationMs('1ms', '7d'), '15m'),
  pollInterval: z.prefault(durationMs('100ms', '1d'), '1s'),
  purgeAfter: z.optional(durationMs('1s')),
  keepRefused: z._default(integer(0, 10_000), 1000),
  work: z._default(z.boolean(), true),
});

export type InboxSettings = ReturnType<typeof readInboxOptions>;

/** Checks the options, before a file is touched. */
export function readInboxOptions(options: unknown) {
  const own = readWebhookOptions(what, inboxOptions, options);
  const { on, onUnknown, work } = own;
  if (work && !on?.['order.paid'])
    throw invalidOptions(`${what}: on has no function for "order.paid", so orders would not be fulfilled.`);
  return {
    own,
    work,
    attemptMs: own.attemptMs,
    pollMs: own.pollInterval,
    purgeAfterMs: own.purgeAfter,
    place: readPlace(own, what),
    fulfils: on?.['order.paid'] !== undefined,
    /** Returns a function that calls yours for an event; `undefined` if there is none. */
    find: (event: WebhookEvent) => functionFor(event, on, onUnknown),
    retriesMs: own.retries,
    graceMs: own.graceMs,
    concurrency: own.concurrency,
    leaseMs: own.leaseMs,
    toleranceSeconds: own.toleranceSeconds,
    keepRefused: own.keepRefused,
    callHook: hookCaller<InboxHookFacts>(own.hooks),
    report: reporter(own.onError),
  };
}

/** Reads which database an inbox or an order book is in. */
export function readPlace(
  own: { [Name in keyof typeof placeShape]?: unknown },
  what: string,
): SqlitePlace | PostgresPlace {
  const { file, database, pool, schema = defaultSchema } = own;
  const unusableError = (text: string) => new ConfigurationError(`${what}: ${text}`);
  if ([file, database, pool].filter((each) => each !== undefined).length > 1)
    throw unusableError('pass one of "file", "database" and "pool".');
  if (pool !== undefined) {
    if (!hasMethods<PostgresPool>(pool, 'connect'))
      throw unusableError('pool must be a Pool of pg, or have connect() as it has.');
    // PostgreSQL cuts names of more than 63 bytes.
    if (
      typeof schema === 'string' &&
      /^(?!.*\$payments\$)\P{Cc}+$/u.test(schema) &&
      Buffer.byteLength(schema) <= 63
    )
      return { pool, schema };
    throw unusableError('schema must be the name of a schema, of at most 63 bytes.');
  }
  if (database !== undefined) {
    if (isSqliteDatabase(database)) return { database };
    throw unusableError('database must be an open database of node:sqlite, better-sqlite3 or libsql.');
  }
  if (typeof file === 'string' && file.trim() !== '') return { file };
  throw unusableError(
    'pass "file", the path of a SQLite file, "database", an open SQLite database, or "pool", a Pool of pg.',
  );
}
