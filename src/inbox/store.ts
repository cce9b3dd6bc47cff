import type { WebhookEvent } from '../schemas/event.js';
import { type Delivery, typeOf } from '../webhooks/delivery.js';
import {
  hasTransaction,
  refuseTransaction,
  type SqliteDatabase,
  type SqliteStatement,
  type SqliteValue,
  transaction,
} from './sqlite.js';

/** What has become of a delivery. */
export type InboxState = 'pending' | 'running' | 'done' | 'parked' | 'discarded';

export const inboxStates: readonly InboxState[] = ['pending', 'running', 'done', 'parked', 'discarded'];

/** A delivery in the inbox. */
export interface InboxEntry {
  /** Such as `order.paid:<order_id>`. */
  key: string;
  /** What has become of it. */
  state: InboxState;
  /** The event; `null` once it was purged. */
  event: WebhookEvent | null;
  /** ISO 8601. */
  receivedAt: string;
  /** How many attempts were begun. */
  attempts: number;
  /** Why the last attempt failed, without secrets and API keys. */
  lastError: string | null;
  /** ISO 8601; `null` unless it is pending. */
  nextAttemptAt: string | null;
}

/** How many deliveries are in each state. */
export interface InboxStats {
  pending: number;
  running: number;
  done: number;
  parked: number;
  /** Age of the oldest delivery that is pending; `null` if there is none. */
  oldestPendingMs: number | null;
}

/** A delivery that this process holds. The attempt's number tells it from every earlier and later holder. */
export interface Claim {
  id: number;
  attempt: number;
  failures: number;
  /** How many attempts ended with their process. */
  lost: number;
  delivery: Delivery;
}

/** What becomes of a claimed delivery. */
export type Settlement =
  | { state: 'done' }
  | { state: 'parked'; lastError: string }
  | { state: 'pending'; dueAt: number; lastError?: string };

const shown = 'key, state, event, received_at, attempts, last_error, due_at';

