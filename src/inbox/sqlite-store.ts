import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { types } from 'node:util';
import { ConfigurationError, PaymentsError } from '../errors.js';
import { isFunction, isThenable, unfinished } from '../webhooks/own-options.js';
import { type Claim, commitError, lostLease, passed } from './entry.js';
import { type Durability, now, type Row, raw, type Statement, sql, type Work } from './sql.js';
import { Connection, databaseClass, isBusy, type SqliteDatabase } from './sqlite.js';
import { InboxStore, settling } from './store.js';
import { type ColumnTypes, inboxTables, isCurrent, probeOf, type TableSet, versionsOf } from './tables.js';

/** Where an inbox on SQLite is: a file of its own, or the shop's database. */
export type SqlitePlace = { file: string } | { database: SqliteDatabase };

const asyncError = (fate: string) =>
  commitError(
    `commit() takes a synchronous function, because a transaction cannot wait: ${fate}. Await what is needed first, then ` +
      'call commit(); end a query builder with what runs it at once, such as .run().',
  );

const nested =
  'The function passed to commit() began a transaction where one was open, so commit() was rolled back. In the database ' +
  'of the inbox it runs in one that also marks the delivery done: leave BEGIN and COMMIT out, or use SAVEPOINT and RELEASE.';

export class SqliteStore extends InboxStore {
  readonly identity: readonly unknown[];
  readonly pollMs = 250;
  protected readonly knownKey = raw('(key)');
  readonly #place: SqlitePlace;
  readonly #connection: Connection;
  readonly #file: string | undefined;
  #isReady = false;

