import { ConfigurationError } from '../errors.js';
import { hasMethods } from '../webhooks/own-options.js';
import { within } from '../webhooks/within.js';
import type { Row, SqlValue } from './sql.js';

/** A client of a `pg` pool, or anything of its shape. */
export interface PostgresClient {
  /** Executes a statement, with `$1` for the first value, or several without values. Resolves to the last result, or to all. */
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

/** A pool whose `connect()` resolves to such a client, with or without the form of `pg` that takes a callback. */
export type PoolOf<Client> =
  | { connect: { (): Promise<Client>; (callback: never): unknown } }
  | { connect(): PromiseLike<Client> };

/** Executes one statement in a transaction of yours. Returns what your driver does: rows, `{ rows }`, a count, or `[rows, count]`. */
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

/** Each statement sees the newest rows, and a commit is on the disk, or more if the shop wants that. Ends with the transaction, for PgBouncer. */
const settings = `SET TRANSACTION ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = ${lockMs};
  SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') <> 'remote_apply'`;

const heard = new WeakSet<object>();

/** A connection that breaks while nobody listens, idle or just being handed out, must not end the process. */
export function bearErrors(poolOrClient: unknown): void {
  if (!hasMethods<Pick<PostgresPool, 'on'>>(poolOrClient, 'on') || heard.has(poolOrClient)) return;
  heard.add(poolOrClient);
  poolOrClient.on?.('error', () => {});
  poolOrClient.on?.('acquire', bearErrors);
}

/** Runs statements of the inbox in a transaction of their own. */
export function transaction<Result>(pool: PostgresPool, work: (run: Run) => Promise<Result>) {
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
  return (Array.isArray(last) ? last : rows).filter(
    (row): row is Row => typeof row === 'object' && row !== null,
  );
}

/** Whether a statement has changed the row whose id it returns, in the result of any driver; `undefined` if that is unclear. */
export function hasChanged(result: unknown, id: number): boolean | undefined {
  if (typeof result === 'number' || typeof result === 'bigint')
    return [0, 1].includes(Number(result)) ? Number(result) === 1 : undefined;
  const rows: unknown = Array.isArray(result) ? result : Reflect.get(Object(result), 'rows');
  if (!Array.isArray(rows)) return undefined;
  if (rows.length === 0) return false;
  // Such as the `[[], 0]` of TypeORM: last comes the count or the driver's whole result, and after that of BEGIN the statement's.
  if (rows.length > 1) return hasChanged(rows.at(-1), id);
  return Object.values(Object(rows[0])).some((value) => Number(value) === id) || undefined;
}

/** After an error, rolls back; without `keep` it closes the connection, as what still uses it would write after ROLLBACK. */
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
    const [end] = await Promise.allSettled(keep ? [responded(client.query('ROLLBACK'), lockMs)] : []);
    if (end?.status !== 'fulfilled') broken = new Error('The transaction failed.', { cause: error });
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

/** The code of an error of PostgreSQL, or of the network. */
export function errorCode(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, 'code') : undefined;
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