/** The tables of one inbox. Each method is one statement, or one transaction. */
export class Store {
  readonly #database: SqliteDatabase;
  readonly #statements = new Map<string, SqliteStatement>();

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  transaction<Result>(work: () => Result): Result {
    return transaction(this.#database, work);
  }

  /** Stores a delivery; `false` if its key is known. It is on the disk when this returns. */
  insert({ key, event, rawBody, headers, receivedAt }: Delivery, now: number): boolean {
    return this.#durably(() => {
      const { changes } = this.#run(
        `INSERT INTO payments_inbox (key, state, type, event, raw_body, headers, received_at, due_at)
         VALUES (?, 'pending', ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`,
        ...[key, typeOf(event), JSON.stringify(event), rawBody, JSON.stringify(headers)],
        ...[Date.parse(receivedAt), now],
      );
      return Number(changes) === 1;
    });
  }

  /** When the next delivery is due that this process does not hold: a pending one, or one whose holder has died. */
  nextDue(held: readonly number[]): number | undefined {
    const row = this.#get(
      `SELECT min(due_at) AS due FROM payments_inbox
       WHERE due_at IS NOT NULL AND id NOT IN (SELECT value FROM json_each(?))`,
      JSON.stringify(held),
    );
    return typeof row?.due === 'number' ? row.due : undefined;
  }

  /** Takes the delivery that has been due the longest. */
  claim(held: readonly number[], now: number, leaseMs: number): Claim | undefined {
    const row = this.transaction(() =>
      this.#get(
        `UPDATE payments_inbox
         SET lost = lost + (state = 'running'), state = 'running', attempts = attempts + 1, due_at = ?
         WHERE id = (
           SELECT id FROM payments_inbox
           WHERE due_at <= ? AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY due_at, id LIMIT 1
         ) RETURNING *`,
        ...[now + leaseMs, now, JSON.stringify(held)],
      ),
    );
    return row && toClaim(row);
  }

  /** Keeps claims until then; returns the ids of those that are still held. */
  renew(claims: readonly Claim[], until: number): Set<number> {
    const held = this.transaction(() => claims.filter((claim) => this.#change(claim, 'due_at = ?', until)));
    return new Set(held.map(({ id }) => id));
  }

  /** Ends a claim; `false` if another process has taken it over. Belongs into a transaction. */
  settle(claim: Claim, settlement: Settlement, now: number): boolean {
    const { state } = settlement;
    const dueAt = state === 'pending' ? settlement.dueAt : null;
    const lastError = (state !== 'done' && settlement.lastError) || null;
    return this.#change(
      claim,
      'state = ?, due_at = ?, last_error = ?, failures = failures + ?, finished_at = ?',
      ...[state, dueAt, lastError, lastError === null ? 0 : 1, state === 'done' ? now : null],
    );
  }

  stats(now: number): InboxStats {
    const counts = { pending: 0, running: 0, done: 0, parked: 0 };
    for (const { state, count } of this.#all(
      'SELECT state, count(*) AS count FROM payments_inbox GROUP BY state',
    )) {
      if (isCounted(state, counts)) counts[state] = Number(count);
    }
    const oldest = this.#get("SELECT min(received_at) AS at FROM payments_inbox WHERE state = 'pending'")?.at;
    return { ...counts, oldestPendingMs: typeof oldest === 'number' ? Math.max(0, now - oldest) : null };
  }

  /** Whether anything is running, in any process, or due. */
  hasWork(now: number): boolean {
    const found =
      "SELECT 1 FROM payments_inbox WHERE due_at IS NOT NULL AND (state = 'running' OR due_at <= ?) LIMIT 1";
    return this.#get(found, now) !== undefined;
  }

  list(state: InboxState | undefined, limit: number, after: string | undefined): InboxEntry[] {
    return this.#all(
      `SELECT ${shown} FROM payments_inbox
       WHERE (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR id < (SELECT id FROM payments_inbox WHERE key = ?2))
       ORDER BY id DESC LIMIT ?3`,
      ...[state ?? null, after ?? null, limit],
    ).map(toEntry);
  }

  get(key: string): InboxEntry | undefined {
    const row = this.#get(`SELECT ${shown} FROM payments_inbox WHERE key = ?`, key);
    return row && toEntry(row);
  }

  /** Makes a pending or parked delivery due, with all its retries; without a key, every parked one. */
  retry(key: string | undefined, now: number): number {
    const start = "UPDATE payments_inbox SET state = 'pending', due_at = ?, failures = 0, lost = 0";
    const { changes } =
      key === undefined
        ? this.#run(`${start} WHERE state = 'parked'`, now)
        : this.#run(`${start} WHERE key = ? AND state IN ('pending', 'parked')`, now, key);
    return Number(changes);
  }

  /** Keeps the key, so that a late duplicate is known. */
  discard(key: string, now: number): boolean {
    const { changes } = this.#run(
      `UPDATE payments_inbox SET state = 'discarded', due_at = NULL, finished_at = ?
       WHERE key = ? AND state IN ('pending', 'parked')`,
      ...[now, key],
    );
    return Number(changes) === 1;
  }

  purge(before: number): number {
    const { changes } = this.#run(
      `UPDATE payments_inbox SET event = NULL, raw_body = NULL, headers = NULL
       WHERE finished_at < ? AND raw_body IS NOT NULL`,
      before,
    );
    // The log beside the file has it too. Refused while a transaction is open.
    if (!hasTransaction(this.#database)) this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return Number(changes);
  }

  /** A shop's own connection may have been told not to wait for the disk. */
  #durably<Result>(work: () => Result): Result {
    const level = Number(this.#get('PRAGMA synchronous')?.synchronous);
    if (level >= 2) return this.transaction(work);
    refuseTransaction(this.#database);
    this.#database.exec('PRAGMA synchronous = FULL');
    try {
      return this.transaction(work);
    } finally {
      this.#database.exec(`PRAGMA synchronous = ${level}`);
    }
  }

  #change({ id, attempt }: Claim, set: string, ...values: SqliteValue[]): boolean {
    const sql = `UPDATE payments_inbox SET ${set} WHERE id = ? AND state = 'running' AND attempts = ?`;
    return Number(this.#run(sql, ...values, id, attempt).changes) === 1;
  }

  #run(sql: string, ...values: SqliteValue[]) {
    return this.#statement(sql).run(...values);
  }

  #get(sql: string, ...values: SqliteValue[]) {
    return this.#statement(sql).get(...values);
  }

  #all(sql: string, ...values: SqliteValue[]) {
    return this.#statement(sql).all(...values);
  }

  #statement(sql: string): SqliteStatement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#database.prepare(sql);
    statement.setReadBigInts?.(false);
    statement.setReturnArrays?.(false);
    this.#statements.set(sql, statement);
    return statement;
  }
}

function isCounted<Counts extends object>(state: unknown, counts: Counts): state is keyof Counts {
  return typeof state === 'string' && Object.hasOwn(counts, state);
}

function toClaim(row: Record<string, unknown>): Claim {
  return {
    id: Number(row.id),
    attempt: Number(row.attempts),
    failures: Number(row.failures),
    lost: Number(row.lost),
    delivery: {
      key: String(row.key),
      event: JSON.parse(String(row.event)),
      rawBody: String(row.raw_body),
      headers: JSON.parse(String(row.headers)),
      receivedAt: isoOf(row.received_at),
    },
  };
}

function toEntry(row: Record<string, unknown>): InboxEntry {
  const state = inboxStates.find((known) => known === row.state) ?? 'parked';
  return {
    key: String(row.key),
    state,
    event: row.event === null ? null : JSON.parse(String(row.event)),
    receivedAt: isoOf(row.received_at),
    attempts: Number(row.attempts),
    lastError: row.last_error === null ? null : String(row.last_error),
    nextAttemptAt: state === 'pending' ? isoOf(row.due_at) : null,
  };
}

function isoOf(ms: unknown): string {
  return new Date(Number(ms)).toISOString();
}
