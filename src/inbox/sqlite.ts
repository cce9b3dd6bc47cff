import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigurationError } from '../errors.js';
import { hasMethods } from '../input/functions.js';
import type { Durability, Row } from './sql.js';

/** An open database of `node:sqlite`, `better-sqlite3` or `libsql`: the parts that all of them have. */
export interface SqliteDatabase {
  /** Runs statements that return nothing. */
  exec(sql: string): void;
  /** Compiles one statement. */
  prepare(sql: string): SqliteStatement;
  /** Closes the connection. */
  close(): void;
  /** True if a transaction is open. Only `node:sqlite` has it, from Node 22.16 on. */
  readonly isTransaction?: boolean;
  /** True if the connection is open. Only `node:sqlite` has it. */
  readonly isOpen?: boolean;
}

/** A compiled statement. */
export interface SqliteStatement {
  /** Runs it and returns how many rows changed. */
  run(...values: SqliteValue[]): {
    /** Rows inserted, updated or deleted. */
    changes: number | bigint;
  };
  /** Returns the first row. */
  get(...values: SqliteValue[]): Record<string, unknown> | undefined;
  /** Returns all rows. */
  all(...values: SqliteValue[]): Record<string, unknown>[];
  /** Sets if numbers are read as `bigint`, whatever the connection's default is. Only `node:sqlite` has it. */
  setReadBigInts?(enabled: boolean): void;
  /** Sets if rows are arrays, not objects, whatever the connection's default is. Only `node:sqlite` has it. */
  setReturnArrays?(enabled: boolean): void;
}

/** A value that SQLite takes. */
export type SqliteValue = null | number | bigint | string | Uint8Array;

/** The parts that the types of the three drivers have in common. Their rows differ, and other drivers lack the method that sets how numbers are read. */
export interface GivenDatabase {
  /** Runs statements that return nothing. */
  exec(sql: string): unknown;
  /** Closes the connection. */
  close(): unknown;
  /** Compiles one statement. */
  prepare(sql: string): {
    /** Runs it and returns how many rows changed. */
    run(...values: SqliteValue[]): {
      /** Rows inserted, updated or deleted. */
      changes: number | bigint;
    };
  } & (
    | {
        /** Sets if numbers are read as `bigint`: the method of `node:sqlite`. */
        setReadBigInts(enabled: boolean): unknown;
      }
    | {
        /** Sets if numbers are read as `bigint`: the method of `better-sqlite3` and `libsql`. */
        safeIntegers(enabled?: boolean): unknown;
      }
  );
}

/** The parts that only `better-sqlite3` and `libsql` have. */
interface Driver extends SqliteDatabase {
  readonly inTransaction?: boolean;
  prepare(sql: string): DriverStatement;
}

interface DriverStatement extends SqliteStatement {
  safeIntegers?(enabled: boolean): unknown;
  /** True if the statement returns rows: `all()` throws if it does not. */
  readonly reader?: boolean;
}

/** True for a database of the three drivers, open or closed: statements of other drivers return promises, or take callbacks. */
export function isSqliteDatabase(value: unknown): value is SqliteDatabase {
  if (!hasMethods<SqliteDatabase>(value, 'exec', 'prepare', 'close')) return false;
  let statement: unknown;
  try {
    statement = value.prepare('SELECT 1');
  } catch {
    // The database may be closed, for example. The store then says so.
    return true;
  }
  if (!hasMethods<SqliteStatement>(statement, 'run', 'get', 'all')) return false;
  const hasNumbers = hasMethods(statement, 'setReadBigInts') || hasMethods(statement, 'safeIntegers');
  return hasNumbers && Array.isArray(statement.all());
}

/** The time that a call waits for another connection's lock, or for the end of the shop's own transaction. */
const patienceMs = 5000;

/** The time that `commit()`, which is synchronous, may block in one turn of the event loop. */
const commitPatienceMs = 20;

/** The error for a connection on which a transaction is open: a row written now could be rolled back with it. */
export class OpenTransaction extends Error {
  override readonly message =
    'A transaction stayed open on the database that was passed to openInbox(). Commit it without waiting for other work, and ' +
    'before commit(), which begins its own';
}

/** One connection to a database: nothing blocks the event loop while another connection holds a lock. */
export class Connection {
  readonly database: Driver;
  /** The path of the file; empty for a database in memory. */
  readonly path: string;
  readonly #compiled = new Map<string, DriverStatement>();
  #last: Promise<unknown> = Promise.resolve();
  static #hasBlocked = false;

  constructor(database: SqliteDatabase) {
    this.database = database;
    const [, , path] = Object.values(database.prepare('PRAGMA database_list').get() ?? {});
    this.path = String(path ?? '');
  }

