import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigurationError } from '../errors.js';
import type { Delivery } from '../webhooks/delivery.js';
import type { RefusedDelivery, WebhookEvent } from '../webhooks/index.js';
import {
  addDeliveries,
  addRefused,
  type Copied,
  droppedCode,
  isEntry,
  pageSize,
  selectDeliveries,
  selectRefused,
  zeroCounts,
} from './copy.js';
import type { Claim, InboxState, RefusedEntry, Settlement } from './entry.js';
import { storedEvent, toClaim, toEntry, toRefusedEntry } from './entry.js';
import type { ListParams } from './params.js';
import { type Durability, now, type Row, raw, type Statement, sql, type Work } from './sql.js';

/** The content that is stored under a key: the event is `null` once it was purged. */
export type Known = { digest: string; event: WebhookEvent | null } | undefined;

/** The most that a clock may have been ahead. A clock that was further ahead was wrong: the deliveries that it made due are due now. */
const wrongClockMs = 10_000;

const purgedAtOnce = 500;

/** The time in which to look for the deliveries of a claim whose response was lost. */
const unansweredMs = 5000;

/** Deliveries in a database. Each method is atomic, and waits for locks without blocking. Processes compare times by `now` alone. */
export abstract class InboxStore {
  /** The database that the inbox is in: inboxes of one process in the same database share their work. */
  abstract readonly identity: readonly unknown[];

  /** The most deliveries that can be worked on at once, so that others can still be stored. */
  get mostAtOnce(): number {
    return Number.POSITIVE_INFINITY;
  }
  /** True if the shop has ended its pool, so that nothing can be read or written any more; `undefined` if there is no pool. */
  get isEnded(): boolean | undefined {
    return undefined;
  }

  /** The last claim whose response was lost. */
  #unanswered: { claim: string; until: number } | undefined;

  /** Stores a delivery durably, parked if it has a `lastError`, or resolves to the content that is known under that key. */
  abstract insert(key: string, delivery: Delivery, lastError?: string): Promise<Known>;
  /** Runs `fn` and marks the claim done in one transaction. Returns what `fn` returned: a promise only if it may be async. */
  abstract commit(claim: Claim, fn: unknown, signal: AbortSignal): unknown;
  /** Marks the claim done in a transaction of the shop. */
  done?(claim: Claim, run: unknown): Promise<void>;
  /** True if a claim whose `done()` was called is done: otherwise that transaction was rolled back. */
  isDone?(claim: Claim): Promise<boolean>;
  /** Closes the file of the inbox. A pool or a database of the shop stays open. */
  async close(): Promise<void> {}

  /** Executes statements that belong together. Statements that write need `how`, with which they run in a transaction. */
  protected abstract run<Result>(work: () => Work<Result>, how?: Durability): Promise<Result>;
  /** Frees the space of deleted rows. */
  protected abstract reclaim(): Promise<void>;

  protected execute(statement: Statement, how?: Durability): Promise<Row[]> {
    return this.run(function* (): Work<Row[]> {
      return yield statement;
    }, how);
  }

  /** Executes a statement that hardly ever waits for a lock: if its response takes long, the connection is lost. */
  protected executeSoon(statement: Statement, how?: Durability): Promise<Row[]> {
    return this.execute(statement, how);
  }

  /** Deletes a claimed delivery with its key, and not another delivery that has its id by now. */
  remove({ id, attempt, delivery: { key } }: Claim): Promise<void> {
    return this.run(function* () {
      const [row] =
        yield sql`DELETE FROM payments_inbox WHERE id = ${id} AND key = ${key} AND attempts = ${attempt} RETURNING id`;
      if (row) yield sql`DELETE FROM payments_inbox_content WHERE id = ${id}`;
    }, 'durably');
  }

