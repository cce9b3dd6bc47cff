// Lends connections of a pool, each for one transaction. A connection that has failed is closed, and others that may have failed with it are not trusted.
import { ConfigurationError } from '../errors.js';
import { hasMethods } from '../input/functions.js';
import { withTimeout } from '../webhooks/with-timeout.js';
import { type PostgresClient, type PostgresPool, type Run, rowsOf } from './postgres.js';
import type { Row } from './sql.js';

/** The time limits for a connection, for the response to a statement of the inbox, and for the response to one that stores a delivery. */
const connectMs = 5000;
const responseMs = 10_000;
export const storingResponseMs = 3000;
/** The time to wait for a row that another transaction holds. */
const lockMs = 5000;
/** A connection that was idle for longer is asked for a response first: a NAT may have forgotten it. */
const idleMs = 5000;
/** The time that a `commit()` may keep the only connection of a pool while the inbox waits for it. */
const turnMs = 3000;

/** Settings with which each statement sees the newest rows, and a commit is on the disk, or on a standby too if the shop wants that. They end with the transaction, so that PgBouncer can lend the connection to others. */
const settings = `SET TRANSACTION ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = ${lockMs};
  SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') <> 'remote_apply'`;

/** The state of a pool, which all inboxes in it share. */
interface PoolState {
  /** When the last statement was sent that got no response. */
  silentSince: number;
  /** When each connection was made or has last responded. */
  readonly respondedAt: WeakMap<object, number>;
  /** The functions that end each open `commit()`. */
  readonly commits: Set<(reason: Error) => void>;
}

const states = new WeakMap<object, PoolState>();

function stateOf(pool: PostgresPool): PoolState {
  let state = states.get(pool);
  if (!state) {
    state = { silentSince: Number.NEGATIVE_INFINITY, respondedAt: new WeakMap(), commits: new Set() };
    states.set(pool, state);
    const { respondedAt } = state;
    ignoreErrors(pool);
    pool.on?.('acquire', ignoreErrors);
    pool.on?.('connect', (client) => respondedAt.set(Object(client), performance.now()));
  }
  return state;
}

/** Keeps a connection that breaks while nobody listens, idle or just being handed out, from ending the process. */
function ignoreErrors(poolOrClient: unknown): void {
  if (!hasMethods<Pick<PostgresPool, 'on'>>(poolOrClient, 'on') || ignored.has(poolOrClient)) return;
  ignored.add(poolOrClient);
  poolOrClient.on?.('error', () => {});
}

const ignored = new WeakSet<object>();

/** Runs statements of the inbox in a transaction of their own. */
export function transaction<Result>(
  pool: PostgresPool,
  work: (run: Run) => Promise<Result>,
  patienceMs = responseMs,
): Promise<Result> {
  return withClient(pool, async (client, awaitResponse) => {
    const run: Run = async (sql, values) =>
      rowsOf(await awaitResponse(client.query(sql, values), patienceMs));
    await awaitResponse(client.query(`BEGIN; ${settings}`), storingResponseMs);
    const result = await work(run);
    await run('COMMIT');
    return result;
  });
}

/** Runs one statement of the inbox, without values, in a transaction of its own: what is sent at once is a transaction. */
export function execute(pool: PostgresPool, sql: string, patienceMs = responseMs): Promise<Row[]> {
  return withClient(pool, async (client, awaitResponse) =>
    rowsOf(await awaitResponse(client.query(`${settings}; ${sql}`), patienceMs)),
  );
}

/** A function that rejects if there is no response in time. */
export type AwaitResponse = <Result>(promise: PromiseLike<Result>, ms: number) => Promise<Result>;

/**
 * Lends a connection to `work`, and closes it after any error: the connection may lead to a server that is read-only by now, and
 * a function that still uses it would write after ROLLBACK.
 */
export async function withClient<Result>(
  pool: PostgresPool,
  work: (client: PostgresClient, awaitResponse: AwaitResponse) => PromiseLike<Result>,
): Promise<Result> {
  const state = stateOf(pool);
  const client = await takeTrusted(pool, state);
  const awaitResponse: AwaitResponse = async (promise, ms) => {
    const sentAt = performance.now();
    let isSilent = true;
    const noteResponse = () => {
      isSilent = false;
    };
    promise.then(noteResponse, noteResponse);
    try {
      return await withTimeout(ms, promise, `PostgreSQL did not respond within ${ms / 1000} s.`);
    } catch (error) {
      if (isSilent) state.silentSince = Math.max(state.silentSince, sentAt);
      throw error;
    }
  };
  let broken: Error | undefined;
  // A connection that breaks between two statements must not end the process.
  const ignore = () => {};
  client.on?.('error', ignore);
  try {
    if (performance.now() - respondedAtOf(client, state) > idleMs)
      await awaitResponse(client.query('SELECT 1'), storingResponseMs);
    const result = await work(client, awaitResponse);
    state.respondedAt.set(client, performance.now());
    return result;
  } catch (error) {
    broken = new Error('The transaction failed.', { cause: error });
    throw error;
  } finally {
    client.removeListener?.('error', ignore);
    client.release(broken);
  }
}