  /** Runs work that needs the database to be free, in the order of calls; tries again for five seconds while it is not. */
  runWhenFree<Result>(work: () => Result): Promise<Result> {
    const until = performance.now() + patienceMs;
    const turn = this.#last.then(async () => {
      for (;;) {
        try {
          return this.#withPragma('busy_timeout', 0, work);
        } catch (error) {
          if (!isBusy(error) || performance.now() >= until) throw error;
        }
        await sleep(5 + Math.random() * 15);
      }
    });
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Runs work now. Only the first call in a turn of the event loop waits for a lock, of all connections. */
  runAtOnce<Result>(work: () => Result): Result {
    const startedAt = performance.now();
    try {
      return this.#withPragma('busy_timeout', Connection.#hasBlocked ? 0 : commitPatienceMs, work);
    } finally {
      if (!Connection.#hasBlocked && performance.now() - startedAt >= 1) {
        Connection.#hasBlocked = true;
        setImmediate(() => {
          Connection.#hasBlocked = false;
        });
      }
    }
  }

  /** Runs `work` in a transaction that no other process can write into. With `durably`, it is on the disk when this returns. */
  transaction<Result>(work: () => Result, how: Durability): Result {
    if (this.hasTransaction()) throw new OpenTransaction();
    return this.#withPragma('synchronous', this.#syncLevel(how === 'durably'), () => {
      this.database.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        this.database.exec('COMMIT');
        return result;
      } catch (error) {
        try {
          this.database.exec('ROLLBACK');
        } catch {
          // SQLite has already rolled back, as it does when the disk is full.
        }
        throw error;
      }
    });
  }

  /** True if a transaction is open. Before Node 22.16, only an attempt to begin one tells. */
  hasTransaction(): boolean {
    const { database } = this;
    const isOpen = database.isTransaction ?? database.inTransaction;
    if (isOpen !== undefined) return isOpen;
    try {
      database.exec('BEGIN; ROLLBACK');
      return false;
    } catch (error) {
      if (String(error).includes('within a transaction')) return true;
      throw error;
    }
  }

  /** Returns the value of a pragma, whose statement is compiled each time: SQLite reads most of these values while it compiles. */
  pragma(name: string): unknown {
    return Object.values(this.database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  }

  all(sql: string, ...values: SqliteValue[]): Row[] {
    let statement = this.#compiled.get(sql);
    if (!statement) {
      statement = this.database.prepare(sql);
      // The statement overrides the options of the connection.
      statement.setReadBigInts?.(false);
      statement.setReturnArrays?.(false);
      statement.safeIntegers?.(false);
      this.#compiled.set(sql, statement);
    }
    if (statement.reader !== false) return statement.all(...values);
    statement.run(...values);
    return [];
  }

  /** Returns the journal mode. Refuses those in which a crash can take away, or damage, what was stored, except in memory, which is for tests. */
  journalMode(): string {
    const mode = String(this.pragma('journal_mode'));
    if (this.path === '' || (mode !== 'memory' && mode !== 'off')) return mode;
    throw new ConfigurationError(
      `The database of the inbox is in journal mode ${mode.toUpperCase()}, in which a crash can damage it, so nothing is ` +
        'stored. Run "PRAGMA journal_mode = WAL" on it first.',
    );
  }

  /** Returns the value of `synchronous`: with a write-ahead log, FULL waits for the disk and NORMAL does not; with a journal, only EXTRA survives a power cut. */
  #syncLevel(durable: boolean): number {
    const own = Number(this.pragma('synchronous'));
    if (this.journalMode() === 'wal') return durable ? Math.max(own, 2) : 1;
    return durable ? 3 : own;
  }

  /** Runs work with another value of a pragma than the shop's, whose time-out would block the event loop. */
  #withPragma<Result>(pragma: string, value: number, work: () => Result): Result {
    const own = Number(this.pragma(pragma));
    if (own === value) return work();
    this.database.exec(`PRAGMA ${pragma} = ${value}`);
    try {
      return work();
    } finally {
      this.database.exec(`PRAGMA ${pragma} = ${own}`);
    }
  }
}

type DatabaseSync = new (path: string) => SqliteDatabase;

/** Returns the class of `node:sqlite`, which is loaded when an inbox is opened, so that importing this entry works on every platform. */
export function databaseClass(): DatabaseSync {
  const found = findDatabaseClass();
  if (found) return found;
  throw new ConfigurationError(
    'An inbox in a file needs node:sqlite, which this runtime does not have. Use Node 22.13 or later, pass "database", an open ' +
      'one of better-sqlite3, or "pool" for PostgreSQL, or store deliveries in a queue of yours with the option `accept` of ' +
      'handler() and nodeHandler().',
  );
}

/** Returns the class of `node:sqlite`; `undefined` if the runtime has none. */
export function findDatabaseClass(): DatabaseSync | undefined {
  const sqlite = globalThis.process?.getBuiltinModule?.('node:sqlite');
  return hasMethods<{ DatabaseSync: DatabaseSync }>(sqlite, 'DatabaseSync') ? sqlite.DatabaseSync : undefined;
}

/** The message of better-sqlite3 while a statement of the shop is being read. Other drivers write beside that. */
const isReading = 'This database connection is busy executing a query';

/** True if trying again may help: another connection writes, or a transaction is open on this one. */
export function isBusy(error: unknown): boolean {
  if (error instanceof OpenTransaction) return true;
  if (!(error instanceof Error)) return false;
  // Extended codes have the primary one in their low byte. SQLITE_BUSY is 5, SQLITE_LOCKED 6.
  const number: unknown = Reflect.get(error, 'errcode');
  if (typeof number === 'number') return [5, 6].includes(number & 0xff);
  return /^SQLITE_(?:BUSY|LOCKED)/.test(String(Reflect.get(error, 'code'))) || error.message === isReading;
}
