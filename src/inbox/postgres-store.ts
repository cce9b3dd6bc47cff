import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Delivery } from '../webhooks/delivery.js';
import {
  bearErrors,
  isRow,
  type PostgresClient,
  type PostgresPool,
  type PostgresRow,
  quoted,
  type Run,
  transaction,
  withClient,
} from './postgres.js';
import { openTables } from './postgres-tables.js';
import {
  type Claim,
  commitError,
  type InboxEntry,
  type InboxState,
  type InboxStats,
  type InboxStore,
  inboxStates,
  type KnownEntry,
  lostLease,
  type NewEntry,
  type RefusedDelivery,
  type Settlement,
} from './store.js';

/** How long to look for the outcome of a commit while the database cannot be reached. */
const lookUpMs = 60_000;
const purgedAtOnce = 5000;

/** Where the tables are. */
export interface PostgresPlace {
  pool: PostgresPool;
  schema: string;
}

/** The inbox of several servers: tables in a PostgreSQL database, whose clock is the only one that counts. */
export class PostgresStore implements InboxStore {
  readonly identity: readonly unknown[];
  readonly pollMs = 1000;
  readonly #pool: PostgresPool;
  readonly #schema: string;
  readonly #create: boolean;
  readonly #table: string;
  #tables: Promise<void> | undefined;

  constructor({ pool, schema }: PostgresPlace, { create = true } = {}) {
    this.#create = create;
    this.identity = [pool, schema];
    this.#pool = pool;
    this.#schema = schema;
    this.#table = `${quoted(schema)}.payments_inbox`;
    bearErrors(pool);
  }

