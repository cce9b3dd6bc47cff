import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigurationError, PaymentsError } from '../errors.js';
import { escapedUnit } from '../schemas/visible.js';
import { once } from '../webhooks/once.js';
import { isFunction, unfinished } from '../webhooks/own-options.js';
import { type Claim, commitError, lostLease, passed } from './entry.js';
import type { PostgresClient, PostgresPool, Run } from './postgres.js';
import { bearErrors, execute, hasChanged, quoted, transaction, withClient } from './postgres.js';
import { now, type Row, raw, type Statement, sql, type Work } from './sql.js';
import { InboxStore, settling } from './store.js';
import { knownVersion, probe, tables, tablesVersion } from './tables.js';

export interface PostgresPlace {
  pool: PostgresPool;
  schema: string;
}

const ended = 'The function passed to commit() ended its transaction.';

const unclear =
  'What the function passed to done() returned does not say whether the row was changed. Return the rows of the statement, a ' +
  'result that has them as "rows", or how many there were.';

/** Of PostgreSQL: somebody else had the row for too long. */
export const lockTimeout = '55P03';
const held =
  'A transaction holds the delivery: its function is inside commit() or done(). Wait until attemptMs is over, or restart ' +
  'its server.';

/** How long to look for the outcome of a commit while the database cannot be reached. */
const lookUpMs = 60_000;

/** The inbox of several servers: tables in a PostgreSQL database, whose clock is the only one that counts. */
export class PostgresStore extends InboxStore {
  readonly identity: readonly unknown[];
  readonly pollMs = 1000;
  readonly #place: PostgresPlace;
  /** Makes the tables before the first use, and tries again at the next one if that failed. */
  readonly #ready: () => Promise<void>;

  constructor(place: PostgresPlace) {
    super();
    this.#place = place;
    this.identity = [place.pool, place.schema];
    this.#ready = once(() => openTables(place));
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
      const [text] = this.#written(check);
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
    const rows: unknown = await run(...this.#written(settling(claim, { state: 'done' })));
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
      if (!(error instanceof Error) || Reflect.get(error, 'code') !== lockTimeout) throw error;
      throw new PaymentsError(held, { code: 'inbox_busy', cause: error });
    });
  }

  protected override async execute(statement: Statement): Promise<Row[]> {
    await this.#ready();
    return (await execute(this.#place.pool, ...this.#written(statement))).map(decoded);
  }

  protected async run<Result>(work: () => Work<Result>): Promise<Result> {
    await this.#ready();
    return transaction(this.#place.pool, async (run) => {
      const steps = work();
      let step = steps.next([]);
      while (!step.done) step = steps.next((await run(...this.#written(step.value))).map(decoded));
      return step.value;
    });
  }

  /** A role that may not leaves it to the server's own. */
  protected async reclaim(): Promise<void> {
    const vacuum = inSchema('VACUUM payments_inbox, payments_inbox_content', this.#place.schema);
    await withClient(this.#place.pool, (client) => client.query(vacuum)).catch(() => {});
  }

  /** With the placeholders of PostgreSQL, and text that any database takes. Numbers are part of the statement. */
  #written({ text, values }: Statement): [text: string, values: string[]] {
    const given: string[] = [];
    let index = 0;
    const numbered = text.replace(/\?/g, () => {
      const value = values[index++] ?? null;
      if (value === now) return clock;
      return typeof value === 'string' ? `$${given.push(encoded(value))}` : `(${value})`;
    });
    return [inSchema(numbered, this.#place.schema), given];
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

const clock = '(extract(epoch FROM now()) * 1000)::bigint';

/** In ASCII: PostgreSQL text has no NUL, and the database may have another encoding than UTF-8. */
function encoded(value: string): string {
  return value.replace(/[\\\0\u007f-\uffff]/g, escapedUnit);
}

function decoded(row: Row): Row {
  const text = (value: string) =>
    value.replace(/\\u(....)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? text(value) : value]),
  );
}

// An ordinary index could not hold a long key.
const created = tables({
  id: 'bigint',
  counted: 'GENERATED ALWAYS AS IDENTITY',
  unique: 'EXCLUDE USING hash (key WITH =)',
});

/** The advisory lock held while tables are created: a random number, which no other program is likely to lock. */
const lockId = 7_263_549_180_021;

/** One statement that makes the tables, also for a migration of the shop's own. Running it again changes nothing. */
export function schemaSql(schema = 'public'): string {
  const at = quoted(schema);
  return `-- Tables of the inbox of merchant-payments, version ${tablesVersion}. The shop's role needs afterwards:
-- GRANT USAGE ON SCHEMA ${at} TO your_role;
-- GRANT SELECT, INSERT, UPDATE, DELETE ON ${at}.payments_inbox, ${at}.payments_inbox_content, ${at}.payments_inbox_refused TO your_role;
-- GRANT SELECT ON ${at}.payments_inbox_version TO your_role;
DO $payments$ BEGIN
PERFORM pg_advisory_xact_lock(${lockId});
IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = '${schema.replaceAll("'", "''")}') THEN CREATE SCHEMA ${at}; END IF;
${inSchema(created, schema)}
END $payments$;`;
}

function inSchema(sql: string, schema: string): string {
  return sql.replace(/(?<!INDEX IF NOT EXISTS )\bpayments_inbox/g, (table) => `${quoted(schema)}.${table}`);
}

/** Makes the tables where there are none, and refuses those of a newer version or of another program. */
async function openTables({ pool, schema }: PostgresPlace): Promise<void> {
  const at = quoted(schema);
  try {
    await transaction(pool, async (run) => {
      if (!(await isCurrent(run, at))) await run(schemaSql(schema));
      await run(inSchema(probe, schema));
    });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code: unknown = Reflect.get(error, 'code');
    if (code === '42703' || code === '42P01')
      throw new ConfigurationError(
        `Schema ${at} has tables named payments_inbox that are not of this package: ${error.message}. Rename them, or pass ` +
          'another "schema".',
      );
    if (code !== '42501') throw error;
    throw new ConfigurationError(
      `The role of the pool may not create or use the tables of the inbox in schema ${at}: ${error.message}. ` +
        'Run what "merchant-payments inbox --print-schema" prints as a role that may, with the GRANTs in its comments.',
    );
  }
}

/** Whether the tables exist, in this version. */
export async function isCurrent(run: Run, at: string): Promise<boolean> {
  const table = `${at}.payments_inbox_version`;
  const [found] = await run('SELECT to_regclass($1)::text AS name', [table]);
  if (!found?.name) return false;
  const [row] = await run(`SELECT max(version)::text AS version FROM ${table}`);
  return knownVersion(row?.version, `Schema ${at}`) === tablesVersion;
}
