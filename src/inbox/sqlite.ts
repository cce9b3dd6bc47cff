import { ConfigurationError } from '../errors.js';

/** The parts of a `node:sqlite` `DatabaseSync` that are used. */
export interface SqliteDatabase {
  /** Runs statements that return nothing. */
  exec(sql: string): void;
  /** Compiles one statement. */
  prepare(sql: string): SqliteStatement;
  /** Closes the connection. */
  close(): void;
  /** Whether a transaction is open; from Node 22.16 on. */
  readonly isTransaction?: boolean;
  /** Whether the connection is open. */
  readonly isOpen?: boolean;
}

/** The parts of a `StatementSync` that are used. */
export interface SqliteStatement {
  /** Runs it and returns how many rows changed. */
  run(...values: SqliteValue[]): { changes: number | bigint };
  /** The first row. */
  get(...values: SqliteValue[]): Record<string, unknown> | undefined;
  /** All rows. */
  all(...values: SqliteValue[]): Record<string, unknown>[];
  /** Numbers as `number`, whatever the connection's default is. */
  setReadBigInts?(enabled: boolean): void;
  /** Rows as objects, whatever the connection's default is. */
  setReturnArrays?(enabled: boolean): void;
}

/** A value that SQLite takes. */
export type SqliteValue = null | number | bigint | string | Uint8Array;

/** A transaction is open on this connection, so that a row written now could be rolled back with it. */
export class OpenTransaction extends Error {
  override readonly message =
    'A transaction stayed open on the database that was passed to openInbox(). Commit it without waiting for other work.';
}

type DatabaseSync = new (path: string) => SqliteDatabase;

/** `node:sqlite`, loaded when an inbox is opened, so that importing this entry works on every platform. */
export function databaseClass(): DatabaseSync {
  const sqlite = globalThis.process?.getBuiltinModule?.('node:sqlite');
  const found: unknown = sqlite && Reflect.get(sqlite, 'DatabaseSync');
  if (isDatabaseClass(found)) return found;
  throw new ConfigurationError(
    'openInbox() needs node:sqlite, which this runtime does not have. Use Node 22.13 or later, or store deliveries in a ' +
      'queue of yours with the option `accept` of handler() and nodeHandler().',
  );
}

function isDatabaseClass(value: unknown): value is DatabaseSync {
  return typeof value === 'function';
}

/** Runs `work` in a transaction that no other process can write into. */
export function transaction<Result>(database: SqliteDatabase, work: () => Result): Result {
  refuseTransaction(database);
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    try {
      database.exec('ROLLBACK');
    } catch {
      // SQLite has already rolled back, as it does when the disk is full.
    }
    throw error;
  }
}

export function refuseTransaction(database: SqliteDatabase): void {
  if (hasTransaction(database)) throw new OpenTransaction();
}

/** Before Node 22.16 the only way to know is to try to begin one. */
export function hasTransaction(database: SqliteDatabase): boolean {
  if (typeof database.isTransaction === 'boolean') return database.isTransaction;
  try {
    database.exec('BEGIN; ROLLBACK');
    return false;
  } catch (error) {
    if (String(error).includes('within a transaction')) return true;
    throw error;
  }
}

/** Whether trying again may help: another connection writes, or a transaction is open on this one. */
export function isBusy(error: unknown): boolean {
  return error instanceof OpenTransaction || isLocked(error);
}

/** Whether another connection writes. */
export function isLocked(error: unknown): boolean {
  const code: unknown = error instanceof Error && Reflect.get(error, 'errcode');
  // Extended codes have the primary one in their low byte. SQLITE_BUSY is 5, SQLITE_LOCKED 6.
  return typeof code === 'number' && [5, 6].includes(code & 0xff);
}
