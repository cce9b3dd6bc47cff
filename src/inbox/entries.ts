import type { WebhookEvent } from '../webhooks/index.js';
import { hasTransaction } from './sqlite.js';
import { isoOf, Statements } from './statements.js';

/** The state of a delivery. */
export type InboxState = 'pending' | 'running' | 'done' | 'parked' | 'discarded';

export const inboxStates: readonly InboxState[] = ['pending', 'running', 'done', 'parked', 'discarded'];

/** A delivery in the inbox. */
export interface InboxEntry {
  /** Such as `order.paid:<order_id>`. */
  key: string;
  /** Its state. */
  state: InboxState;
  /** The event; `null` after `purge()`. */
  event: WebhookEvent | null;
  /** ISO 8601. */
  receivedAt: string;
  /** How many attempts have started. */
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
  /** Age of the oldest pending delivery; `null` if there is none. */
  oldestPendingMs: number | null;
}

const shown = 'key, state, event, received_at, attempts, last_error, due_at';

/** Deliveries as people see them, and the decisions that people make. */
export class Entries extends Statements {
  stats(now: number): InboxStats {
    const count = (state: InboxState) => `count(*) FILTER (WHERE state = '${state}') AS ${state}`;
    const [row = {}] = this.all(
      `SELECT ${count('pending')}, ${count('running')}, ${count('done')}, ${count('parked')},
         min(received_at) FILTER (WHERE state = 'pending') AS oldest FROM payments_inbox`,
    );
    return {
      pending: Number(row.pending),
      running: Number(row.running),
      done: Number(row.done),
      parked: Number(row.parked),
      oldestPendingMs: row.oldest === null ? null : Math.max(0, now - Number(row.oldest)),
    };
  }

  list(state: InboxState | undefined, limit: number, after: string | undefined): InboxEntry[] {
    return this.all(
      `SELECT ${shown} FROM payments_inbox
       WHERE (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR id < (SELECT id FROM payments_inbox WHERE key = ?2))
       ORDER BY id DESC LIMIT ?3`,
      ...[state ?? null, after ?? null, limit],
    ).map(toEntry);
  }

  get(key: string): InboxEntry | undefined {
    const row = this.first(`SELECT ${shown} FROM payments_inbox WHERE key = ?`, key);
    return row && toEntry(row);
  }

  /** Makes a pending or parked delivery due, with all its retries; without a key, every parked one. */
  retry(key: string | undefined, now: number): number {
    const start = "UPDATE payments_inbox SET state = 'pending', due_at = ?, failures = 0, lost = 0";
    return key === undefined
      ? this.change(`${start} WHERE state = 'parked'`, now)
      : this.change(`${start} WHERE key = ? AND state IN ('pending', 'parked')`, now, key);
  }

  /** Keeps the key, so that a late duplicate is known. */
  discard(key: string, now: number): boolean {
    const count = this.change(
      `UPDATE payments_inbox SET state = 'discarded', due_at = NULL, finished_at = ?
       WHERE key = ? AND state IN ('pending', 'parked')`,
      ...[now, key],
    );
    return count === 1;
  }

  purge(before: number): number {
    const count = this.change(
      `UPDATE payments_inbox SET event = NULL, raw_body = NULL, headers = NULL
       WHERE finished_at < ? AND raw_body IS NOT NULL`,
      before,
    );
    // The write-ahead log has it too. SQLite refuses this while a transaction is open.
    if (!hasTransaction(this.database)) this.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return count;
  }
}

function toEntry(row: Record<string, unknown>): InboxEntry {
  const state = inboxStates.find((known) => known === row.state) ?? 'parked';
  return {
    key: String(row.key),
    state,
    event: JSON.parse(String(row.event)), // null once it was purged
    receivedAt: isoOf(row.received_at),
    attempts: Number(row.attempts),
    lastError: row.last_error === null ? null : String(row.last_error),
    nextAttemptAt: state === 'pending' ? isoOf(row.due_at) : null,
  };
}
