import { type InboxState, inboxStates } from './entry.js';
import { now, type Row, raw, type Statement, sql, type Work } from './sql.js';

/** Counts of what was copied from one inbox to another, and of what was there before. */
export interface Copied {
  /** Copied deliveries, by the state that they have now: running ones became pending. */
  copied: Record<InboxState, number>;
  /** Deliveries whose key was there before. */
  present: number;
  /** Those of them that the source has done since, and that are done here now. */
  doneSince: number;
  /** The keys of those that are done in the source, and whose functions have run here too. */
  ranInBoth: string[];
  /** Copied entries of the quarantine. */
  refused: number;
  /** Entries of the quarantine whose body was there before. */
  refusedPresent: number;
}

export function zeroCounts(): Copied {
  const copied = { pending: 0, running: 0, done: 0, parked: 0, discarded: 0 };
  return { copied, present: 0, doneSince: 0, ranInBoth: [], refused: 0, refusedPresent: 0 };
}

/** The number of rows that are read at once, and written in one transaction. */
export const pageSize = 200;

export const selectDeliveries = (id: number): Statement => sql`
  SELECT * FROM payments_inbox LEFT JOIN payments_inbox_content USING (id)
  WHERE id > ${id} ORDER BY id LIMIT ${pageSize}`;

/** The code of the row of the quarantine whose `times` counts the entries that made room for newer ones. */
export const droppedCode = 'dropped';
export const isEntry = raw(`code <> '${droppedCode}'`);

export const selectRefused = (id: number): Statement => sql`
  SELECT * FROM payments_inbox_refused WHERE id > ${id} ORDER BY id LIMIT ${pageSize}`;

/** Stores deliveries of another inbox, and counts them in `result` once all of them are written. */
export function* addDeliveries(rows: readonly Row[], result: Copied): Work<() => void> {
  const added: InboxState[] = [];
  const ranInBoth: string[] = [];
  let doneSince = 0;
  for (const row of rows) {
    const isRunning = row.state === 'running';
    const state = isRunning ? 'pending' : inboxStates.find((known) => known === row.state);
    if (!state) continue;
    const due = state === 'pending' ? (isRunning ? now : number(row.due_at)) : null;
    const key = String(row.key);
    const [known] = yield sql`SELECT id FROM payments_inbox WHERE key = ${key}`;
    if (known && state === 'done') {
      const [marked] = yield markDone(row);
      if (marked) doneSince++;
      // A delivery without a claim was done elsewhere, maybe here: it was copied.
      const isOwn = row.claim === null ? sql`AND state <> 'done'` : sql``;
      const [ran] =
        yield sql`SELECT id FROM payments_inbox WHERE key = ${key} AND claim IS NOT NULL ${isOwn}`;
      if (ran) ranInBoth.push(key);
    }
    if (known) continue;
    const [stored] = yield sql`INSERT INTO payments_inbox
        (key, digest, state, received_at, attempts, failures, lost, due_at, due_set_at, finished_at, last_error)
      VALUES (${key}, ${text(row.digest)}, ${state}, ${number(row.received_at)}, ${number(row.attempts)},
        ${number(row.failures)}, ${number(row.lost)}, ${due}, ${due === null ? null : now}, ${number(row.finished_at)},
        ${text(row.last_error)})
      ON CONFLICT DO NOTHING RETURNING id`;
    if (!stored) continue;
    if (row.raw_body !== null)
      yield sql`INSERT INTO payments_inbox_content (id, event, raw_body, encoding, headers) VALUES
        (${Number(stored.id)}, ${text(row.event)}, ${text(row.raw_body)}, ${text(row.encoding)}, ${text(row.headers)})`;
    added.push(state);
  }
  return () => {
    for (const state of added) result.copied[state]++;
    result.present += rows.length - added.length;
    result.doneSince += doneSince;
    result.ranInBoth.push(...ranInBoth);
  };
}

/** Returns the statement that marks a delivery as done in the source, if it waits here and was never claimed here. */
function markDone(row: Row): Statement {
  return sql`UPDATE payments_inbox SET state = 'done', due_at = NULL, due_set_at = NULL,
      attempts = ${number(row.attempts)}, failures = ${number(row.failures)}, lost = ${number(row.lost)},
      finished_at = ${number(row.finished_at)}, last_error = ${text(row.last_error)}
    WHERE key = ${String(row.key)} AND digest = ${text(row.digest)} AND state IN ('pending', 'parked') AND claim IS NULL
    RETURNING id`;
}

/**
 * Stores entries of another quarantine, and counts them in `result` once all of them are written. Of two counts of entries that
 * made room, the larger one stays: a sum would grow with each copy.
 */
export function* addRefused(rows: readonly Row[], result: Copied): Work<() => void> {
  const entries = rows.filter(({ code }) => code !== droppedCode);
  let added = 0;
  for (const row of rows) {
    const [stored] = yield sql`INSERT INTO payments_inbox_refused AS kept
        (code, received_at, bytes, headers, raw_body, encoding, body_hash, times, last_at, last_headers)
      VALUES (${text(row.code)}, ${number(row.received_at)}, ${number(row.bytes)}, ${text(row.headers)}, ${text(row.raw_body)},
        ${text(row.encoding)}, ${text(row.body_hash)}, ${number(row.times)}, ${number(row.last_at)}, ${text(row.last_headers)})
      ON CONFLICT (body_hash) DO UPDATE SET times = excluded.times, last_at = excluded.last_at
        WHERE kept.body_hash = ${droppedCode} AND kept.times < excluded.times
      RETURNING id`;
    if (stored && row.code !== droppedCode) added++;
  }
  return () => {
    result.refused += added;
    result.refusedPresent += entries.length - added;
  };
}

export const text = (value: unknown) => (value === null ? null : String(value));
export const number = (value: unknown) => (value === null ? null : Number(value));
