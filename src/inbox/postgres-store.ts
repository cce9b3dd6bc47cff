import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigurationError, PaymentsError } from '../errors.js';
import { findUnfinished, isFunction } from '../input/functions.js';
import type { Delivery } from '../webhooks/delivery.js';
import { memoizeUntilRejected } from '../webhooks/memoize.js';
import { withTimeout } from '../webhooks/with-timeout.js';
import {
  type Claim,
  commitError,
  commitFunction,
  type InboxState,
  lostLease,
  type Settlement,
} from './entry.js';
import { errorCode, hasChanged, type PostgresClient, quoteName } from './postgres.js';
import {
  type AwaitResponse,
  bookCallsOn,
  connectionsOf,
  execute,
  hasEnded,
  placeOf,
  registerCommit,
  storingResponseMs,
  transaction,
  withClient,
} from './postgres-connections.js';
import {
  advanceIds,
  decodeRow,
  explainError,
  inSchema,
  openTables,
  type PostgresPlace,
  tableIsGone,
  toLiterals,
  toPostgres,
} from './postgres-tables.js';
import { type Row, type Statement, sql, type Work } from './sql.js';
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
import { inboxTables, tablesOf } from './tables.js';

const ended = 'The function passed to commit() ended its transaction.';
const unawaited =
  'The function passed to commit() returned while the order book was still working in its transaction, so commit() was rolled ' +
  'back. Await each call, as in: await book.credit(tx, data).';

const unclear =
  'What the function passed to done() returned does not say whether the row was changed. Return the rows of the statement, a ' +
  'result that has them as "rows", or how many there were.';

/** The code of PostgreSQL if somebody else had the row for too long. */
export const lockTimeout = '55P03';
const held =
  'A transaction holds the delivery: its function is inside commit() or done(). Wait until attemptMs is over, or restart ' +
  'its server.';

/** The code of PostgreSQL if a row has that id. Only a sequence that is behind its table, as after logical replication, gives an id again. */
const takenId = '23505';

const droppedText = (tables: string[], schema: string) =>
  `Somebody dropped tables of the inbox from schema ${quoteName(schema)}: ${tables.join(', ')}. They were made again, empty: the ` +
  'deliveries in them are gone, though they had got 200. Look for orders that were paid and not fulfilled, and for a tool that ' +
  'drops tables which it does not know, such as the push command of an ORM.';

/** The time to try to store a delivery or its outcome: the service may deliver once, and not wait much longer. */
const storingMs = 8000;
const notStored = `PostgreSQL could not be reached for ${storingMs / 1000} s.`;

/** The time limits until a transaction has begun and has the row, and until it is committed. */
const beginMs = 10_000;
const commitMs = 30_000;

/** True if the database was reached, and would say the same again: its data, rights, names or syntax are wrong. */
function isPermanent(error: unknown): boolean {
  return error instanceof ConfigurationError || /^(22|23|28|3D|3F|42)...$/.test(String(errorCode(error)));
}

/** The time to look for the outcome of a commit while the database cannot be reached. */
const lookUpMs = 60_000;

/** The inbox of several servers: tables in a PostgreSQL database, whose clock is the only one that counts. */
export class PostgresStore extends InboxStore {
  readonly identity: readonly unknown[];
  readonly #place: PostgresPlace;
  readonly #report: (error: unknown) => unknown;
  /** Makes the tables before the first use, and tries again at the next one if that failed. */
  #prepareTables: () => Promise<void>;
  #wasReady = false;
  #refusing = 0;
  #lastRefused: Promise<unknown> = Promise.resolve();

  constructor(place: PostgresPlace, report: (error: unknown) => unknown) {
    super();
    this.#place = place;
    this.#report = report;
    this.identity = [placeOf(place.pool) ?? place.pool, place.schema];
    this.#prepareTables = memoizeUntilRejected(() => this.#open());
  }

