import { type Delivery, typeOf } from '../webhooks/delivery.js';
import { refuseTransaction, type SqliteValue } from './sqlite.js';
import { isoOf, Statements } from './statements.js';

/** A delivery that this process holds. The attempt's number tells it apart from earlier and later holders. */
export interface Claim {
  id: number;
  attempt: number;
  failures: number;
  /** How many attempts ended with their process. */
  lost: number;
  delivery: Delivery;
}

/** How a claimed delivery ends. */
export interface Settlement {
  state: 'done' | 'parked' | 'pending';
  /** Only if it is pending again. */
  dueAt?: number;
  /** Counts as a failed attempt. */
  lastError?: string;
}

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

  /** When the next delivery is due: a pending one, or one whose holder has died. */
  nextDue(): number {
    const row = this.first(
      'SELECT due_at FROM payments_inbox WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1',
    );
    return row ? Number(row.due_at) : Number.POSITIVE_INFINITY;
  }

  /** Takes the delivery that has been due the longest, unless its function still runs in this process. */
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

  /** Extends a claim; `false` if another process has taken it over. Must run in a transaction. */
  renew(claim: Claim, until: number): boolean {
    return this.#changeClaimed(claim, 'due_at = ?', until);
  }

  /** Ends a claim; `false` if another process has taken it over. Must run in a transaction. */
  settle(claim: Claim, { state, dueAt, lastError }: Settlement, now: number): boolean {
    return this.#changeClaimed(
      claim,
      'state = ?, due_at = ?, last_error = ?, failures = failures + ?, finished_at = ?',
      ...[state, dueAt ?? null, lastError ?? null, lastError === undefined ? 0 : 1],
      state === 'done' ? now : null,
    );
  }

  /** Whether anything is running, in any process, or due. */
  hasWork(now: number): boolean {
    const found =
      "SELECT 1 FROM payments_inbox WHERE due_at IS NOT NULL AND (state = 'running' OR due_at <= ?) LIMIT 1";
    return this.first(found, now) !== undefined;
  }

  /** A shop's own connection may be set not to wait for the disk. */
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
