import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigurationError } from '../errors.js';
import { warnOfDisk } from './disk.js';
import { type Durability, now, type Row, type Statement, type Work } from './sql.js';
import { Connection, databaseClass, isBusy, type SqliteDatabase } from './sqlite.js';
import { type ColumnTypes, isCurrent, probeOf, type TableSet, versionsOf } from './tables.js';

/** The place of tables in SQLite: a file of their own, or the shop's database. */
export type SqlitePlace = { file: string } | { database: SqliteDatabase };

/** A set of tables in SQLite, and the connection on which they are used. */
export class SqliteTables {
  readonly connection: Connection;
  /** The identity of the file, which tells it from another; `undefined` in memory. */
  readonly file: string | undefined;
  readonly #place: SqlitePlace;
  readonly #set: TableSet;
  #isReady = false;

  /** Throws if the place cannot be used. If it is only locked, the tables are made later. */
  constructor(place: SqlitePlace, set: TableSet) {
    this.#place = place;
    this.#set = set;
    const open = () => new Connection('file' in place ? openFile(place.file) : place.database);
    this.connection = explainFailure(place, set, open);
    try {
      explainFailure(place, set, () => this.connection.runAtOnce(() => this.#setUp()));
    } catch (error) {
      if (!isBusy(error)) {
        this.close();
        throw error;
      }
    }
    this.file = identityOf(this.connection.path);
    warnOfDisk(this.connection.path);
  }

  /** Executes statements that belong together. Statements that write need `how`, with which they run in a transaction. */
  run<Result>(work: () => Work<Result>, how?: Durability): Promise<Result> {
    const db = this.connection;
    const runWork = () => finish(work, (statement) => this.all(statement));
    return db.runWhenFree(() => {
      this.#setUp();
      if (!how) return runWork();
      const result = db.transaction(runWork, how);
      if (how === 'durably') this.checkFile();
      return result;
    });
  }

  all(statement: Statement): Row[] {
    return execute(this.connection, statement);
  }

  /** Closes a file. A database of the shop stays open. */
  close(): void {
    if ('file' in this.#place) this.connection.database.close();
  }

  /** Throws if the file was deleted or replaced: SQLite goes on writing into a deleted file, and its rows are gone when the process ends. */
  checkFile(): void {
    const { path } = this.connection;
    const hasLog = this.connection.pragma('journal_mode') === 'wal';
    if (identityOf(path) === this.file && (!hasLog || identityOf(`${path}-wal`) !== undefined)) return;
    throw new ConfigurationError(
      `${JSON.stringify(path)} was deleted or replaced while ${this.#set.holds} was open, so what is stored would be lost. ` +
        'Restore the file with its -wal, or restart the process on a new one.',
    );
  }

  /** Creates the tables. A file that is no SQLite database, or is of a later version that breaks this one, is left unchanged. */
  #setUp(): void {
    if (this.#isReady) return;
    const [place, set, db] = [this.#place, this.#set, this.connection];
    const name = nameOf(place);
    if ('database' in place) db.journalMode();
    explainFailure(place, set, () => {
      const isMade = hasTables(db, set, name);
      // `secure_delete` overwrites what purge() deletes.
      if ('file' in place)
        db.database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON');
      if (isMade) db.database.exec(probeOf(set));
      try {
        // This runs even if there is nothing to create, so that a read-only database is refused. A lock shows nothing then.
        db.transaction(() => createTables(db, set, name), 'durably');
      } catch (error) {
        if (!isMade || !isBusy(error)) throw error;
      }
    });
    this.#isReady = true;
  }
}

/** Executes a statement on a connection. */
export function execute(db: Connection, { text, values }: Statement): Row[] {
  const time = Date.now();
  // SQLite has no such clause: one process writes at a time.
  const own = text.replace('FOR UPDATE SKIP LOCKED', '');
  return db.all(own, ...values.map((value) => (value === now ? time : value)));
}

/** Executes statements that belong together. */
export function finish<Result>(work: () => Work<Result>, all: (statement: Statement) => Row[]): Result {
  const steps = work();
  let step = steps.next([]);
  while (!step.done) step = steps.next(all(step.value));
  return step.value;
}

/** Runs work, and explains the error of a place that cannot be used. */
function explainFailure<Result>(place: SqlitePlace, set: TableSet, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof ConfigurationError || isBusy(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const kind = 'file' in place ? 'file' : 'database';
    const name = nameOf(place);
    if (/^no such (?:column|table)/.test(reason))
      throw new ConfigurationError(
        `${name} has tables named ${set.name} that are not of this package: ${reason}. Rename them, or use another ${kind}.`,
      );
    const isOther = reason === 'file is not a database';
    const advice = {
      file: isOther
        ? 'the SQLite file of the inbox, or the name of a new one'
        : 'a file that can be written, in a folder that exists',
      database: isOther ? 'one that was opened on a SQLite file' : 'an open one that can be written',
    }[kind];
    throw new ConfigurationError(`${name} cannot be used as ${set.holds}: ${reason}. Pass ${advice}.`);
  }
}

/** Returns the name of the file for messages, also if the shop opened it. A closed database does not tell its path. */
function nameOf(place: SqlitePlace): string {
  if ('file' in place) return JSON.stringify(place.file);
  try {
    const { path } = new Connection(place.database);
    return path === '' ? 'database' : JSON.stringify(path);
  } catch {
    return 'database';
  }
}

/** Returns what tells one file from another; `undefined` if the path is empty, as in memory, or leads to no file. */
export function identityOf(path: string): string | undefined {
  const found = path === '' ? undefined : statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

/** Creates a file with mode 600 if there is none; SQLite creates its log files with the same mode. */
function openFile(file: string): SqliteDatabase {
  const Database = databaseClass();
  const path = file === ':memory:' ? file : resolve(file);
  if (path !== ':memory:' && !existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  return new Database(path);
}

const columnTypes: ColumnTypes = { id: 'integer', counted: '', unique: (_, column) => `UNIQUE (${column})` };

function createTables(db: Connection, set: TableSet, name: string): void {
  // Another process may have created them meanwhile.
  hasTables(db, set, name);
  db.database.exec(`${set.create(columnTypes)}; ${probeOf(set)}`);
}

/** True if a set of tables is there with all that this version needs; `undefined` if nothing of it is. */
export function hasTables(db: Connection, set: TableSet, name: string): boolean | undefined {
  const [found] = db.all('SELECT 1 FROM sqlite_schema WHERE name = ?', `${set.name}_version`);
  return found && isCurrent(set, db.all(versionsOf(set))[0], name);
}
