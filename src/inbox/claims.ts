import { PaymentsError } from '../errors.js';
import { type Claim, toClaim } from './entry.js';
import { type Execute, now, type Statement, sql } from './sql.js';

/** How a claimed delivery ends. A `lastError` of a pending one counts as a failed attempt. */
export type Settlement =
  | { state: 'done' }
  | { state: 'parked'; lastError: string }
  | { state: 'pending'; waitMs: number; lastError?: string };

/** A clock that was this far ahead is taken for wrong: what it made due is due now. */
const wrongClockMs = 10_000;

/** SQLite returns columns of the table alone that it updates. */
const content: Statement = {
  text: ['event', 'raw_body', 'encoding', 'headers']
    .map((name) => `(SELECT ${name} FROM payments_inbox_content WHERE id = payments_inbox.id) AS ${name}`)
    .join(),
  values: [],
};

/**
 * Takes up to `most` deliveries that are due, the longest due first: pending ones, and running ones whose lease has ended.
 * Leaves out running ones in `held`: their functions still run in this process. It looks first, because a claim locks the
 * database of SQLite. `waitMs` is how long until the next one is due, infinite if none is known.
 */
export async function claimDue(
  execute: Execute,
  { most, held, leaseMs }: { most: number; held: readonly number[]; leaseMs: number },
): Promise<{ claims: Claim[]; waitMs: number }> {
  const [row = {}] = await execute(sql`SELECT ${now} AS at,
    (SELECT min(due_at) FROM payments_inbox WHERE due_at IS NOT NULL) AS due,
    (SELECT min(due_at) FROM payments_inbox WHERE due_at > ${now}) AS later,
    (SELECT max(due_set_at) FROM payments_inbox WHERE due_at IS NOT NULL) AS set_at`);
  const at = Number(row.at);
  const waitMs = (due: unknown) => (due === null ? Number.POSITIVE_INFINITY : Number(due) - at);
  // What waits is due now. A function may still run, whose process has until the end of a lease to renew it.
  if (Number(row.set_at) > at + wrongClockMs)
    await execute(
      sql`UPDATE payments_inbox
        SET due_at = CASE state WHEN 'running' THEN ${now} + ${leaseMs} ELSE ${now} END, due_set_at = ${now}
        WHERE due_at IS NOT NULL AND due_set_at > ${now} + ${wrongClockMs}`,
      'quickly',
    );
  else if (waitMs(row.due) > 0) return { claims: [], waitMs: waitMs(row.due) };
  const rows = await execute(
    sql`WITH due AS MATERIALIZED (
        SELECT id FROM payments_inbox
        WHERE due_at <= ${now} AND NOT (state = 'running' AND id IN (${[0, ...held]}))
        ORDER BY due_at, id LIMIT ${most} FOR UPDATE SKIP LOCKED
      )
      UPDATE payments_inbox
      SET lost = lost + CASE state WHEN 'running' THEN 1 ELSE 0 END, state = 'running', attempts = attempts + 1,
        due_at = ${now} + ${leaseMs}, due_set_at = ${now}, started_at = ${now}
      WHERE id IN (SELECT id FROM due) RETURNING *, ${content}`,
    'quickly',
  );
  // Stored first, begun first: a statement returns its rows in any order.
  const claims = rows.map(toClaim).sort((a, b) => a.id - b.id);
  return { claims, waitMs: rows.length === most ? 0 : waitMs(row.later) };
}

/** Extends a claim; `false` if somebody else has taken it. Whoever locks the row commits it: it is not waited for, and has not lost it. */
export async function renewClaim(
  execute: Execute,
  { id, attempt }: Claim,
  leaseMs: number,
): Promise<boolean> {
  const own = sql`SELECT id FROM payments_inbox WHERE id = ${id} AND attempts = ${attempt}`;
  const [row] = await execute(
    sql`UPDATE payments_inbox SET due_at = ${now} + ${leaseMs}, due_set_at = ${now}
      WHERE id IN (${own} AND state = 'running' FOR UPDATE SKIP LOCKED) RETURNING id`,
    'quickly',
  );
  return row !== undefined || (await execute(sql`${own} AND state IN ('running', 'done')`)).length > 0;
}

/** The statement that ends a claim, unless somebody else has taken it. */
export function settling({ id, attempt }: Claim, settlement: Settlement): Statement {
  const lastError = 'lastError' in settlement ? settlement.lastError : undefined;
  const none = sql`NULL`;
  const isPending = settlement.state === 'pending';
  return sql`UPDATE payments_inbox
    SET state = ${{ text: `'${settlement.state}'`, values: [] }}, started_at = NULL,
      due_at = ${isPending ? sql`${now} + ${Math.ceil(settlement.waitMs)}` : none}, due_set_at = ${isPending ? now : none},
      failures = failures + ${lastError === undefined ? 0 : 1}, last_error = ${lastError ?? none},
      finished_at = ${settlement.state === 'done' ? now : none}
    WHERE id = ${id} AND state = 'running' AND attempts = ${attempt} RETURNING id`;
}

export function lostLease(): PaymentsError {
  return commitError(
    'Another process has taken this delivery over, because its lease had ended: nothing was written. ' +
      'Pass a longer leaseMs if your function blocks the process for so long.',
  );
}

export function commitError(message: string): PaymentsError {
  return new PaymentsError(message, { code: 'inbox_commit' });
}