  /** One connection is kept for storing, because a function in `commit()` holds another one for as long as it takes. */
  override get mostAtOnce(): number {
    return Math.max(1, (connectionsOf(this.#place.pool) ?? Number.POSITIVE_INFINITY) - 1);
  }

  override get isEnded(): boolean {
    return hasEnded(this.#place.pool);
  }

  /**
   * Stores a delivery in one round trip, and tries again while the database cannot be reached, which is safe because the key is
   * looked up first. An INSERT alone would wait for as long as a transaction of the shop holds the row.
   */
  insert(key: string, delivery: Delivery, lastError?: string): Promise<Known> {
    const storing = sql`WITH stored AS (
        INSERT INTO payments_inbox (${newColumns}) SELECT ${newValues(key, delivery, lastError)}
        WHERE NOT EXISTS (SELECT FROM payments_inbox WHERE key = ${key})
        ON CONFLICT ON CONSTRAINT payments_inbox_key DO NOTHING RETURNING id
      )
      INSERT INTO payments_inbox_content (${contentColumns}) SELECT id, ${contentValues(delivery)} FROM stored
      ${overOrphan} RETURNING id`;
    return this.#retry(async () => {
      for (let tries = 0; tries < 100; tries++) {
        if ((await this.executeSoon(storing)).length > 0) return undefined;
        const [known] = await this.executeSoon(selectKnown(key));
        if (known) return toKnown(known);
      }
      throw noRowError();
    });
  }

  /** Uses one connection, however many deliveries arrive at once: one that waits behind `most` others would be pushed out anyway. */
  override async refuse(...args: Parameters<InboxStore['refuse']>): ReturnType<InboxStore['refuse']> {
    if (this.#refusing >= args[1]) return undefined;
    this.#refusing++;
    const turn = this.#lastRefused.then(() => this.#retry(() => super.refuse(...args)));
    this.#lastRefused = turn.catch(() => {}).finally(() => this.#refusing--);
    return withTimeout(storingMs, turn, notStored);
  }

  /** Ends a claim, and looks at the row if the response was lost. */
  override async settle(claim: Claim, settlement: Settlement, from?: 'done'): Promise<boolean> {
    let isUncertain = false;
    return this.#retry(async () => {
      try {
        if (await super.settle(claim, settlement, from)) return true;
      } catch (error) {
        isUncertain = true;
        throw error;
      }
      return isUncertain && this.#isIn(claim, settlement.state);
    });
  }

  /** Marks the delivery done first: until the end of the transaction, nobody else can change the row, and a query for the outcome waits. */
  async commit(claim: Claim, fn: unknown, signal: AbortSignal): Promise<unknown> {
    if (!isFunction(fn)) throw commitError('commit() takes a function, not a generator.');
    let result: unknown;
    let isSent = false;
    let stop = (_reason: unknown) => {};
    const stopped = new Promise((_, reject) => {
      stop = reject;
    });
    stopped.catch(() => {});
    signal.addEventListener('abort', () => stop(signal.reason));
    const commit = async (client: PostgresClient, awaitResponse: AwaitResponse) => {
      const begin = (sql: string) => awaitResponse(client.query(`BEGIN READ WRITE; ${sql}`), beginMs);
      await this.done(claim, begin);
      signal.throwIfAborted();
      result = await fn(client);
      const problem = findUnfinished(result, commitFunction);
      if (problem) throw problem;
      const calls = bookCallsOn(client);
      if (calls.size > 0) {
        await Promise.allSettled(calls);
        throw commitError(unawaited);
      }
      isSent = true;
      // If the row is not done, the cast of the text fails, and nothing is committed.
      const check = sql`SELECT CAST(CASE count(*) WHEN 1 THEN '1' ELSE ${ended} END AS integer)
        FROM payments_inbox WHERE id = ${claim.id} AND state = 'done'; COMMIT`;
      await awaitResponse(client.query(toLiterals(this.#place.schema, check)), commitMs);
    };
    const { pool } = this.#place;
    try {
      await withClient(pool, (client, awaitResponse) => {
        const isOver = registerCommit(pool, stop);
        return Promise.race([commit(client, awaitResponse), stopped]).finally(isOver);
      });
    } catch (error) {
      if (error instanceof Error && error.message.includes(ended)) throw commitError(ended);
      if (!isSent || !(await this.#retry(() => this.isDone(claim), lookUpMs))) throw error;
    }
    return result;
  }

  override async done(claim: Claim, run: unknown): Promise<void> {
    if (typeof run !== 'function') throw commitError('done() takes a function that executes a statement.');
    const rows: unknown = await run(
      ...toPostgres(this.#place.schema, settlementSql(claim, { state: 'done' })),
    );
    const isMarked = hasChanged(rows, claim.id);
    if (isMarked === undefined) throw commitError(unclear);
    if (!isMarked) throw lostLease();
  }

  /** True if the claim is done. Locks the row to wait for a transaction that has it, for which a condition in the query would not wait. */
  override isDone(claim: Claim): Promise<boolean> {
    return this.#isIn(claim, 'done');
  }

  async #isIn({ id, attempt }: Claim, state: InboxState): Promise<boolean> {
    const locked = sql`SELECT state, attempts FROM payments_inbox WHERE id = ${id} FOR UPDATE`;
    const [row] = await this.execute(locked);
    return row?.state === state && Number(row.attempts) === attempt;
  }

  override async retry(key: string, force: boolean): Promise<boolean> {
    await this.#prepareTables();
    return super.retry(key, force).catch((error: unknown) => {
      if (errorCode(error) !== lockTimeout) throw error;
      throw new PaymentsError(held, { code: 'inbox_busy', cause: error });
    });
  }

  protected override execute(statement: Statement): Promise<Row[]> {
    return this.#execute(statement);
  }

  protected override executeSoon(statement: Statement): Promise<Row[]> {
    return this.#execute(statement, storingResponseMs);
  }

  async #execute(statement: Statement, patienceMs?: number): Promise<Row[]> {
    const text = toLiterals(this.#place.schema, statement);
    return (await this.#withTables(() => execute(this.#place.pool, text, patienceMs))).map(decodeRow);
  }

  protected run<Result>(work: () => Work<Result>): Promise<Result> {
    const runWork = () =>
      transaction(
        this.#place.pool,
        async (run) => {
          const steps = work();
          let step = steps.next([]);
          while (!step.done)
            step = steps.next((await run(...toPostgres(this.#place.schema, step.value))).map(decodeRow));
          return step.value;
        },
        storingResponseMs,
      );
    return this.#withTables(runWork);
  }

  /** Runs `work` with the tables, which are made again if somebody has dropped them. */
  async #withTables<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#prepareTables();
    const ready = this.#prepareTables;
    try {
      return await work();
    } catch (error) {
      if (errorCode(error) === takenId) {
        await advanceIds(this.#place, inboxTables);
        return work();
      }
      if (!tableIsGone.includes(String(errorCode(error)))) throw explainError(error, this.#place.schema);
    }
    // The first call whose statement failed makes the tables, and the others wait for that.
    if (this.#prepareTables === ready) this.#prepareTables = memoizeUntilRejected(() => this.#open());
    await this.#prepareTables();
    return work();
  }

  async #open(): Promise<void> {
    const missing = await openTables(this.#place, inboxTables);
    // If some of the tables were there, the others have been dropped.
    const areGone = this.#wasReady ? missing.length > 0 : missing.length % tablesOf(inboxTables).length > 0;
    this.#wasReady = true;
    if (areGone)
      void this.#report(
        new PaymentsError(droppedText(missing, this.#place.schema), { code: 'inbox_tables' }),
      );
  }

  /** Vacuums the tables. If the role may not, the server's own vacuum does it later. */
  protected async reclaim(): Promise<void> {
    const vacuum = inSchema('VACUUM payments_inbox, payments_inbox_content', this.#place.schema);
    await withClient(this.#place.pool, (client) => client.query(vacuum)).catch(() => {});
  }

  /** Repeats work until the database can be reached, unless it refuses the statement itself. */
  async #retry<Result>(work: () => Promise<Result>, ms = storingMs): Promise<Result> {
    const until = performance.now() + ms;
    let lastError: unknown;
    for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 500)) {
      const trying = work();
      try {
        return await withTimeout(until - performance.now(), trying, notStored);
      } catch (error) {
        trying.catch(() => {});
        const isOver = performance.now() + waitMs >= until;
        if (isPermanent(error) || this.isEnded) throw error;
        if (isOver) throw lastError ?? error;
        lastError = error;
      }
      await sleep(waitMs * (0.5 + Math.random()));
    }
  }
}
