import { setTimeout as sleep } from 'node:timers/promises';
import { commitError, lostLease, settled } from './claims.js';
import type { Claim } from './entry.js';
import {
  bearErrors,
  isRow,
  type PostgresClient,
  type PostgresPool,
  transaction,
  withClient,
} from './postgres.js';
import { inSchema, openTables } from './postgres-tables.js';
import { now, type Row, type SqlValue, type Statement, sql, type Work } from './sql.js';
import { InboxStore } from './store.js';

/** How long to look for the outcome of a commit while the database cannot be reached. */
const lookUpMs = 60_000;

/** Where the tables are. */
export interface PostgresPlace {
  pool: PostgresPool;
  schema: string;
}

/** The inbox of several servers: tables in a PostgreSQL database, whose clock is the only one that counts. */
export class PostgresStore extends InboxStore {
  readonly identity: readonly unknown[];
  readonly pollMs = 1000;
  protected readonly looksFirst = false;
  readonly #pool: PostgresPool;
  readonly #schema: string;
  readonly #create: boolean;
  #tables: Promise<void> | undefined;

  constructor({ pool, schema }: PostgresPlace, { create = true } = {}) {
    super();
    this.#create = create;
    this.identity = [pool, schema];
    this.#pool = pool;
    this.#schema = schema;
    bearErrors(pool);
  }

  /** Marks it done first: until the end, nobody else can change the row, and who asks for the outcome waits. */
  async commit(claim: Claim, fn: unknown, signal: AbortSignal): Promise<unknown> {
    if (typeof fn !== 'function') throw commitError('commit() takes a function.');
    await this.#ready();
    let result: unknown;
    let isSent = false;
    const aborted = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    aborted.catch(() => {});
    const commit = async (client: PostgresClient) => {
      await client.query('BEGIN READ WRITE');
      signal.throwIfAborted();
      await this.done(claim, (sql: string, values: string[]) => client.query(sql, values));
      signal.throwIfAborted();
      result = await fn(client);
      const { rows } = await client.query(
        inSchema(`SELECT 1 FROM payments_inbox WHERE id = ${claim.id} AND state = 'done'`, this.#schema),
      );
      if (rows.length === 0) throw commitError('The function passed to commit() ended its transaction.');
      isSent = true;
      await client.query('COMMIT');
    };
    try {
      await withClient(this.#pool, (client) => Promise.race([commit(client), aborted]), { keep: false });
    } catch (error) {
      if (!isSent || (await this.#lookUp(claim)) !== 'done') throw error;
    }
    return result;
  }

  override async done(claim: Claim, run: unknown): Promise<void> {
    if (typeof run !== 'function') throw commitError('done() takes a function that executes a statement.');
    const { text, values } = this.#written(settled(claim, { state: 'done' }));
    const result: unknown = await run(text, values.map(String));
    const rows = isRow(result) && !Array.isArray(result) ? result.rows : result;
    if (!Array.isArray(rows)) throw commitError('The function passed to done() must return the rows.');
    if (rows.length === 0) throw lostLease();
  }

  override outcome({ id, attempt }: Claim): Promise<'done' | 'open' | 'lost'> {
    return this.run(function* () {
      const [row] = yield sql`SELECT state, attempts FROM payments_inbox WHERE id = ${id} FOR UPDATE`;
      if (Number(row?.attempts) !== attempt) return 'lost';
      return row?.state === 'done' ? 'done' : row?.state === 'running' ? 'open' : 'lost';
    });
  }

  /** The pool is the shop's. */
  async close(): Promise<void> {}

  protected async run<Result>(work: () => Work<Result>): Promise<Result> {
    await this.#ready();
    return transaction(this.#pool, async (run) => {
      const steps = work();
      let step = steps.next([]);
      while (!step.done) {
        const { value } = step;
        // The transaction has begun already, and is durable.
        if ('durable' in value) step = steps.next([]);
        else {
          const { text, values } = this.#written(value);
          step = steps.next((await run(text, ...values)).map(decoded));
        }
      }
      return step.value;
    });
  }

  /** A role that may not leaves it to the server's own. */
  protected async reclaim(): Promise<void> {
    const vacuum = inSchema('VACUUM payments_inbox, payments_inbox_content', this.#schema);
    await withClient(this.#pool, (client) => client.query(vacuum)).catch(() => {});
  }

  /** With the placeholders of PostgreSQL, and values that any database takes. */
  #written({ text, values }: Statement): { text: string; values: SqlValue[] } {
    const given: SqlValue[] = [];
    let index = 0;
    const numbered = text.replace(/\?/g, () => {
      const value = values[index++] ?? null;
      return value === now ? clock : `$${given.push(encoded(value))}`;
    });
    return { text: inSchema(numbered, this.#schema), values: given };
  }

  /** Asks until the database responds. */
  async #lookUp(claim: Claim): Promise<'done' | 'open' | 'lost'> {
    const until = performance.now() + lookUpMs;
    for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 1000)) {
      try {
        return await this.outcome(claim);
      } catch (error) {
        if (performance.now() >= until) throw error;
      }
      await sleep(waitMs);
    }
  }

  /** Makes the tables before the first use, and tries again at the next one if that failed. */
  #ready(): Promise<void> {
    this.#tables ??= openTables(this.#pool, this.#schema, this.#create).catch((error) => {
      this.#tables = undefined;
      throw error;
    });
    return this.#tables;
  }
}

const clock = '(extract(epoch FROM now()) * 1000)::bigint';

/** In ASCII: PostgreSQL text has no NUL, and the database may have another encoding than UTF-8. */
function encoded(value: SqlValue): SqlValue {
  if (typeof value !== 'string') return value;
  return value.replace(
    /[\\\0\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function decoded(row: Row): Row {
  const text = (value: string) =>
    value.replace(/\\u(....)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? text(value) : value]),
  );
}
