import { type SqliteDatabase, type SqliteStatement, type SqliteValue, transaction } from './sqlite.js';

/** Statements on one database, each compiled once. */
export class Statements {
  readonly database: SqliteDatabase;
  readonly #compiled = new Map<string, SqliteStatement>();

  constructor(database: SqliteDatabase) {
    this.database = database;
  }

  transaction<Result>(work: () => Result): Result {
    return transaction(this.database, work);
  }

  /** Returns how many rows changed. */
  protected change(sql: string, ...values: SqliteValue[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  protected first(sql: string, ...values: SqliteValue[]): Record<string, unknown> | undefined {
    return this.#statement(sql).get(...values);
  }

  protected all(sql: string, ...values: SqliteValue[]): Record<string, unknown>[] {
    return this.#statement(sql).all(...values);
  }

  #statement(sql: string): SqliteStatement {
    const known = this.#compiled.get(sql);
    if (known) return known;
    const statement = this.database.prepare(sql);
    // Overrides the options of the connection.
    statement.setReadBigInts?.(false);
    statement.setReturnArrays?.(false);
    this.#compiled.set(sql, statement);
    return statement;
  }
}

export function isoOf(ms: unknown): string {
  return new Date(Number(ms)).toISOString();
}
