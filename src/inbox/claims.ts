import { PaymentsError } from '../errors.js';
import type { Claim } from './entry.js';
import { now, raw, type Statement, sql } from './sql.js';

/** How a claimed delivery ends. A `lastError` of a pending one counts as a failed attempt. */
export type Settlement =
  | { state: 'done' }
  | { state: 'parked'; lastError: string }
  | { state: 'pending'; waitMs: number; lastError?: string };

/** The statement that ends a claim, unless somebody else has taken it. */
export function settling({ id, attempt }: Claim, settlement: Settlement): Statement {
  const lastError = 'lastError' in settlement ? settlement.lastError : undefined;
  const isPending = settlement.state === 'pending';
  return sql`UPDATE payments_inbox
    SET state = ${raw(`'${settlement.state}'`)}, started_at = NULL,
      due_at = ${isPending ? sql`${now} + ${Math.ceil(settlement.waitMs)}` : null}, due_set_at = ${isPending ? now : null},
      failures = failures + ${lastError === undefined ? 0 : 1}, last_error = ${lastError ?? null},
      finished_at = ${settlement.state === 'done' ? now : null}
    WHERE id = ${id} AND state = 'running' AND attempts = ${attempt} RETURNING id`;
}

export function lostLease(): PaymentsError {
  return commitError(
    'Another process has taken this delivery over, after its lease had ended or by force: nothing was written. ' +
      'Pass a longer leaseMs if your function blocks the process for so long.',
  );
}

export function commitError(message: string): PaymentsError {
  return new PaymentsError(message, { code: 'inbox_commit' });
}
