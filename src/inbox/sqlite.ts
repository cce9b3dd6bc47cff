import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigurationError } from '../errors.js';
import { hasMethods } from '../webhooks/own-options.js';
import type { Durability, Row } from './sql.js';

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
  run(...values: SqliteValue[]): {
    /** Rows inserted, updated or deleted. */
    changes: number | bigint;
  };
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

/** How long a call waits for another connection's lock, or for the end of the shop's own transaction. */
const patienceMs = 5000;

/** How long `commit()`, which is synchronous, may block in one turn of the event loop. */
const commitPatienceMs = 20;

/** A transaction is open on this connection, so that a row written now could be rolled back with it. */
export class OpenTransaction extends Error {
  override readonly message =
    'A transaction stayed open on the database that was passed to openInbox(). Commit it without waiting for other work, and ' +
    'before commit(), which begins its own';
}

/** One connection to a database: nothing blocks the event loop while another connection holds a lock. */
export class Connection {
  readonly database: SqliteDatabase;
  /** Empty for a database in memory. */
  readonly path: string;
  readonly #compiled = new Map<string, SqliteStatement>();
  #last: Promise<unknown> = Promise.resolve();
  static #hasBlocked = false;

  constructor(database: SqliteDatabase) {
    this.database = database;
    const [, , path] = Object.values(database.prepare('PRAGMA database_list').get() ?? {});
    this.path = String(path ?? '');
  }

  /** Runs work that needs the database to be free, in the order of calls; tries again for five seconds while it is not. */
  whenFree<Result>(work: () => Result): Promise<Result> {
    const until = performance.now() + patienceMs;
    const turn = this.#last.then(async () => {
      for (;;) {
        try {
          return this.#with('busy_timeout', 0, work);
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
  atOnce<Result>(work: () => Result): Result {
    const startedAt = performance.now();
    try {
      return this.#with('busy_timeout', Connection.#hasBlocked ? 0 : commitPatienceMs, work);
    } finally {
      if (!Connection.#hasBlocked && performance.now() - startedAt >= 1) {
        Connection.#hasBlocked = true;
        setImmediate(() => {
          Connection.#hasBlocked = false;
        });
      }
    }
  }

  /** Runs `work` in a transaction that no other process can write into. `durably`: it is on the disk when this returns. */
  transaction<Result>(work: () => Result, how: Durability): Result {
    if (this.hasTransaction()) throw new OpenTransaction();
    return this.#with('synchronous', this.#syncLevel(how === 'durably'), () => {
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

  /** Before Node 22.16 the only way to know is to try to begin one. */
  hasTransaction(): boolean {
    const { database } = this;
    if (typeof database.isTransaction === 'boolean') return database.isTransaction;
    try {
      database.exec('BEGIN; ROLLBACK');
      return false;
    } catch (error) {
      if (String(error).includes('within a transaction')) return true;
      throw error;
    }
  }

  /** Compiled each time: SQLite reads most of these values while it compiles. */
  pragma(name: string): unknown {
    return Object.values(this.database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  }

  all(sql: string, ...values: SqliteValue[]): Row[] {
    let statement = this.#compiled.get(sql);
    if (!statement) {
      statement = this.database.prepare(sql);
      // Overrides the options of the connection.
      statement.setReadBigInts?.(false);
      statement.setReturnArrays?.(false);
      this.#compiled.set(sql, statement);
    }
    return statement.all(...values);
  }

  /** In other modes than these a crash can take away, or damage, what was stored. A database in memory is for tests. */
  journalMode(): string {
    const mode = String(this.pragma('journal_mode'));
    if (this.path === '' || (mode !== 'memory' && mode !== 'off')) return mode;
    throw new ConfigurationError(
      `The database of the inbox is in journal mode ${mode.toUpperCase()}, in which a crash can damage it, so nothing is ` +
        'stored. Run "PRAGMA journal_mode = WAL" on it first.',
    );
  }

  /** With a write-ahead log, FULL waits for the disk and NORMAL does not; with a journal, only EXTRA survives a power cut. */
  #syncLevel(durable: boolean): number {
    const own = Number(this.pragma('synchronous'));
    if (this.journalMode() === 'wal') return durable ? Math.max(own, 2) : 1;
    return durable ? 3 : own;
  }

  /** Runs work with another value of a pragma than the shop's, whose time-out would block the event loop. */
  #with<Result>(pragma: string, value: number, work: () => Result): Result {
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

/** `node:sqlite`, loaded when an inbox is opened, so that importing this entry works on every platform. */
export function databaseClass(): DatabaseSync {
  const sqlite = globalThis.process?.getBuiltinModule?.('node:sqlite');
  if (hasMethods<{ DatabaseSync: DatabaseSync }>(sqlite, 'DatabaseSync')) return sqlite.DatabaseSync;
  throw new ConfigurationError(
    'An inbox in a file needs node:sqlite, which this runtime does not have. Use Node 22.13 or later, pass "pool" for ' +
      'PostgreSQL, or store deliveries in a queue of yours with the option `accept` of handler() and nodeHandler().',
  );
}

/** Whether trying again may help: another connection writes, or a transaction is open on this one. */
export function isBusy(error: unknown): boolean {
  if (error instanceof OpenTransaction) return true;
  const code: unknown = error instanceof Error && Reflect.get(error, 'errcode');
  // Extended codes have the primary one in their low byte. SQLITE_BUSY is 5, SQLITE_LOCKED 6.
  return typeof code === 'number' && [5, 6].includes(code & 0xff);
}
