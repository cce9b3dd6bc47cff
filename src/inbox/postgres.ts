import type { Row, SqlValue } from './sql.js';

/** A client of a `pg` pool, or anything of its shape. */
export interface PostgresClient {
  /** Executes a statement, with `$1` for the first value, or several without values. Resolves to the last result, or to all. */
  query(text: string, values?: SqlValue[]): PromiseLike<{ rows: unknown[] }>;
  /** Returns the connection to the pool. With an error, the connection has to be closed, and its transaction with it. */
  release(error?: Error): unknown;
  /** Listens to the loss of the connection, which would otherwise end the process. */
  on?(event: 'error', listener: () => void): unknown;
  /** Removes a listener that `on` added. */
  removeListener?(event: 'error', listener: () => void): unknown;
}

/** A `Pool` of `pg`, or anything of its shape. */
export interface PostgresPool {
  /** Resolves to a connection for one transaction. */
  connect(): PromiseLike<PostgresClient>;
  /** Listens to lost idle connections, to new connections, and to connections that are taken. */
  on?(event: 'error' | 'connect' | 'acquire', listener: (given: unknown) => void): unknown;
}

/** A pool whose `connect()` resolves to such a client, with or without the form of `pg` that takes a callback. */
export type PoolOf<Client> =
  | { connect: { (): Promise<Client>; (callback: never): unknown } }
  | { connect(): PromiseLike<Client> };

/** A function that executes one statement in a transaction of yours. It returns what your driver does: rows, `{ rows }`, a count, or `[rows, count]`. */
export type PostgresRun = (
  sql: string,
  values: string[],
) => PromiseLike<number | readonly unknown[] | { readonly rows: readonly unknown[] }>;

/** A function that executes one statement and returns its rows. */
export type Run = (sql: string, values?: string[]) => Promise<Row[]>;

/** Returns the rows of the last statement. For several statements, `pg` returns a list of results, and a wrapper of another driver a list of lists. */
export function rowsOf(result: { rows: unknown[] }): Row[] {
  const { rows } = [result].flat().at(-1) ?? result;
  const last = rows.at(-1);
  return (Array.isArray(last) ? last : rows).filter(
    (row): row is Row => typeof row === 'object' && row !== null,
  );
}

/** True if a statement has changed the row whose id it returns, by the result of any driver; `undefined` if that is unclear. */
export function hasChanged(result: unknown, id: number): boolean | undefined {
  if (typeof result === 'number' || typeof result === 'bigint')
    return [0, 1].includes(Number(result)) ? Number(result) === 1 : undefined;
  const rows: unknown = Array.isArray(result) ? result : Reflect.get(Object(result), 'rows');
  if (!Array.isArray(rows)) return undefined;
  if (rows.length === 0) return false;
  // A list such as the `[[], 0]` of TypeORM ends with the count or the driver's whole result. After BEGIN, a list ends with the result of the statement.
  if (rows.length > 1) return hasChanged(rows.at(-1), id);
  return Object.values(Object(rows[0])).some((value) => Number(value) === id) || undefined;
}

/** Returns the rows of a statement, from the result of any driver; `undefined` if it has none, such as a count. */
export function rowsOfAny(result: unknown): Row[] | undefined {
  const rows: unknown = Array.isArray(result) ? result : Reflect.get(Object(result), 'rows');
  if (!Array.isArray(rows)) return undefined;
  // TypeORM and Sequelize return `[rows, count]`.
  if (Array.isArray(rows[0])) return rowsOfAny(rows[0]);
  return rows.filter((row): row is Row => typeof row === 'object' && row !== null);
}

/** Returns the code of an error of PostgreSQL, or of the network. */
export function errorCode(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, 'code') : undefined;
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
