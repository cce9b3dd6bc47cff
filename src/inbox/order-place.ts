import { ConfigurationError } from '../errors.js';
import { hasMethods } from '../input/functions.js';
import { memoizeUntilRejected } from '../webhooks/memoize.js';
import { withTimeout } from '../webhooks/with-timeout.js';
import { orderTables } from './order-tables.js';
import { type Run, rowsOfAny } from './postgres.js';
import { bookCallsOn, transaction } from './postgres-connections.js';
import { decodeRow, explainError, openTables, type PostgresPlace, toPostgres } from './postgres-tables.js';
import { raw, type Statement, sql, type Work } from './sql.js';
import { Connection, type SqliteDatabase } from './sqlite.js';
import { execute as executeOn, finish, identityOf, type SqlitePlace, SqliteTables } from './sqlite-tables.js';

/** The database that has the tables of an order book. */
export interface BookPlace {
  /** Executes statements in a transaction of their own. */
  run<Result>(work: () => Work<Result>): Promise<Result>;
  /** Executes statements in a transaction of the shop. Returns the result itself on SQLite. */
  runIn<Result>(transaction: unknown, work: () => Work<Result>): Result | Promise<Result>;
  /** Returns a statement that lets one transaction at a time work under a name. */
  readonly lock: (name: string) => Statement;
  /** Returns a statement that finds one row if there is a table of that name. */
  readonly find: (table: string) => Statement;
  close(): Promise<void>;
}

/** An order book in SQLite. */
export class SqliteBook implements BookPlace {
  readonly #tables: SqliteTables;

  constructor(place: SqlitePlace) {
    this.#tables = new SqliteTables(place, orderTables);
  }

  run<Result>(work: () => Work<Result>): Promise<Result> {
    return this.#tables.run(work, 'durably');
  }

  runIn<Result>(given: unknown, work: () => Work<Result>): Result {
    const db = this.#inTransaction(given);
    return finish(work, (statement) => executeOn(db, statement));
  }

  /** Locks nothing, because in SQLite one process writes at a time. */
  readonly lock = () => sql`SELECT 1`;
  readonly find = (table: string) => sql`SELECT 1 FROM sqlite_schema WHERE name = ${table}`;

  async close(): Promise<void> {
    this.#tables.close();
  }

  #inTransaction(given: unknown): Connection {
    if (!hasMethods<SqliteDatabase>(given, 'prepare', 'exec')) throw new ConfigurationError(noDatabase);
    const db = connections.get(given) ?? new Connection(given);
    connections.set(given, db);
    const { file, connection } = this.#tables;
    const isSame = given === connection.database || (file !== undefined && identityOf(db.path) === file);
    if (!isSame) throw new ConfigurationError(otherDatabase);
    if (!db.hasTransaction()) throw new ConfigurationError(noTransaction);
    return db;
  }
}

/** The connection of each database that a transaction was passed on: it keeps its compiled statements. */
const connections = new WeakMap<object, Connection>();

const noDatabase =
  'The order book takes a transaction on SQLite as the database that commit() passes: book.credit(db, event.data).';
const otherDatabase =
  'The transaction is of another database than the order book. Open both with the same file or database as the inbox.';
const noTransaction =
  'No transaction is open on this database. Call the order book inside commit(), or between BEGIN and COMMIT, so that it is ' +
  'written with your own order or not at all.';

/** An order book in PostgreSQL. */
export class PostgresBook implements BookPlace {
  readonly #place: PostgresPlace;
  readonly #openTables: () => Promise<unknown>;

  constructor(place: PostgresPlace) {
    this.#place = place;
    this.#openTables = memoizeUntilRejected(() => openTables(place, orderTables));
    // The tables are opened early, because a transaction of the shop may have the only connection, and waits for them only briefly.
    this.#openTables().catch(() => {});
  }

  async run<Result>(work: () => Work<Result>): Promise<Result> {
    await this.#openTables();
    return transaction(this.#place.pool, (run) => this.#finish(run, work));
  }

  runIn<Result>(given: unknown, work: () => Work<Result>): Promise<Result> {
    const calls = bookCallsOn(Object(given));
    const call = this.#runIn(given, work);
    calls.add(call);
    return call.finally(() => calls.delete(call));
  }

  async #runIn<Result>(given: unknown, work: () => Work<Result>): Promise<Result> {
    const execute: unknown = typeof given === 'function' ? given : Reflect.get(Object(given), 'query');
    if (given === this.#place.pool || typeof execute !== 'function') throw new ConfigurationError(noClient);
    await withTimeout(tablesMs, this.#openTables()).catch(() => {});
    const run: Run = async (text, values = []) => {
      const rows = rowsOfAny(await Reflect.apply(execute, given, [text, values]));
      if (!rows) throw new ConfigurationError(noRows);
      return rows;
    };
    try {
      return await this.#finish(run, work);
    } catch (error) {
      throw explainError(error, this.#place.schema);
    }
  }

  /** Returns text, because Prisma reads no column of the type void. */
  readonly lock = (name: string) =>
    sql`SELECT pg_advisory_xact_lock(${lockClass}, hashtext(${`${this.#place.schema} ${name}`}))::text`;
  readonly find = (table: string) =>
    sql`SELECT 1 AS found WHERE to_regclass(${raw(`$payments$${table}$payments$`)}) IS NOT NULL`;

  async close(): Promise<void> {}

  async #finish<Result>(run: Run, work: () => Work<Result>): Promise<Result> {
    const { schema } = this.#place;
    const steps = work();
    let step = steps.next([]);
    while (!step.done) step = steps.next((await run(...toPostgres(schema, step.value))).map(decodeRow));
    return step.value;
  }
}

const noClient =
  'A statement through the pool is in no transaction. Pass the order book what commit() passes: book.credit(tx, event.data), or ' +
  'the function that you pass to done().';
const noRows =
  'The function passed to the order book must return the rows of each statement, or a result that has them as "rows": with ' +
  'Prisma use $queryRawUnsafe.';

/** The time that a transaction of the shop waits until the tables are there. */
const tablesMs = 2000;

/** The class of the locks that a book takes: a random number, which no other program is likely to lock. */
const lockClass = 726_354_918;