  /** Throws what makes the place unusable. If it is only locked, its tables are made later. */
  constructor(place: SqlitePlace) {
    super();
    this.#place = place;
    const open = () => new Connection('file' in place ? openFile(place.file) : place.database);
    this.#connection = usable(place, open);
    try {
      usable(place, () => this.#connection.atOnce(() => this.#setUp()));
    } catch (error) {
      if (!isBusy(error)) {
        if ('file' in place) this.#connection.database.close();
        throw error;
      }
    }
    this.#file = identityOf(this.#connection.path);
    this.identity = [this.#file ?? this.#connection.database];
  }

  /** Marks it done first: even if `fn` ends the transaction itself, its writes are not repeated. */
  commit(claim: Claim, fn: unknown): unknown {
    if (!isFunction(fn)) throw commitError('commit() takes a function, not a generator.');
    if (Object.prototype.toString.call(fn) === '[object AsyncFunction]')
      throw asyncError('the function was not called');
    const db = this.#connection;
    let isInside = false;
    const work = () => {
      this.#checkFile();
      if (this.#all(settling(claim, { state: 'done' })).length === 0) throw lostLease();
      isInside = true;
      const result: unknown = Reflect.apply(fn, undefined, [db.database]);
      isInside = false;
      if (isThenable(result)) {
        // Its rejection must not end the process. Its own `then` is not called: that of a query builder runs the query.
        if (types.isPromise(result)) Reflect.apply(Promise.prototype.then, result, [undefined, () => {}]);
        throw asyncError('what the function wrote was rolled back, but not what it writes after an await');
      }
      const problem = unfinished(result, passed);
      if (problem) throw problem;
      const marked = sql`SELECT id FROM payments_inbox
        WHERE id = ${claim.id} AND attempts = ${claim.attempt} AND state = 'done'`;
      if (db.hasTransaction() && this.#all(marked).length === 0)
        throw commitError('The function passed to commit() ended its transaction and began another.');
      return result;
    };
    try {
      return db.atOnce(() => db.transaction(work, 'durably'));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (error.message === 'cannot start a transaction within a transaction') throw commitError(nested);
      // What the function throws is its own: it met a lock of something else.
      if (isInside || !isBusy(error)) throw error;
      const text = `commit() could not write: ${error.message}. Nothing was written; the delivery is tried again.`;
      throw new PaymentsError(text, { code: 'inbox_busy' });
    }
  }

  override async close(): Promise<void> {
    if ('file' in this.#place) this.#connection.database.close();
  }

  protected run<Result>(work: () => Work<Result>, how?: Durability): Promise<Result> {
    const db = this.#connection;
    const executed = () => {
      const steps = work();
      let step = steps.next([]);
      while (!step.done) step = steps.next(this.#all(step.value));
      return step.value;
    };
    return db.whenFree(() => {
      this.#setUp();
      if (!how) return executed();
      const result = db.transaction(executed, how);
      if (how === 'durably') this.#checkFile();
      return result;
    });
  }

  /** The write-ahead log has it too. SQLite keeps that while a transaction is open here, or another connection uses it. */
  protected async reclaim(): Promise<void> {
    const db = this.#connection;
    const isFree = () => {
      try {
        return db.hasTransaction() || db.pragma('wal_checkpoint(TRUNCATE)') !== 1;
      } catch (error) {
        // A statement of the shop's is being read: other work of the inbox must not wait for it.
        if (isBusy(error)) return false;
        throw error;
      }
    };
    for (let tries = 0; tries < 50 && !(await db.whenFree(isFree)); tries++) await sleep(100);
  }

  #all({ text, values }: Statement): Row[] {
    const time = Date.now();
    // One process writes at a time.
    const own = text.replace('FOR UPDATE SKIP LOCKED', '');
    return this.#connection.all(own, ...values.map((value) => (value === now ? time : value)));
  }

  /** Creates the tables. What is no SQLite database, or is of a later version that breaks this one, is left unchanged. */
  #setUp(): void {
    if (this.#isReady) return;
    const [place, db] = [this.#place, this.#connection];
    const name = nameOf(place);
    if ('database' in place) db.journalMode();
    usable(place, () => {
      const isMade = hasTables(db, inboxTables, name);
      // What purge() deletes is overwritten.
      if ('file' in place)
        db.database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON');
      if (isMade) db.database.exec(probeOf(inboxTables));
      try {
        // Also where there is nothing to do: what may only be read is refused. A lock shows nothing then.
        db.transaction(() => createTables(db, inboxTables, name), 'durably');
      } catch (error) {
        if (!isMade || !isBusy(error)) throw error;
      }
    });
    this.#isReady = true;
  }

  /** SQLite goes on writing into a deleted file, and what it writes is gone when the process ends. */
  #checkFile(): void {
    const { path } = this.#connection;
    const hasLog = this.#connection.pragma('journal_mode') === 'wal';
    if (identityOf(path) === this.#file && (!hasLog || identityOf(`${path}-wal`) !== undefined)) return;
    throw new ConfigurationError(
      `${JSON.stringify(path)} was deleted or replaced while the inbox was open, so what is stored would be lost. ` +
        'Restore the file with its -wal, or restart the process on a new one.',
    );
  }
}

/** Says what cannot be used as an inbox. */
function usable<Result>(place: SqlitePlace, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof ConfigurationError || isBusy(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const kind = 'file' in place ? 'file' : 'database';
    const name = nameOf(place);
    if (/^no such (?:column|table)/.test(reason))
      throw new ConfigurationError(
        `${name} has tables named payments_inbox that are not of this package: ${reason}. Rename them, or use another ${kind}.`,
      );
    const isOther = reason === 'file is not a database';
    const advice = {
      file: isOther
        ? 'the SQLite file of the inbox, or the name of a new one'
        : 'a file that can be written, in a folder that exists',
      database: isOther ? 'one that was opened on a SQLite file' : 'an open one that can be written',
    }[kind];
    throw new ConfigurationError(`${name} cannot be used as an inbox: ${reason}. Pass ${advice}.`);
  }
}

/** Names the file, also if the shop opened it. A closed database does not say. */
function nameOf(place: SqlitePlace): string {
  if ('file' in place) return JSON.stringify(place.file);
  try {
    const { path } = new Connection(place.database);
    return path === '' ? 'database' : JSON.stringify(path);
  } catch {
    return 'database';
  }
}

/** Empty in memory, where nothing is found. */
function identityOf(path: string): string | undefined {
  const found = path === '' ? undefined : statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

/** Creates a file with mode 600 if there is none; SQLite creates its log files with the same. */
function openFile(file: string): SqliteDatabase {
  const Database = databaseClass();
  const path = file === ':memory:' ? file : resolve(file);
  if (path !== ':memory:' && !existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  return new Database(path);
}

const columnTypes: ColumnTypes = { id: 'integer', counted: '', unique: (_, column) => `UNIQUE (${column})` };

function createTables(db: Connection, set: TableSet, name: string): void {
  // Another process may have been faster.
  hasTables(db, set, name);
  db.database.exec(`${set.create(columnTypes)}; ${probeOf(set)}`);
}

/** True if a set of tables is there with all that this version needs; `undefined` if nothing of it is. */
export function hasTables(db: Connection, set: TableSet, name: string): boolean | undefined {
  const [found] = db.all('SELECT 1 FROM sqlite_schema WHERE name = ?', `${set.name}_version`);
  return found && isCurrent(set, db.all(versionsOf(set))[0], name);
}