/** Takes a connection, and closes those that were idle when another one gave no response, because they take the same route. */
async function takeTrusted(pool: PostgresPool, state: PoolState): Promise<PostgresClient> {
  const startedAt = performance.now();
  for (;;) {
    const client = await take(pool, state, connectMs - (performance.now() - startedAt));
    if (typeof client?.release !== 'function')
      throw new ConfigurationError(
        'openInbox(): pool.connect() gave no client. Pass a Pool of pg, not a Client.',
      );
    if (!pool.on && !state.respondedAt.has(client)) state.respondedAt.set(client, performance.now());
    if (respondedAtOf(client, state) >= state.silentSince) return client;
    // `pg` waits for the end of a connection, unless the connection has a query.
    Promise.resolve(client.query('SELECT 1')).catch(() => {});
    client.release(new Error('Another connection of the pool gave no response.'));
  }
}

/** Returns when a connection last responded. A connection that was made before the inbox was opened has never responded to it. */
function respondedAtOf(client: PostgresClient, { respondedAt }: PoolState): number {
  return respondedAt.get(client) ?? Number.NEGATIVE_INFINITY;
}

async function take(pool: PostgresPool, state: PoolState, ms: number): Promise<PostgresClient> {
  const connecting = Promise.resolve(pool.connect());
  const isOnlyOne = connectionsOf(pool) === 1;
  const turn = setTimeout(() => {
    if (isOnlyOne) for (const end of state.commits) end(new Error(tooSlow));
  }, turnMs);
  try {
    return await withTimeout(ms, connecting, noConnection);
  } catch (error) {
    connecting.then((late) => late.release()).catch(() => {});
    throw error;
  } finally {
    clearTimeout(turn);
  }
}

const noConnection = `The pool gave no connection within ${connectMs / 1000} s: all of them are in use, or PostgreSQL did not respond.`;
const tooSlow =
  `commit() held the only connection of the pool for more than ${turnMs / 1000} s while the inbox waited for it, and was rolled ` +
  'back. Give the pool two connections or more, and use only the client that commit() passes.';

/** Lets the inbox end a `commit()` that holds the only connection of its pool. Returns the function that ends this. */
export function registerCommit(pool: PostgresPool, end: (reason: Error) => void): () => void {
  const { commits } = stateOf(pool);
  commits.add(end);
  return () => commits.delete(end);
}

/** The calls of an order book that run in the transaction of each connection. */
const bookCalls = new WeakMap<object, Set<Promise<unknown>>>();

/** Returns the calls of an order book that run in the transaction of a connection. */
export function bookCallsOn(client: object): Set<Promise<unknown>> {
  const calls = bookCalls.get(client) ?? new Set();
  bookCalls.set(client, calls);
  return calls;
}

/** Returns the most connections that a pool has, if it says so. */
export function connectionsOf(pool: PostgresPool): number | undefined {
  const max: unknown = Reflect.get(Object(Reflect.get(pool, 'options')), 'max');
  return typeof max === 'number' ? max : undefined;
}

/** True if `pool.end()` was called. */
export function hasEnded(pool: PostgresPool): boolean {
  return Reflect.get(pool, 'ending') === true || Reflect.get(pool, 'ended') === true;
}

/**
 * Returns the database that a pool leads to, and the user in it, as `pg` reads them: two pools with the same place lead to one database.
 * `undefined` if that cannot be read.
 */
export function placeOf(pool: PostgresPool): string | undefined {
  const options: unknown = Reflect.get(pool, 'options');
  if (typeof options !== 'object' || options === null || Reflect.has(options, 'stream')) return undefined;
  const given = { ...options };
  const url: unknown = Reflect.get(given, 'connectionString');
  if (url !== undefined) {
    if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
    const { searchParams, hostname, port, pathname, username } = new URL(url);
    const parts = { host: hostname, port, database: pathname.slice(1), user: username };
    for (const [name, part] of Object.entries(parts)) {
      const value = searchParams.get(name) || decodeURIComponent(part);
      if (value) Reflect.set(given, name, value);
    }
  }
  const { env } = process;
  const read = (name: string, variable: string, otherwise = '') =>
    String(Reflect.get(given, name) || env[variable] || otherwise);
  const user = read('user', 'PGUSER', env.USER ?? env.USERNAME);
  const database = read('database', 'PGDATABASE', user);
  return JSON.stringify([
    read('host', 'PGHOST', 'localhost'),
    read('port', 'PGPORT', '5432'),
    database,
    user,
  ]);
}
