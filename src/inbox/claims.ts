import { PaymentsError } from '../errors.js';
import { type Claim, toClaim } from './entry.js';
import { now, type Statement, sql, type Work } from './sql.js';

/** How a claimed delivery ends. A `lastError` of a pending one counts as a failed attempt. */
export type Settlement =
  | { state: 'done' }
  | { state: 'parked'; lastError: string }
  | { state: 'pending'; waitMs: number; lastError?: string };

/** Claims, and how long until the next delivery is due: infinite if none is known. */
export interface Claimed {
  claims: Claim[];
  waitMs: number;
}

/** What a worker can take. */
export interface Wanted {
  most: number;
  held: readonly number[];
  leaseMs: number;
}

/** A clock that was this far ahead is taken for wrong: what it made due is due now. */
const wrongClockMs = 10_000;

/** A claim and its renewal need not be on the disk. */
const quickly = { durable: false };

export function* claimed({ most, held, leaseMs }: Wanted, looksFirst: boolean): Work<Claimed> {
  if (looksFirst) {
    const { at, due, isWrong } = yield* readDue();
    if (due > at && !isWrong) return { claims: [], waitMs: due - at };
  }
  yield quickly;
  const rows = yield sql`
    WITH due AS MATERIALIZED (
      SELECT id FROM payments_inbox
      WHERE due_at <= ${now} AND NOT (state = 'running' AND id IN (${[0, ...held]}))
      ORDER BY due_at, id LIMIT ${most} FOR UPDATE SKIP LOCKED
    )
    UPDATE payments_inbox
    SET lost = lost + CASE state WHEN 'running' THEN 1 ELSE 0 END, state = 'running', attempts = attempts + 1,
      due_at = ${now} + ${leaseMs}, due_set_at = ${now}, started_at = ${now}
    WHERE id IN (SELECT id FROM due) RETURNING *`;
  const ids = rows.map(({ id }) => Number(id));
  const contents =
    ids.length === 0 ? [] : yield sql`SELECT * FROM payments_inbox_content WHERE id IN (${ids}) ORDER BY id`;
  const claims = contents.map((content) =>
    toClaim({ ...rows.find(({ id }) => id === content.id), ...content }),
  );
  if (ids.length === most) return { claims, waitMs: 0 };
  const { at, later, isWrong } = yield* readDue();
  if (isWrong) yield corrected(leaseMs);
  return { claims, waitMs: isWrong ? 0 : later - at };
}

export function* renewed({ id, attempt }: Claim, leaseMs: number): Work<boolean> {
  yield quickly;
  const [row] = yield sql`SELECT state, attempts FROM payments_inbox WHERE id = ${id} FOR UPDATE SKIP LOCKED`;
  if (row && (row.state !== 'running' || Number(row.attempts) !== attempt)) return false;
  if (row)
    yield sql`UPDATE payments_inbox SET due_at = ${now} + ${leaseMs}, due_set_at = ${now} WHERE id = ${id}`;
  return true;
}

/** The time, when the next delivery is due, the next one after now, and whether a clock was wrong that made one due. */
function* readDue(): Work<{ at: number; due: number; later: number; isWrong: boolean }> {
  const [row = {}] = yield sql`SELECT ${now} AS at,
    (SELECT min(due_at) FROM payments_inbox WHERE due_at IS NOT NULL) AS due,
    (SELECT min(due_at) FROM payments_inbox WHERE due_at > ${now}) AS later,
    (SELECT max(due_set_at) FROM payments_inbox WHERE due_at IS NOT NULL) AS set_at`;
  const [at, setAt] = [Number(row.at), Number(row.set_at)];
  const timeOf = (ms: unknown) => (ms === null ? Number.POSITIVE_INFINITY : Number(ms));
  return { at, due: timeOf(row.due), later: timeOf(row.later), isWrong: setAt > at + wrongClockMs };
}

/** What waits is due now. A function may still run, whose process has until the end of a lease to renew it. */
function corrected(leaseMs: number): Statement {
  return sql`UPDATE payments_inbox
    SET due_at = CASE state WHEN 'running' THEN ${now} + ${leaseMs} ELSE ${now} END, due_set_at = ${now}
    WHERE due_at IS NOT NULL AND due_set_at > ${now} + ${wrongClockMs}`;
}

/** Ends a claim that nobody else has taken. Its casts are for clients of the shop that send text. */
export function settled({ id, attempt }: Claim, settlement: Settlement): Statement {
  const lastError = 'lastError' in settlement ? settlement.lastError : undefined;
  const none = sql`NULL`;
  const isPending = settlement.state === 'pending';
  return sql`UPDATE payments_inbox
    SET state = ${settlement.state}, started_at = NULL,
      due_at = ${isPending ? sql`${now} + ${Math.ceil(settlement.waitMs)}` : none}, due_set_at = ${isPending ? now : none},
      failures = failures + ${lastError === undefined ? sql`0` : sql`1`}, last_error = ${lastError ?? none},
      finished_at = ${settlement.state === 'done' ? now : none}
    WHERE id = CAST(${id} AS bigint) AND state = 'running' AND attempts = CAST(${attempt} AS integer) RETURNING id`;
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
