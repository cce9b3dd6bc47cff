import { setTimeout as sleep } from 'node:timers/promises';
import { PaymentsError } from '../errors.js';
import { once } from '../webhooks/once.js';
import { isFunction, unfinished } from '../webhooks/own-options.js';
import { type Claim, commitError, lostLease, passed } from './entry.js';
import type { PostgresClient } from './postgres.js';
import { bearErrors, errorCode, execute, hasChanged, quoted, transaction, withClient } from './postgres.js';
import {
  advanceIds,
  decoded,
  explained,
  inSchema,
  openTables,
  type PostgresPlace,
  tableIsGone,
  written,
} from './postgres-tables.js';
import { type Row, raw, type Statement, sql, type Work } from './sql.js';
import { InboxStore, settling } from './store.js';
import { inboxTables, tablesOf } from './tables.js';

const ended = 'The function passed to commit() ended its transaction.';

const unclear =
  'What the function passed to done() returned does not say whether the row was changed. Return the rows of the statement, a ' +
  'result that has them as "rows", or how many there were.';

/** Of PostgreSQL: somebody else had the row for too long. */
export const lockTimeout = '55P03';
const held =
  'A transaction holds the delivery: its function is inside commit() or done(). Wait until attemptMs is over, or restart ' +
  'its server.';

/** Of PostgreSQL: a row has that id. Only a sequence behind its table, as after logical replication, gives an id again. */
const takenId = '23505';

const dropped = (tables: string[], schema: string) =>
  `Somebody dropped tables of the inbox from schema ${quoted(schema)}: ${tables.join(', ')}. They were made again, empty: the ` +
  'deliveries in them are gone, though they had got 200. Look for orders that were paid and not fulfilled, and for a tool that ' +
  'drops tables which it does not know, such as the push command of an ORM.';

/** How long to look for the outcome of a commit while the database cannot be reached. */
const lookUpMs = 60_000;

/** The inbox of several servers: tables in a PostgreSQL database, whose clock is the only one that counts. */
export class PostgresStore extends InboxStore {
  readonly identity: readonly unknown[];
  protected readonly knownKey = raw('ON CONSTRAINT payments_inbox_key');
  readonly #place: PostgresPlace;
  readonly #report: (error: unknown) => unknown;
  /** Makes the tables before the first use, and tries again at the next one if that failed. */
  #ready: () => Promise<void>;
  #wasReady = false;

  constructor(place: PostgresPlace, report: (error: unknown) => unknown) {
    super();
    this.#place = place;
    this.#report = report;
    this.identity = [place.pool, place.schema];
    this.#ready = once(() => this.#open());
    bearErrors(place.pool);
  }

  /** Marks it done first: until the end, nobody else can change the row, and who asks for the outcome waits. */
  async commit(claim: Claim, fn: unknown, signal: AbortSignal): Promise<unknown> {
    if (!isFunction(fn)) throw commitError('commit() takes a function, not a generator.');
    let result: unknown;
    let isSent = false;
    const aborted = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    aborted.catch(() => {});
    const commit = async (client: PostgresClient) => {
      await this.done(claim, (sql: string) => client.query(`BEGIN READ WRITE; ${sql}`));
      signal.throwIfAborted();
      result = await fn(client);
      const problem = unfinished(result, passed);
      if (problem) throw problem;
      isSent = true;
      // Casting the text fails, and nothing is committed.
      const check = sql`SELECT CAST(CASE count(*) WHEN 1 THEN '1' ELSE ${raw(`'${ended}'`)} END AS integer)
        FROM payments_inbox WHERE id = ${claim.id} AND state = 'done'; COMMIT`;
      const [text] = written(this.#place.schema, check);
      await client.query(text);
    };
    const inTime = (client: PostgresClient) => Promise.race([commit(client), aborted]);
    try {
      await withClient(this.#place.pool, inTime, { keep: false });
    } catch (error) {
      if (error instanceof Error && error.message.includes(ended)) throw commitError(ended);
      if (!isSent || !(await this.#lookUp(claim))) throw error;
    }
    return result;
  }

  override async done(claim: Claim, run: unknown): Promise<void> {
    if (typeof run !== 'function') throw commitError('done() takes a function that executes a statement.');
    const rows: unknown = await run(...written(this.#place.schema, settling(claim, { state: 'done' })));
    const isMarked = hasChanged(rows, claim.id);
    if (isMarked === undefined) throw commitError(unclear);
    if (!isMarked) throw lostLease();
  }

  /** Waits for a transaction that has the row, which the condition would not. */
  override async isDone({ id, attempt }: Claim): Promise<boolean> {
    const locked = sql`SELECT state, attempts FROM payments_inbox WHERE id = ${id} FOR UPDATE`;
    const [row] = await this.execute(locked);
    return row?.state === 'done' && Number(row.attempts) === attempt;
  }

  override async retry(key: string, force: boolean): Promise<boolean> {
    await this.#ready();
    return super.retry(key, force).catch((error: unknown) => {
      if (errorCode(error) !== lockTimeout) throw error;
      throw new PaymentsError(held, { code: 'inbox_busy', cause: error });
    });
  }

  protected override execute(statement: Statement): Promise<Row[]> {
    return this.#withTables(async () =>
      (await execute(this.#place.pool, ...written(this.#place.schema, statement))).map(decoded),
    );
  }

  protected run<Result>(work: () => Work<Result>): Promise<Result> {
    const executed = () =>
      transaction(this.#place.pool, async (run) => {
        const steps = work();
        let step = steps.next([]);
        while (!step.done)
          step = steps.next((await run(...written(this.#place.schema, step.value))).map(decoded));
        return step.value;
      });
    return this.#withTables(executed);
  }

  /** Runs `work` with the tables, which are made again if somebody has dropped them. */
  async #withTables<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#ready();
    const ready = this.#ready;
    try {
      return await work();
    } catch (error) {
      if (errorCode(error) === takenId) {
        await advanceIds(this.#place, inboxTables);
        return work();
      }
      if (!tableIsGone.includes(String(errorCode(error)))) throw explained(error, this.#place.schema);
    }
    // Of all whose statements failed, the first makes them, and the others wait for that.
    if (this.#ready === ready) this.#ready = once(() => this.#open());
    await this.#ready();
    return work();
  }

  async #open(): Promise<void> {
    const missing = await openTables(this.#place, inboxTables);
    // Some of them were there: the others have been dropped.
    const areGone = this.#wasReady ? missing.length > 0 : missing.length % tablesOf(inboxTables).length > 0;
    this.#wasReady = true;
    if (areGone)
      void this.#report(new PaymentsError(dropped(missing, this.#place.schema), { code: 'inbox_tables' }));
  }

  /** A role that may not leaves it to the server's own. */
  protected async reclaim(): Promise<void> {
    const vacuum = inSchema('VACUUM payments_inbox, payments_inbox_content', this.#place.schema);
    await withClient(this.#place.pool, (client) => client.query(vacuum)).catch(() => {});
  }

  /** Asks until the database responds. */
  async #lookUp(claim: Claim): Promise<boolean> {
    const until = performance.now() + lookUpMs;
    for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 1000)) {
      try {
        return await this.isDone(claim);
      } catch (error) {
        if (performance.now() >= until) throw error;
      }
      await sleep(waitMs);
    }
  }
}
