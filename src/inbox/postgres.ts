import { ConfigurationError } from '../errors.js';
import { hasMethods } from '../webhooks/own-options.js';
import { within } from '../webhooks/within.js';
import type { Row, SqlValue } from './sql.js';

/** A client of a `pg` pool, or anything of its shape. */
export interface PostgresClient {
  /**
   * Executes a statement, with `$1` for the first value; without values, several that `;` separates. Resolves to the result
   * of the last, or to the results of all.
   */
  query(text: string, values?: SqlValue[]): PromiseLike<{ rows: unknown[] }>;
  /** With an error, the connection has to be closed, and its transaction with it. */
  release(error?: Error): unknown;
  /** Listens to the loss of the connection, which would otherwise end the process. */
  on?(event: 'error', listener: () => void): unknown;
  /** Ends what `on` began. */
  removeListener?(event: 'error', listener: () => void): unknown;
}

/** A `Pool` of `pg`, or anything of its shape. */
export interface PostgresPool {
  /** Resolves to a connection for one transaction. */
  connect(): PromiseLike<PostgresClient>;
  /** Listens to lost idle connections, and to who takes one. */
  on?(event: 'error' | 'acquire', listener: (given: unknown) => void): unknown;
}

/** The client that a pool's `connect()` resolves to, such as `PoolClient` for a `Pool` of `pg`. */
export type ClientOf<Pool> = Pool extends {
  connect: { (): Promise<infer Client>; (callback: never): unknown };
}
  ? Client
  : Pool extends { connect(): PromiseLike<infer Client> }
    ? Client
    : PostgresClient;

/**
 * Executes one statement in a transaction of yours, and returns what your driver does: its rows, a result that has them as
 * `rows`, how many there were, or `[rows, count]`, as TypeORM and Sequelize do.
 */
export type PostgresRun = (
  sql: string,
  values: string[],
) => PromiseLike<number | readonly unknown[] | { readonly rows: readonly unknown[] }>;

/** Executes one statement and returns its rows. */
export type Run = (sql: string, values?: string[]) => Promise<Row[]>;

/** How long to wait for a connection, for a row that another transaction holds, and for a response. */
const connectMs = 10_000;
const lockMs = 5000;
const responseMs = 30_000;

/**
 * Whatever the shop's defaults are, each statement sees the newest rows, and a commit is on the disk, or where the shop
 * wants more than that. It ends with the transaction, because PgBouncer gives the session to somebody else.
 */
const settings = `SET TRANSACTION ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = ${lockMs};
  SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') <> 'remote_apply'`;

const heard = new WeakSet<object>();

/**
 * A connection that breaks while nobody waits for it must not end the process: neither an idle one, nor one that breaks in
 * the packet that hands it out, before anybody can listen.
 */
export function bearErrors(poolOrClient: unknown): void {
  if (!hasMethods<Pick<PostgresPool, 'on'>>(poolOrClient, 'on') || heard.has(poolOrClient)) return;
  heard.add(poolOrClient);
  poolOrClient.on?.('error', () => {});
  poolOrClient.on?.('acquire', bearErrors);
}

/** Runs statements of the inbox in a transaction of their own. */
export function transaction<Result>(
  pool: PostgresPool,
  work: (run: Run) => Promise<Result>,
): Promise<Result> {
  return withClient(pool, async (client) => {
    const run: Run = async (sql, values) => rowsOf(await responded(client.query(sql, values)));
    await run(`BEGIN; ${settings}`);
    const result = await work(run);
    await run('COMMIT');
    return result;
  });
}

/** Runs one statement of the inbox in a transaction of its own. Without values, what is sent at once is a transaction. */
export function execute(pool: PostgresPool, sql: string, values: string[]): Promise<Row[]> {
  if (values.length > 0) return transaction(pool, (run) => run(sql, values));
  return withClient(pool, async (client) => rowsOf(await responded(client.query(`${settings}; ${sql}`))));
}

/** The rows of the last statement: of several, `pg` returns a list of results, and what wraps another driver a list of lists. */
export function rowsOf(result: { rows: unknown[] }): Row[] {
  const { rows } = [result].flat().at(-1) ?? result;
  const last = rows.at(-1);
  return (Array.isArray(last) ? last : rows).filter(isRow);
}

/**
 * Whether a statement that returns the id of the one row that it changes has changed it, in the result of any driver.
 * `undefined` if that cannot be told: a list that is not empty proves nothing, because TypeORM returns `[[], 0]`.
 */
export function hasChanged(result: unknown, id: number): boolean | undefined {
  if (typeof result === 'number' || typeof result === 'bigint')
    return [0, 1].includes(Number(result)) ? Number(result) === 1 : undefined;
  const rows: unknown = Array.isArray(result) ? result : Reflect.get(Object(result), 'rows');
  if (!Array.isArray(rows)) return undefined;
  if (rows.length === 0) return false;
  // After the rows comes their count or the driver's whole result; after the result of BEGIN, that of the statement.
  if (rows.length > 1) return hasChanged(rows.at(-1), id);
  return Object.values(Object(rows[0])).some((value) => Number(value) === id) || undefined;
}

/**
 * Runs `work` on a client of the pool. After an error the transaction is rolled back. Without `keep` the connection is
 * closed at once: what still uses the client would write outside of the transaction.
 */
export async function withClient<Result>(
  pool: PostgresPool,
  work: (client: PostgresClient) => PromiseLike<Result>,
  { keep = true } = {},
): Promise<Result> {
  const connecting = Promise.resolve(pool.connect());
  const client = await within(connectMs, connecting, noConnection).catch((error) => {
    connecting.then((late) => late.release()).catch(() => {});
    throw error;
  });
  if (typeof client?.release !== 'function')
    throw new ConfigurationError(
      'openInbox(): pool.connect() gave no client. Pass a Pool of pg, not a Client.',
    );
  let broken: Error | undefined;
  // A connection that breaks between two statements must not end the process.
  const ignore = () => {};
  client.on?.('error', ignore);
  try {
    return await work(client);
  } catch (error) {
    const failed = new Error('The transaction failed.', { cause: error });
    broken = keep
      ? await responded(client.query('ROLLBACK'), lockMs).then(
          () => undefined,
          () => failed,
        )
      : failed;
    throw error;
  } finally {
    client.removeListener?.('error', ignore);
    client.release(broken);
  }
}

/** A connection may be cut without notice. */
const responded = <Result>(promise: PromiseLike<Result>, ms = responseMs) =>
  within(ms, promise, `PostgreSQL did not respond within ${ms / 1000} s.`);

const noConnection = `The pool gave no connection within ${connectMs / 1000} s: all of them are in use, or PostgreSQL did not respond.`;

/** An identifier in quotes. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null;
}