  insert({ key, delivery, state, lastError }: NewEntry): Promise<KnownEntry | undefined> {
    const hash = hashOf(key);
    return this.#transaction(async (run) => {
      for (;;) {
        const [stored] = await run(
          `INSERT INTO ${this.#table} (key_hash, key, digest, state, delivery, received_at, due_at, wait, last_error)
           VALUES ($1, $2, $3, $4, $5::text::json, $6::text::timestamptz, CASE $4 WHEN 'pending' THEN now() END, interval '0', $7)
           ON CONFLICT (key_hash) DO NOTHING RETURNING id::text`,
          ...[hash, encoded(key), delivery.digest, state, jsonOf(delivery), delivery.receivedAt],
          lastError === null ? null : encoded(lastError),
        );
        if (stored) return undefined;
        const [known] = await run(
          `SELECT key, digest, delivery::text FROM ${this.#table} WHERE key_hash = $1`,
          hash,
        );
        // Without it, it was removed meanwhile.
        if (known) return { digest: String(known.digest), event: deliveryOf(known)?.event ?? null };
      }
    });
  }

  async remove(key: string): Promise<void> {
    await this.#run(
      `DELETE FROM ${this.#table} WHERE key_hash = $1 AND state IN ('pending', 'parked')`,
      hashOf(key),
    );
  }

  async read(key: string): Promise<Delivery | undefined> {
    const [row] = await this.#run(
      `SELECT key, delivery::text FROM ${this.#table} WHERE key_hash = $1`,
      hashOf(key),
    );
    return row && deliveryOf(row);
  }

  claim({ most, held, leaseMs }: Parameters<InboxStore['claim']>[0]) {
    return this.#transaction(async (run) => {
      const rows = await run(
        `WITH due AS MATERIALIZED (
           SELECT id FROM ${this.#table}
           WHERE due_at <= now() AND NOT (state = 'running' AND id = ANY ($1::bigint[]))
           ORDER BY due_at, id LIMIT $2::integer FOR UPDATE SKIP LOCKED
         )
         UPDATE ${this.#table} AS claimed
         SET lost = lost + (state = 'running')::integer, state = 'running', attempts = attempts + 1, started_at = now(),
           wait = ${interval('$3')}, due_at = now() + ${interval('$3')}
         FROM due WHERE claimed.id = due.id
         RETURNING claimed.id::text, key, attempts::text, failures::text, lost::text, delivery::text`,
        ...[`{${held.join()}}`, most, leaseMs],
      );
      return { claims: rows.flatMap(toClaim), waitMs: rows.length < most ? await this.#nextDueInMs(run) : 0 };
    });
  }

  /** Ends waits that a wrong clock has made; what is due already is locked or held. */
  async #nextDueInMs(run: Run): Promise<number> {
    const [row] = await run(
      `SELECT ${msOf('(SELECT min(due_at) - now() FROM $ WHERE due_at > now())')} AS wait_ms,
         (SELECT due_at > now() + wait FROM $ WHERE due_at IS NOT NULL ORDER BY due_at DESC LIMIT 1)::text AS is_wrong`.replaceAll(
        '$',
        this.#table,
      ),
    );
    if (row?.is_wrong !== 'true') return row?.wait_ms ? Number(row.wait_ms) : Number.POSITIVE_INFINITY;
    await run(`UPDATE ${this.#table} SET due_at = now() WHERE due_at > now() + wait`);
    return 0;
  }

  /** Leaves out rows that are locked: they are being committed. */
  async renew(claims: readonly Claim[], leaseMs: number): Promise<Claim[]> {
    const rows = await this.#run(
      `WITH held AS MATERIALIZED (
         SELECT id FROM ${this.#table} WHERE id = ANY ($1::bigint[]) FOR UPDATE SKIP LOCKED
       ), renewed AS (
         UPDATE ${this.#table} AS row SET wait = ${interval('$3')}, due_at = now() + ${interval('$3')}
         FROM held JOIN unnest($1::bigint[], $2::integer[]) AS claim (id, attempt) USING (id)
         WHERE row.id = held.id AND state = 'running' AND attempts = claim.attempt RETURNING row.id
       )
       SELECT id::text FROM held WHERE id NOT IN (SELECT id FROM renewed)`,
      ...[
        `{${claims.map(({ id }) => id).join()}}`,
        `{${claims.map(({ attempt }) => attempt).join()}}`,
        leaseMs,
      ],
    );
    const lost = new Set(rows.map(({ id }) => Number(id)));
    return claims.filter(({ id }) => lost.has(id));
  }

  async settle(claim: Claim, settlement: Settlement): Promise<boolean> {
    const { state } = settlement;
    const lastError = 'lastError' in settlement ? settlement.lastError : undefined;
    const rows = await this.#run(
      `UPDATE ${this.#table} SET state = $3, wait = ${interval('$4')}, due_at = now() + ${interval('$4')}, last_error = $5,
         failures = failures + $6::integer, finished_at = CASE $3 WHEN 'done' THEN now() END
       WHERE id = $1::bigint AND state = 'running' AND attempts = $2::integer RETURNING id::text`,
      ...[claim.id, claim.attempt, state, settlement.state === 'pending' ? settlement.waitMs : null],
      ...[lastError === undefined ? null : encoded(lastError), lastError === undefined ? 0 : 1],
    );
    return rows.length === 1;
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
        `SELECT 1 FROM ${this.#table} WHERE id = ${claim.id} AND state = 'done'`,
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

  async done({ id, attempt }: Claim, run: unknown): Promise<void> {
    if (typeof run !== 'function') throw commitError('done() takes a function that executes a statement.');
    const result: unknown = await run(
      `UPDATE ${this.#table} SET state = 'done', due_at = NULL, last_error = NULL, finished_at = now()
       WHERE id = $1::bigint AND state = 'running' AND attempts = $2::integer RETURNING key`,
      [String(id), String(attempt)],
    );
    const rows = isRow(result) && !Array.isArray(result) ? result.rows : result;
    if (!Array.isArray(rows)) throw commitError('The function passed to done() must return the rows.');
    if (rows.length === 0) throw lostLease();
  }

  async outcome({ id, attempt }: Claim): Promise<'done' | 'open' | 'lost'> {
    const [row] = await this.#run(
      `SELECT state, attempts::text FROM ${this.#table} WHERE id = $1::bigint FOR UPDATE`,
      id,
    );
    if (Number(row?.attempts) !== attempt) return 'lost';
    return row?.state === 'done' ? 'done' : row?.state === 'running' ? 'open' : 'lost';
  }

  async hasWork(): Promise<boolean> {
    const rows = await this.#run(
      `SELECT FROM ${this.#table} WHERE due_at IS NOT NULL AND (state = 'running' OR due_at <= now()) LIMIT 1`,
    );
    return rows.length > 0;
  }

  async stats(): Promise<InboxStats> {
    const count = (state: InboxState) => `count(*) FILTER (WHERE state = '${state}')::text AS ${state}`;
    const [row = {}] = await this.#run(
      `SELECT ${count('pending')}, ${count('running')}, ${count('done')}, ${count('parked')},
         (SELECT count(*) FROM ${this.#table}_refused)::text AS refused,
         ${msOf("now() - min(received_at) FILTER (WHERE state = 'pending')")} AS pending_ms,
         ${msOf("now() - min(started_at) FILTER (WHERE state = 'running')")} AS running_ms
       FROM ${this.#table}`,
    );
    return {
      pending: Number(row.pending),
      running: Number(row.running),
      done: Number(row.done),
      parked: Number(row.parked),
      refused: Number(row.refused),
      oldestPendingMs: ageOf(row.pending_ms),
      oldestRunningMs: ageOf(row.running_ms),
    };
  }

  async list({ state, limit, after }: Parameters<InboxStore['list']>[0]): Promise<InboxEntry[]> {
    const rows = await this.#run(
      `SELECT ${this.#shown()} WHERE ($1::text IS NULL OR state = $1)
         AND ($2::text IS NULL OR id < (SELECT id FROM ${this.#table} WHERE key_hash = $2))
       ORDER BY id DESC LIMIT $3::integer`,
      ...[state ?? null, after === undefined ? null : hashOf(after), limit],
    );
    return rows.map(toEntry);
  }

  async get(key: string): Promise<InboxEntry | undefined> {
    const [row] = await this.#run(`SELECT ${this.#shown()} WHERE key_hash = $1`, hashOf(key));
    return row && toEntry(row);
  }

  #shown(): string {
    return `key, state, delivery::text, ${msOf('received_at')} AS received_at, attempts::text, last_error,
      ${msOf('due_at')} AS due_at FROM ${this.#table}`;
  }

  async retry(key: string | undefined, force: boolean): Promise<number> {
    // Another content under a known key is for a person to decide, one by one.
    const which =
      key === undefined
        ? "state = 'parked' AND right(key, 17) <> '#' || digest"
        : `key_hash = $1 AND state IN (${force ? "'running'," : ''} 'pending', 'parked')`;
    const rows = await this.#run(
      `UPDATE ${this.#table} SET state = 'pending', due_at = now(), wait = interval '0', failures = 0, lost = 0
       WHERE ${which} RETURNING id::text`,
      ...(key === undefined ? [] : [hashOf(key)]),
    );
    return rows.length;
  }

  async discard(key: string): Promise<boolean> {
    const rows = await this.#run(
      `UPDATE ${this.#table} SET state = 'discarded', due_at = NULL, finished_at = now()
       WHERE key_hash = $1 AND state IN ('pending', 'parked') RETURNING id::text`,
      hashOf(key),
    );
    return rows.length === 1;
  }

  /** Ends with VACUUM, so that the space is used again; a role that may not leaves it to the server's own. */
  async purge(olderThan: { ageMs: number } | Date): Promise<number> {
    const [until, value] =
      olderThan instanceof Date
        ? ['$1::text::timestamptz', olderThan.toISOString()]
        : [`now() - ${interval('$1')}`, olderThan.ageMs];
    let purged = 0;
    for (let count = purgedAtOnce; count === purgedAtOnce; purged += count) {
      const rows = await this.#run(
        `UPDATE ${this.#table} SET delivery = NULL WHERE id IN (
           SELECT id FROM ${this.#table} WHERE finished_at < ${until} AND delivery IS NOT NULL LIMIT ${purgedAtOnce}
         ) RETURNING id::text`,
        value,
      );
      count = rows.length;
    }
    await withClient(this.#pool, (client) => client.query(`VACUUM ${this.#table}`)).catch(() => {});
    return purged;
  }

  async refuse(refusal: Parameters<InboxStore['refuse']>[0], most: number): Promise<void> {
    const table = `${this.#table}_refused`;
    const first = Math.ceil(most / 10);
    await this.#transaction(async (run) => {
      await run(`INSERT INTO ${table} (refusal) VALUES ($1::text::json)`, jsonOf(refusal));
      await run(
        `DELETE FROM ${table} WHERE id IN (
           SELECT id FROM ${table}
           WHERE id NOT IN (SELECT id FROM ${table} ORDER BY id LIMIT $1::integer)
             AND id NOT IN (SELECT id FROM ${table} ORDER BY id DESC LIMIT $2::integer)
           FOR UPDATE SKIP LOCKED
         )`,
        ...[first, most - first],
      );
    });
  }

  async refused(limit: number): Promise<RefusedDelivery[]> {
    const table = `${this.#table}_refused`;
    const rows = await this.#run(
      `SELECT id::text, refusal::text FROM ${table} ORDER BY ${table}.id DESC LIMIT $1::integer`,
      limit,
    );
    return rows.map(({ id, refusal }) => ({ ...JSON.parse(String(refusal)), id: Number(id) }));
  }

  async forget(id: number): Promise<void> {
    await this.#run(`DELETE FROM ${this.#table}_refused WHERE id = $1::bigint`, id);
  }

  /** The pool is the shop's. */
  async close(): Promise<void> {}

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

  async #run(sql: string, ...values: Parameters<Run>[1][]): Promise<PostgresRow[]> {
    return this.#transaction((run) => run(sql, ...values));
  }

  async #transaction<Result>(work: (run: Run) => Promise<Result>): Promise<Result> {
    await this.#ready();
    return transaction(this.#pool, work);
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

/** Fits an index, however long the key is. */
function hashOf(key: string): string {
  return createHash('sha256').update(JSON.stringify(key)).digest('hex');
}

/** JSON in ASCII: PostgreSQL text has no NUL, and the database may have another encoding than UTF-8. */
function jsonOf(value: unknown): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, escaped);
}