  /**
   * Takes up to `most` deliveries that are due or whose lease has ended, the longest due first. Leaves out those in `held`,
   * whose functions run in this process, unless they were taken by force. `waitMs` is the time until the next one is due.
   * With `isBehind`, it claims without a look before.
   */
  async claimDue(most: number, held: readonly number[], leaseMs: number, isBehind = false) {
    const unanswered = await this.#lookUpClaims();
    if (unanswered.length > 0) return { claims: unanswered, waitMs: 0 };
    const { isDue, waitMs } = isBehind ? { isDue: true, waitMs: 0 } : await this.#look(leaseMs);
    if (!isDue) return { claims: [], waitMs };
    const claim = randomUUID();
    const taking = sql`WITH due AS MATERIALIZED (
        SELECT id FROM payments_inbox
        WHERE due_at <= ${now} AND NOT (id IN (${[0, ...held]}) AND (state = 'running' OR forced < attempts))
        ORDER BY due_at, id LIMIT ${most} FOR UPDATE SKIP LOCKED
      )
      UPDATE payments_inbox
      SET lost = lost + CASE state WHEN 'running' THEN 1 ELSE 0 END, state = 'running', attempts = attempts + 1,
        due_at = ${now} + ${leaseMs}, due_set_at = ${now}, started_at = ${now}, claim = ${claim}
      WHERE id IN (SELECT id FROM due) RETURNING *, ${content}`;
    try {
      const claims = toSortedClaims(await this.executeSoon(taking, 'quickly'));
      return { claims, waitMs: claims.length === most ? 0 : waitMs };
    } catch (error) {
      this.#unanswered = { claim, until: performance.now() + unansweredMs };
      throw error;
    }
  }

