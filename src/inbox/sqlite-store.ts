import { statSync } from 'node:fs';
import { ConfigurationError, PaymentsError } from '../errors.js';
import { isThenable } from '../webhooks/own-options.js';
import { commitError, lostLease, settling } from './claims.js';
import type { Claim } from './entry.js';
import { type Durability, now, type Row, type Statement, sql, type Work } from './sql.js';
import { Connection, isBusy } from './sqlite.js';
import { openFile, type SqlitePlace, setUp } from './sqlite-tables.js';
import { InboxStore } from './store.js';

const isAsync =
  'commit() takes a synchronous function, because a transaction cannot wait: nothing was written. ' +
  'Await what is needed first, then call commit().';

const nested =
  'The function passed to commit() began a transaction, but it runs in one that also marks the delivery done: nothing was ' +
  'written. Leave BEGIN and COMMIT out, or use SAVEPOINT and RELEASE.';

/** Deliveries in a SQLite database. */
export class SqliteStore extends InboxStore {
  readonly identity: readonly unknown[];
  readonly pollMs = 250;
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
      this.#connection.atOnce(() => this.#setUp());
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
    if (typeof fn !== 'function') throw commitError('commit() takes a function.');
    if (Object.prototype.toString.call(fn) === '[object AsyncFunction]') throw commitError(isAsync);
    const db = this.#connection;
    const work = () => {
      if (this.#all(settling(claim, { state: 'done' })).length === 0) throw lostLease();
      const result: unknown = Reflect.apply(fn, undefined, [db.database]);
      if (!isThenable(result)) {
        const marked = sql`SELECT id FROM payments_inbox
          WHERE id = ${claim.id} AND attempts = ${claim.attempt} AND state = 'done'`;
        if (db.hasTransaction() && this.#all(marked).length === 0)
          throw commitError('The function passed to commit() ended its transaction and began another.');
        return result;
      }
      // Nobody else handles its rejection, which must not end the process.
      Promise.resolve(result).catch(() => {});
      throw commitError(isAsync);
    };
    try {
      return db.atOnce(() => db.transaction(work, 'durably'));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (error.message.includes('within a transaction')) throw commitError(nested);
      if (!isBusy(error)) throw error;
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

  /** The write-ahead log has it too. SQLite refuses this while a transaction is open. */
  protected async reclaim(): Promise<void> {
    const db = this.#connection;
    await db.whenFree(() => db.hasTransaction() || db.database.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
  }

  #all({ text, values }: Statement): Row[] {
    const time = Date.now();
    // One process writes at a time.
    const own = text.replace('FOR UPDATE SKIP LOCKED', '');
    return this.#connection.all(own, ...values.map((value) => (value === now ? time : value)));
  }

  #setUp(): void {
    if (this.#isReady) return;
    if ('database' in this.#place) this.#connection.journalMode();
    usable(this.#place, () => setUp(this.#connection, this.#place));
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
    const name = 'file' in place ? JSON.stringify(place.file) : 'database';
    if (/^no such (?:column|table)/.test(reason))
      throw new ConfigurationError(
        `${name} has tables named payments_inbox that are not of this package: ${reason}. Rename them, or use another file.`,
      );
    const usableFile =
      reason === 'file is not a database'
        ? 'the SQLite file of the inbox, or the name of a new one'
        : 'a file that can be written, in a folder that exists';
    const advice = 'file' in place ? usableFile : 'an open one';
    throw new ConfigurationError(`${name} cannot be used as an inbox: ${reason}. Pass ${advice}.`);
  }
}

/** Empty in memory, where nothing is found. */
function identityOf(path: string): string | undefined {
  const found = path === '' ? undefined : statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}
