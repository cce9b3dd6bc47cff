import { PaymentsError } from '../errors.js';
import type { Delivery } from '../webhooks/delivery.js';
import type { RefusedDelivery, WebhookEvent } from '../webhooks/index.js';
import type { Row } from './sql.js';

/** The state of a delivery. */
export type InboxState = 'pending' | 'running' | 'done' | 'parked' | 'discarded';

export const inboxStates: readonly InboxState[] = ['pending', 'running', 'done', 'parked', 'discarded'];

/** A delivery in the inbox. */
export interface InboxEntry {
  /** The key, such as `order.paid:<order_id>`; `order.paid:<order_id>#<digest>` for another content under a known key. */
  key: string;
  /** Its state. */
  state: InboxState;
  /** The event; `null` after `purge()`. */
  event: WebhookEvent | null;
  /** When it was received, in ISO 8601. */
  receivedAt: string;
  /** The number of attempts that have started. */
  attempts: number;
  /** The reason why the last attempt failed, or why the delivery was parked, without secrets and API keys. */
  lastError: string | null;
  /** When the next attempt is due, in ISO 8601; `null` unless the delivery is pending. */
  nextAttemptAt: string | null;
}

/** The number of deliveries in each state. */
export interface InboxStats {
  /** Deliveries that are due now or later. */
  pending: number;
  /** Deliveries that your function is working on. */
  running: number;
  /** Deliveries for which your function succeeded. */
  done: number;
  /** Deliveries that were given up after the last retry, or are held for a person: alert on more than 0. */
  parked: number;
  /** Refused deliveries in the quarantine. */
  refused: number;
  /** Refused deliveries that made room for newer ones, because the quarantine was full: until `discardRefused()` deletes all. */
  dropped: number;
  /** Age of the oldest pending delivery; `null` if there is none. */
  oldestPendingMs: number | null;
  /** The time that the longest attempt has been running; `null` if none is running. */
  oldestRunningMs: number | null;
}

/** An entry of the quarantine: a refused delivery, data of a stranger. */
export interface RefusedEntry extends RefusedDelivery {
  /** A number that counts up. */
  id: number;
  /** The number of times that the same body was refused: `receivedAt` and `headers` are of the first time. */
  times: number;
  /** When it was refused the last time, in ISO 8601. */
  lastAt: string;
  /** The headers of the last time, which differ because a sender signs each attempt anew. */
  lastHeaders: Record<string, string>;
}

/** A delivery that this process holds. The number of the attempt tells this holder from earlier and later ones. */
export interface Claim {
  id: number;
  attempt: number;
  /** Failed attempts since the last `retry()`. */
  failures: number;
  /** Attempts that ended with their process. */
  lost: number;
  delivery: Delivery;
}

/** The end of a claim. A `pending` one with a `lastError` counts as a failed attempt, and one that `isUnused` as no attempt. */
export type Settlement =
  | { state: 'done' }
  | { state: 'parked'; lastError: string }
  | { state: 'pending'; waitMs: number; lastError?: string; isUnused?: boolean };

export function lostLease(): PaymentsError {
  return commitError(
    'Another process has taken this delivery over, after its lease had ended or by force: nothing was written. ' +
      'Pass a longer leaseMs if your function blocks the process for so long.',
  );
}

/** The name of the function of `commit()` in errors. */
export const commitFunction = 'The function passed to commit()';

export function commitError(message: string): PaymentsError {
  return new PaymentsError(message, { code: 'inbox_commit' });
}

export function toClaim(row: Row): Claim {
  return {
    id: Number(row.id),
    attempt: Number(row.attempts),
    failures: Number(row.failures),
    lost: Number(row.lost),
    delivery: {
      key: String(row.key),
      event: storedEvent(row) ?? damaged,
      ...bodyOf(row),
      receivedAt: isoOf(row.received_at),
      digest: String(row.digest),
    },
  };
}

export function toEntry(row: Row): InboxEntry {
  const state = inboxStates.find((known) => known === row.state) ?? 'parked';
  return {
    key: String(row.key),
    state,
    event: storedEvent(row),
    receivedAt: isoOf(row.received_at),
    attempts: Number(row.attempts),
    lastError: row.last_error === null ? null : String(row.last_error),
    nextAttemptAt: state === 'pending' ? isoOf(row.due_at) : null,
  };
}

export function toRefusedEntry(row: Row): RefusedEntry {
  return {
    id: Number(row.id),
    code: String(row.code),
    receivedAt: isoOf(row.received_at),
    bytes: Number(row.bytes),
    ...bodyOf(row),
    times: Number(row.times),
    lastAt: isoOf(row.last_at ?? row.received_at),
    lastHeaders: readJson(row.last_headers ?? row.headers) ?? {},
  };
}

const problem = 'what was stored of it is gone or damaged';
const damaged: WebhookEvent = { type: 'unknown', originalType: '', data: null, problem };

/** Returns the event of a row; `null` once it was purged. An event that cannot be read must not hold up the rows beside it. */
export function storedEvent({ event }: Row): WebhookEvent | null {
  return event === null ? null : (readJson(event) ?? damaged);
}

function readJson(text: unknown) {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

function bodyOf(row: Row): Pick<Delivery, 'rawBody' | 'encoding' | 'headers'> {
  const body = { rawBody: String(row.raw_body), headers: readJson(row.headers) ?? {} };
  return row.encoding === 'base64' ? { ...body, encoding: 'base64' } : body;
}

function isoOf(ms: unknown): string {
  const date = new Date(Number(ms));
  // A time that was edited by hand, say, must not hold up the rows beside it.
  return (Number.isNaN(date.getTime()) ? new Date(0) : date).toISOString();
}