  /** Returns `isDue`, and the time until the next delivery is due. A look locks nothing, but a claim locks the database of SQLite. */
  async #look(leaseMs: number) {
    const [row = {}] = await this.executeSoon(sql`SELECT
      (SELECT min(due_at) FROM payments_inbox WHERE due_at IS NOT NULL) - ${now} AS due_in,
      (SELECT min(due_at) FROM payments_inbox WHERE due_at > ${now}) - ${now} AS later_in,
      (SELECT max(due_set_at) FROM payments_inbox WHERE due_at IS NOT NULL) - ${now} AS set_in`);
    const waitMs = (ms: unknown) => (ms === null ? Number.POSITIVE_INFINITY : Number(ms));
    const dueIn = waitMs(row.due_in);
    if (Number(row.set_in) <= wrongClockMs)
      return dueIn > 0 ? { isDue: false, waitMs: dueIn } : { isDue: true, waitMs: waitMs(row.later_in) };
    // Deliveries that wait are due now. A function may still run: its process has the time of a lease to renew the claim.
    const correcting = sql`UPDATE payments_inbox
      SET due_at = CASE state WHEN 'running' THEN ${now} + ${leaseMs} ELSE ${now} END, due_set_at = ${now}
      WHERE due_at IS NOT NULL AND due_set_at > ${now} + ${wrongClockMs}`;
    await this.execute(correcting, 'quickly');
    return { isDue: true, waitMs: waitMs(row.later_in) };
  }

  /** Returns the deliveries of a claim whose response was lost, so that they need not wait for the end of their lease. */
  async #lookUpClaims(): Promise<Claim[]> {
    if (!this.#unanswered) return [];
    const { claim, until } = this.#unanswered;
    const taken = sql`SELECT payments_inbox.*, ${content} FROM payments_inbox
      WHERE due_at IS NOT NULL AND state = 'running' AND claim = ${claim}`;
    const claims = toSortedClaims(await this.executeSoon(taken));
    // The database may still be executing the claim.
    if (claims.length > 0 || performance.now() > until) this.#unanswered = undefined;
    return claims;
  }

  /** Extends a claim, and returns whose it is. A row that is locked is being committed: the renewal does not wait for it, and the claim is not lost. */
  async renew({ id, attempt }: Claim, leaseMs: number): Promise<'own' | 'lost' | 'forced'> {
    const renewing = sql`UPDATE payments_inbox SET due_at = ${now} + ${leaseMs}, due_set_at = ${now}
      WHERE id IN (SELECT id FROM payments_inbox
        WHERE id = ${id} AND attempts = ${attempt} AND state = 'running' FOR UPDATE SKIP LOCKED) RETURNING id`;
    if ((await this.executeSoon(renewing, 'quickly')).length > 0) return 'own';
    const [row] = await this.execute(
      sql`SELECT state, attempts, forced FROM payments_inbox WHERE id = ${id}`,
    );
    if (Number(row?.attempts) === attempt && (row?.state === 'running' || row?.state === 'done'))
      return 'own';
    return Number(row?.forced) >= attempt ? 'forced' : 'lost';
  }

  /** Ends a claim, or changes one that was done; `false` if the delivery is not in that state any more, or somebody else has taken it. */
  async settle(claim: Claim, settlement: Settlement, from?: 'done'): Promise<boolean> {
    return (await this.executeSoon(settlementSql(claim, settlement, from), 'durably')).length === 1;
  }

  /** True if anything is due, or running in any process. */
  async hasWork(): Promise<boolean> {
    const first = sql`SELECT id FROM payments_inbox
      WHERE due_at IS NOT NULL AND (state = 'running' OR due_at <= ${now}) LIMIT 1`;
    return (await this.execute(first)).length > 0;
  }

  async stats() {
    const [row = {}] = await this.execute(sql`SELECT
      ${countOf('pending')}, ${countOf('running')}, ${countOf('done')}, ${countOf('parked')},
      (SELECT count(*) FROM payments_inbox_refused WHERE ${isEntry}) AS refused,
      (SELECT times FROM payments_inbox_refused WHERE body_hash = ${droppedCode}) AS dropped,
      ${now} - (SELECT min(received_at) FROM payments_inbox WHERE ${isIn('pending')}) AS pending_ms,
      ${now} - (SELECT min(started_at) FROM payments_inbox WHERE ${isIn('running')}) AS running_ms`);
    const age = (ms: unknown) => (ms === null ? null : Math.max(0, Number(ms)));
    return {
      pending: Number(row.pending),
      running: Number(row.running),
      done: Number(row.done),
      parked: Number(row.parked),
      refused: Number(row.refused),
      dropped: Number(row.dropped ?? 0),
      oldestPendingMs: age(row.pending_ms),
      oldestRunningMs: age(row.running_ms),
    };
  }

  async list({ state, limit = 100, after }: ListParams) {
    const inState = state === undefined ? sql`` : sql`AND ${isIn(state)}`;
    const older =
      after === undefined ? sql`` : sql`AND id < (SELECT id FROM payments_inbox WHERE key = ${after})`;
    const page = sql`${entries} WHERE true ${inState} ${older} ORDER BY id DESC LIMIT ${limit}`;
    return (await this.execute(page)).map(toEntry);
  }

  async get(key: string) {
    const [row] = await this.execute(sql`${entries} WHERE key = ${key}`);
    return row && toEntry(row);
  }

  /** Makes a pending or parked delivery due with all its retries, with `force` a running one too. */
  async retry(key: string, force: boolean): Promise<boolean> {
    const states = force ? sql`('pending', 'parked', 'running')` : sql`('pending', 'parked')`;
    return (await this.#makeDue(sql`key = ${key} AND state IN ${states}`, force)) === 1;
  }

  /** Makes parked deliveries due, except another content under a known key, which a person decides on one by one. */
  retryParked(): Promise<number> {
    return this.#makeDue(sql`${isIn('parked')} AND replace(key, '#' || digest, '') = key`);
  }

  /** Makes deliveries due that wait for their next attempt. */
  retryPending(): Promise<number> {
    return this.#makeDue(sql`${isIn('pending')}`);
  }

  /** Makes deliveries due now. With `force`, a function that still runs for an earlier attempt does not hold the delivery up. */
  #makeDue(which: Statement, force = false): Promise<number> {
    const taken = force ? sql`, forced = attempts` : sql``;
    return this.#change(sql`UPDATE payments_inbox
      SET state = 'pending', due_at = ${now}, due_set_at = ${now}, started_at = NULL, failures = 0, lost = 0 ${taken}
      WHERE ${which} RETURNING id`);
  }

  async discard(key: string): Promise<boolean> {
    const count = await this.#change(sql`UPDATE payments_inbox
      SET state = 'discarded', due_at = NULL, due_set_at = NULL, finished_at = ${now}
      WHERE key = ${key} AND state IN ('pending', 'parked') RETURNING id`);
    return count === 1;
  }

  /** Deletes the content of finished deliveries, and keeps key and digest. */
  async purge(olderThan: { ageMs: number } | Date): Promise<number> {
    const before = timeBefore(olderThan);
    let purged = 0;
    for (let [count, last] = [purgedAtOnce, 0]; count === purgedAtOnce; purged += count) {
      if (purged > 0) await sleep(0);
      const page = sql`DELETE FROM payments_inbox_content WHERE id IN (
        SELECT id FROM payments_inbox_content JOIN payments_inbox USING (id)
        WHERE finished_at < ${before} AND id > ${last} ORDER BY id LIMIT ${purgedAtOnce}) RETURNING id`;
      const rows = await this.execute(page, 'durably');
      count = rows.length;
      last = Math.max(...rows.map(({ id }) => Number(id)));
    }
    if (purged > 0) await this.reclaim();
    return purged;
  }

  /**
   * Keeps a refused delivery, or counts it if it has the same body as one before. The first tenth of `most` entries stays; of
   * the others, the oldest makes room, and is counted. Returns the id, and the ids of those that made room.
   */
  async refuse(
    refused: RefusedDelivery,
    most: number,
  ): Promise<{ id: number; dropped: number[] } | undefined> {
    const { code, receivedAt, bytes, headers, rawBody, encoding } = refused;
    const hash = createHash('sha256').update(rawBody).digest('hex');
    const [at, signed] = [Date.parse(receivedAt), JSON.stringify(headers)];
    const first = Math.ceil(most / 10);
    const [row] = await this.execute(
      sql`SELECT count(*) AS count FROM payments_inbox_refused WHERE ${isEntry}`,
    );
    // Once the quarantine is full, a flood of deliveries must not wait for the disk each time.
    const how = Number(row?.count) < most ? 'durably' : 'quickly';
    return this.run(function* () {
      const [kept] = yield sql`INSERT INTO payments_inbox_refused AS kept
          (code, received_at, bytes, headers, raw_body, encoding, body_hash, last_at, last_headers)
        VALUES (${code}, ${at}, ${bytes}, ${signed}, ${rawBody}, ${encoding ?? null}, ${hash}, ${at}, ${signed})
        ON CONFLICT (body_hash) DO UPDATE
          SET times = kept.times + 1, last_at = excluded.last_at, last_headers = excluded.last_headers
        RETURNING id`;
      const gone = yield sql`DELETE FROM payments_inbox_refused WHERE id IN (
        SELECT id FROM payments_inbox_refused
        WHERE ${isEntry}
          AND id NOT IN (SELECT id FROM payments_inbox_refused WHERE ${isEntry} ORDER BY id LIMIT ${first})
          AND id NOT IN (SELECT id FROM payments_inbox_refused WHERE ${isEntry} ORDER BY id DESC LIMIT ${most - first})
        FOR UPDATE SKIP LOCKED) RETURNING id`;
      if (gone.length > 0)
        yield sql`INSERT INTO payments_inbox_refused AS kept
            (code, received_at, bytes, headers, raw_body, body_hash, times, last_at)
          VALUES (${droppedCode}, ${at}, 0, '{}', '', ${droppedCode}, ${gone.length}, ${at})
          ON CONFLICT (body_hash) DO UPDATE SET times = kept.times + excluded.times, last_at = excluded.last_at`;
      return { id: Number(kept?.id), dropped: gone.map((row) => Number(row.id)) };
    }, how);
  }

  /** Returns the quarantine, newest first; with `after`, the entries after that id, oldest first. */
  async refused(limit: number, after?: number) {
    const which = after === undefined ? sql`ORDER BY id DESC` : sql`AND id > ${after} ORDER BY id`;
    const page = sql`SELECT * FROM payments_inbox_refused WHERE ${isEntry} ${which} LIMIT ${limit}`;
    const rows = await this.execute(page);
    return rows.map(toRefusedEntry);
  }

  /** Deletes entries of the quarantine: one, those refused last before a time, or all, with the count of those that made room. Returns how many. */
  async discardRefused(
    which: { id: number } | { before: { ageMs: number } | Date } | 'all',
  ): Promise<number> {
    const matches =
      which === 'all'
        ? sql`true`
        : 'id' in which
          ? sql`id = ${which.id}`
          : sql`COALESCE(last_at, received_at) < ${timeBefore(which.before)}`;
    const deleting = sql`DELETE FROM payments_inbox_refused WHERE ${matches} RETURNING code`;
    return (await this.execute(deleting, 'durably')).filter(({ code }) => code !== droppedCode).length;
  }

  /** Deletes an entry, and not another entry that has its id by now: SQLite gives the id of the newest again. */
  async forget({ id, receivedAt, headers, rawBody }: RefusedEntry): Promise<void> {
    await this.#change(sql`DELETE FROM payments_inbox_refused WHERE id = ${id} AND
      received_at = ${Date.parse(receivedAt)} AND headers = ${JSON.stringify(headers)} AND raw_body = ${rawBody}
      RETURNING id`);
  }

  /** Copies every delivery and the quarantine into another inbox, a page at a time. Rows that are there already are left as they are. */
  async copyTo(target: InboxStore): Promise<Copied> {
    const result = zeroCounts();
    const copy = async (
      after: (id: number) => Statement,
      add: (rows: readonly Row[], result: Copied) => Work<() => void>,
    ) => {
      for (let [last, isLast] = [0, false]; !isLast; ) {
        const rows = await this.execute(after(last));
        isLast = rows.length < pageSize;
        last = Number(rows.at(-1)?.id);
        // A transaction that is repeated counts once.
        const count = await target.run(() => add(rows, result), 'durably');
        count();
      }
    };
    await copy(selectDeliveries, addDeliveries);
    await copy(selectRefused, addRefused);
    return result;
  }

  /** Returns how many rows a statement with RETURNING changed. */
  async #change(statement: Statement): Promise<number> {
    return (await this.execute(statement, 'durably')).length;
  }
}

/** The columns of a new delivery, and its values. */
export const newColumns = raw('key, digest, state, received_at, due_at, due_set_at, last_error');
export function newValues(key: string, { digest, receivedAt }: Delivery, lastError?: string): Statement {
  const [state, due] = lastError === undefined ? (['pending', now] as const) : (['parked', null] as const);
  return sql`${key}, ${digest}, ${state}, ${Date.parse(receivedAt)}, ${due}, ${due}, ${lastError ?? null}`;
}

/** The columns of the content of a delivery, and its values. */
export const contentColumns = raw('id, event, raw_body, encoding, headers');
export function contentValues({ event, rawBody, encoding, headers }: Delivery): Statement {
  return sql`${JSON.stringify(event)}, ${rawBody}, ${encoding ?? null}, ${JSON.stringify(headers)}`;
}

/** Returns the statement that finds the content which is known under a key. */
export const selectKnown = (key: string) => sql`SELECT digest, event ${joined} WHERE key = ${key}`;
export function toKnown(row: Row): Known {
  return { digest: String(row.digest), event: storedEvent(row) };
}

/** Returns the error for a delivery that the database neither takes nor has. */
export function noRowError(): ConfigurationError {
  return new ConfigurationError(
    'payments_inbox takes no row, and has none with this key. Look for a trigger, rule or policy on it.',
  );
}

function timeBefore(time: { ageMs: number } | Date): Statement {
  return time instanceof Date ? sql`${time.getTime()}` : sql`${now} - ${Math.round(time.ageMs)}`;
}

/** Returns the statement that ends a claim in state `from`, unless somebody else has taken it. */
export function settlementSql(claim: Claim, settlement: Settlement, from: InboxState = 'running'): Statement {
  const lastError = 'lastError' in settlement ? settlement.lastError : undefined;
  const isPending = settlement.state === 'pending';
  const isUnused = isPending && settlement.isUnused;
  return sql`UPDATE payments_inbox
    SET state = ${raw(`'${settlement.state}'`)}, started_at = NULL,
      due_at = ${isPending ? sql`${now} + ${Math.ceil(settlement.waitMs)}` : null}, due_set_at = ${isPending ? now : null},
      failures = failures + ${lastError === undefined ? 0 : 1}, last_error = ${lastError ?? null},
      finished_at = ${settlement.state === 'done' ? now : null}, attempts = attempts - ${isUnused ? 1 : 0}
    WHERE id = ${claim.id} AND state = ${raw(`'${from}'`)} AND attempts = ${claim.attempt} RETURNING id`;
}

/** Returns the condition for a state. Pending and running rows have a due time, and an index of their own: a claim never uses the index of the others. */
const isIn = (state: InboxState) =>
  raw(`state = '${state}' AND due_at IS ${state === 'pending' || state === 'running' ? 'NOT NULL' : 'NULL'}`);

const countOf = (state: InboxState) =>
  sql`(SELECT count(*) FROM payments_inbox WHERE ${isIn(state)}) AS ${raw(state)}`;

/** Returns claims in the order in which they were stored, because a statement returns its rows in any order. */
const toSortedClaims = (rows: Row[]): Claim[] => rows.map(toClaim).sort((a, b) => a.id - b.id);

/** The columns of the content, read in subqueries because SQLite returns only columns of the table that it updates. */
const content = raw(
  ['event', 'raw_body', 'encoding', 'headers']
    .map((name) => `(SELECT ${name} FROM payments_inbox_content WHERE id = payments_inbox.id) AS ${name}`)
    .join(),
);

/** Overwrites the content of a row that somebody deleted by hand, because SQLite gives its id again. */
export const overOrphan =
  raw(`ON CONFLICT (id) DO UPDATE SET event = excluded.event, raw_body = excluded.raw_body,
  encoding = excluded.encoding, headers = excluded.headers`);

const joined = raw('FROM payments_inbox LEFT JOIN payments_inbox_content USING (id)');
const entries = sql`SELECT key, state, event, received_at, attempts, last_error, due_at ${joined}`;