function encoded(text: string): string {
  return jsonOf(text).slice(1, -1);
}

function decoded(text: unknown): string {
  return String(JSON.parse(`"${String(text)}"`));
}

/** Under the key of its row, which differs where two contents have one key; `undefined` once it was purged. */
function deliveryOf({ key, delivery }: PostgresRow): Delivery | undefined {
  return typeof delivery === 'string' ? { ...JSON.parse(delivery), key: decoded(key) } : undefined;
}

function toClaim(row: PostgresRow): Claim[] {
  const delivery = deliveryOf(row);
  const [id, attempt, failures, lost] = [row.id, row.attempts, row.failures, row.lost];
  const numbers = {
    id: Number(id),
    attempt: Number(attempt),
    failures: Number(failures),
    lost: Number(lost),
  };
  return delivery ? [{ ...numbers, delivery }] : [];
}

function toEntry(row: PostgresRow): InboxEntry {
  const state = inboxStates.find((known) => known === row.state) ?? 'parked';
  return {
    key: decoded(row.key),
    state,
    event: deliveryOf(row)?.event ?? null,
    receivedAt: new Date(Number(row.received_at)).toISOString(),
    attempts: Number(row.attempts),
    lastError: row.last_error === null ? null : decoded(row.last_error),
    nextAttemptAt: state === 'pending' ? new Date(Number(row.due_at)).toISOString() : null,
  };
}

function interval(ms: string): string {
  return `${ms}::float8 * interval '1 ms'`;
}

function msOf(sql: string): string {
  return `(extract(epoch FROM ${sql}) * 1000)::bigint::text`;
}

function ageOf(ms: unknown): number | null {
  return ms === null || ms === undefined ? null : Math.max(0, Number(ms));
}
