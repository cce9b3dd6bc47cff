import { setTimeout as sleep } from 'node:timers/promises';
import { types } from 'node:util';
import { PaymentsError } from '../errors.js';
import { findUnfinished, isFunction, isThenable } from '../input/functions.js';
import type { Delivery } from '../webhooks/delivery.js';
import { type Claim, commitError, commitFunction, lostLease } from './entry.js';
import { type Durability, sql, type Work } from './sql.js';
import { isBusy } from './sqlite.js';
import { type SqlitePlace, SqliteTables } from './sqlite-tables.js';
import {
  contentColumns,
  contentValues,
  InboxStore,
  type Known,
  newColumns,
  newValues,
  noRowError,
  overOrphan,
  selectKnown,
  settlementSql,
  toKnown,
} from './store.js';
import { inboxTables } from './tables.js';

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
  readonly #tables: SqliteTables;

  /** Throws if the place cannot be used. If it is only locked, its tables are made later. */
  constructor(place: SqlitePlace) {
    super();
    this.#tables = new SqliteTables(place, inboxTables);
    this.identity = [this.#tables.file ?? this.#tables.connection.database];
  }

  insert(key: string, delivery: Delivery, lastError?: string): Promise<Known> {
    return this.run(function* () {
      const [known] = yield selectKnown(key);
      if (known) return toKnown(known);
      const [stored] = yield sql`INSERT INTO payments_inbox (${newColumns})
        VALUES (${newValues(key, delivery, lastError)}) RETURNING id`;
      if (!stored) throw noRowError();
      yield sql`INSERT INTO payments_inbox_content (${contentColumns})
        VALUES (${Number(stored.id)}, ${contentValues(delivery)}) ${overOrphan}`;
      return undefined;
    }, 'durably');
  }

  /** Marks the delivery done first: even if `fn` ends the transaction itself, its writes are not repeated. */
  commit(claim: Claim, fn: unknown): unknown {
    if (!isFunction(fn)) throw commitError('commit() takes a function, not a generator.');
    if (Object.prototype.toString.call(fn) === '[object AsyncFunction]')
      throw asyncError('the function was not called');
    const db = this.#tables.connection;
    let isInside = false;
    const work = () => {
      this.#tables.checkFile();
      if (this.#tables.all(settlementSql(claim, { state: 'done' })).length === 0) throw lostLease();
      isInside = true;
      const result: unknown = Reflect.apply(fn, undefined, [db.database]);
      isInside = false;
      if (isThenable(result)) {
        // A rejection must not end the process. The result's own `then` is not called, because a query builder's `then` runs the query.
        if (types.isPromise(result)) Reflect.apply(Promise.prototype.then, result, [undefined, () => {}]);
        throw asyncError('what the function wrote was rolled back, but not what it writes after an await');
      }
      const problem = findUnfinished(result, commitFunction);
      if (problem) throw problem;
      const marked = sql`SELECT id FROM payments_inbox
        WHERE id = ${claim.id} AND attempts = ${claim.attempt} AND state = 'done'`;
      if (db.hasTransaction() && this.#tables.all(marked).length === 0)
        throw commitError('The function passed to commit() ended its transaction and began another.');
      return result;
    };
    try {
      return db.runAtOnce(() => db.transaction(work, 'durably'));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (error.message === 'cannot start a transaction within a transaction') throw commitError(nested);
      // An error from inside the function is its own, even if it met a lock: the lock is of something else.
      if (isInside || !isBusy(error)) throw error;
      const text = `commit() could not write: ${error.message}. Nothing was written; the delivery is tried again.`;
      throw new PaymentsError(text, { code: 'inbox_busy' });
    }
  }

  override async close(): Promise<void> {
    this.#tables.close();
  }

  protected run<Result>(work: () => Work<Result>, how?: Durability): Promise<Result> {
    return this.#tables.run(work, how);
  }

  /** Empties the write-ahead log, which has the deleted rows too. SQLite keeps the log while a transaction is open here, or another connection uses it. */
  protected async reclaim(): Promise<void> {
    const db = this.#tables.connection;
    const isFree = () => {
      try {
        return db.hasTransaction() || db.pragma('wal_checkpoint(TRUNCATE)') !== 1;
      } catch (error) {
        // A statement of the shop is being read: other work of the inbox must not wait for it.
        if (isBusy(error)) return false;
        throw error;
      }
    };
    for (let tries = 0; tries < 50 && !(await db.runWhenFree(isFree)); tries++) await sleep(100);
  }
}
