import { PaymentsError } from '../errors.js';
import type { Delivery } from '../webhooks/delivery.js';
import type { WebhookEvent } from '../webhooks/index.js';

/** The state of a delivery. */
export type InboxState = 'pending' | 'running' | 'done' | 'parked' | 'discarded';

export const inboxStates: readonly InboxState[] = ['pending', 'running', 'done', 'parked', 'discarded'];

/** A delivery in the inbox. */
export interface InboxEntry {
  /** Such as `order.paid:<order_id>`; `order.paid:<order_id>#<digest>` for another content under a known key. */
  key: string;
  /** Its state. */
  state: InboxState;
  /** The event; `null` after `purge()`. */
  event: WebhookEvent | null;
  /** ISO 8601. */
  receivedAt: string;
  /** How many attempts have started. */
  attempts: number;
  /** Why the last attempt failed, or why it was parked, without secrets and API keys. */
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
  /** How many the quarantine holds. */
  refused: number;
  /** Age of the oldest pending delivery; `null` if there is none. */
  oldestPendingMs: number | null;
  /** How long the longest attempt has been running; `null` if there is none. */
  oldestRunningMs: number | null;
}

/** A refused delivery as it is kept in the quarantine: data of a stranger. */
export interface RefusedRecord {
  /** Why it was refused, such as `signature_mismatch`. */
  code: string;
  /** ISO 8601. */
  receivedAt: string;
  /** Length of the body. */
  bytes: number;
  /** Those whose names begin with `x-`, and those that the scheme signs. */
  headers: Record<string, string>;
  /** The body as received; base64 if `encoding` says so. */
  rawBody: string;
  /** `base64` if the body is not valid UTF-8. */
  encoding?: 'base64' | undefined;
}

/** An entry of the quarantine. */
export interface RefusedDelivery extends RefusedRecord {
  /** Counts up. */
  id: number;
}

/** A delivery that this process holds. The attempt's number tells it apart from earlier and later holders. */
export interface Claim {
  id: number;
  attempt: number;
  /** Failed attempts since the last `retry()`. */
  failures: number;
  /** How many attempts ended with their process. */
  lost: number;
  delivery: Delivery;
}

/** How a claimed delivery ends. A `lastError` of a pending one counts as a failed attempt. */
export type Settlement =
  | { state: 'done' }
  | { state: 'parked'; lastError: string }
  | { state: 'pending'; waitMs: number; lastError?: string };

/** A delivery to be stored. Its key differs from the delivery's own if that is known with another content. */
export interface NewEntry {
  key: string;
  delivery: Delivery;
  state: 'pending' | 'parked';
  lastError: string | null;
}

/** What is stored under a key: the digest is `null` if an earlier version has purged it, the event after every purge. */
export interface KnownEntry {
  digest: string | null;
  event: WebhookEvent | null;
}

/**
 * What the inbox needs of a database. Each method is atomic by itself, and waits for locks without blocking. Times are
 * durations: what processes compare is the store's own clock.
 */
export interface InboxStore {
  /** Inboxes of one process whose stores have equal parts share their work. */
  readonly identity: readonly unknown[];
  /** How often to look for rows that other processes have stored. */
  readonly pollMs: number;
  /** Stores a delivery durably, or resolves to what is known under its key. A response of 200 rests on it. */
  insert(entry: NewEntry): Promise<KnownEntry | undefined>;
  /** A stored delivery; `undefined` if it is unknown or was purged. */
  read(key: string): Promise<Delivery | undefined>;
  /** Deletes a delivery that is pending or parked, with its key. */
  remove(key: string): Promise<void>;
  /**
   * Takes up to `most` deliveries that are due, the longest due first: pending ones, and running ones whose lease has
   * ended. Leaves out running ones in `held`: their functions still run in this process. A row that is due later than
   * its own wait could make it was written by a wrong clock, and is due now. Need not be durable.
   */
  claim(params: { most: number; held: readonly number[]; leaseMs: number }): Promise<Claimed>;
  /** Extends claims; resolves to those that somebody else has taken. Need not be durable. */
  renew(claims: readonly Claim[], leaseMs: number): Promise<Claim[]>;
  /** Ends a claim; `false` if somebody else has taken it. */
  settle(claim: Claim, settlement: Settlement): Promise<boolean>;
  /** Runs `fn` and marks the claim done in one transaction, and returns what `fn` returned: a promise only if it may be async. */
  commit(claim: Claim, fn: unknown, signal: AbortSignal): unknown;
  /** Marks the claim done in a transaction of the shop's own. */
  done?(claim: Claim, run: unknown): Promise<void>;
  /** What became of a claim whose `done()` was called. */
  outcome?(claim: Claim): Promise<'done' | 'open' | 'lost'>;
  /** Whether anything is running, in any process, or due. */
  hasWork(): Promise<boolean>;
  stats(): Promise<InboxStats>;
  /** Newest first. */
  list(params: {
    state: InboxState | undefined;
    limit: number;
    after: string | undefined;
  }): Promise<InboxEntry[]>;
  get(key: string): Promise<InboxEntry | undefined>;
  /** Makes a pending or parked delivery due with all its retries, with `force` a running one too; without a key all parked ones whose key is not `<key>#<digest>`. */
  retry(key: string | undefined, force: boolean): Promise<number>;
  /** Gives up a delivery that is pending or parked; keeps its key. */
  discard(key: string): Promise<boolean>;
  /** Deletes what finished deliveries contain; keeps key and digest. */
  purge(olderThan: { ageMs: number } | Date): Promise<number>;
  /** Keeps a refused delivery. Of `most`, the first tenth stays; of the others, the oldest makes room. */
  refuse(refusal: RefusedRecord, most: number): Promise<void>;
  /** Newest first. */
  refused(limit: number): Promise<RefusedDelivery[]>;
  /** Deletes an entry of the quarantine. */
  forget(id: number): Promise<void>;
  close(): Promise<void>;
}

/** Claims, and how long until the next delivery is due: infinite if none is known. */
export interface Claimed {
  claims: Claim[];
  waitMs: number;
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
