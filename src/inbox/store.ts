import { type Delivery, typeOf } from '../webhooks/delivery.js';
import { refuseTransaction, type SqliteValue } from './sqlite.js';
import { isoOf, Statements } from './statements.js';

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

/** Deliveries on their way: stored, claimed by one process at a time, and settled. */
export class InboxStore extends Statements {
  /** Stores a delivery; `false` if its key is known. It is on the disk when this returns. */
  insert({ key, event, rawBody, headers, receivedAt }: Delivery, now: number): boolean {
    return this.#durably(() => {
      const count = this.change(
        `INSERT INTO payments_inbox (key, state, type, event, raw_body, headers, received_at, due_at)
         VALUES (?, 'pending', ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`,
        ...[key, typeOf(event), JSON.stringify(event), rawBody, JSON.stringify(headers)],
        ...[Date.parse(receivedAt), now],
      );
      return count === 1;
    });
  }

  /** When the next delivery is due that this process does not hold: a pending one, or one whose holder has died. */
  nextDue(held: readonly number[]): number | undefined {
    const row = this.first(
      `SELECT due_at FROM payments_inbox
       WHERE due_at IS NOT NULL AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY due_at LIMIT 1`,
      JSON.stringify(held),
    );
    return row && Number(row.due_at);
  }

  /** Takes the delivery that has been due the longest. */
  claim(held: readonly number[], now: number, leaseMs: number): Claim | undefined {
    const row = this.transaction(() =>
      this.first(
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
    const held = this.transaction(() =>
      claims.filter((claim) => this.#changeClaimed(claim, 'due_at = ?', until)),
    );
    return new Set(held.map(({ id }) => id));
  }

  /** Ends a claim; `false` if another process has taken it over. Must run in a transaction. */
  settle(claim: Claim, settlement: Settlement, now: number): boolean {
    const { state } = settlement;
    const dueAt = state === 'pending' ? settlement.dueAt : null;
    const lastError = (state !== 'done' && settlement.lastError) || null;
    return this.#changeClaimed(
      claim,
      'state = ?, due_at = ?, last_error = ?, failures = failures + ?, finished_at = ?',
      ...[state, dueAt, lastError, lastError === null ? 0 : 1, state === 'done' ? now : null],
    );
  }

  /** Whether anything is running, in any process, or due. */
  hasWork(now: number): boolean {
    const found =
      "SELECT 1 FROM payments_inbox WHERE due_at IS NOT NULL AND (state = 'running' OR due_at <= ?) LIMIT 1";
    return this.first(found, now) !== undefined;
  }

  /** A shop's own connection may have been told not to wait for the disk. */
  #durably<Result>(work: () => Result): Result {
    const level = Number(this.first('PRAGMA synchronous')?.synchronous);
    if (level >= 2) return this.transaction(work);
    refuseTransaction(this.database);
    this.database.exec('PRAGMA synchronous = FULL');
    try {
      return this.transaction(work);
    } finally {
      this.database.exec(`PRAGMA synchronous = ${level}`);
    }
  }

  #changeClaimed({ id, attempt }: Claim, set: string, ...values: SqliteValue[]): boolean {
    const sql = `UPDATE payments_inbox SET ${set} WHERE id = ? AND state = 'running' AND attempts = ?`;
    return this.change(sql, ...values, id, attempt) === 1;
  }
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
