import * as z from 'zod/mini';
import { InvalidParamsError } from '../errors.js';
import { type Duration, dayMs } from '../input/duration.js';
import { integer, readParams } from '../input/read.js';
import { readIsoMoment } from '../schemas/moment.js';
import { type Delivery, digestOf, withoutNul, writable } from '../webhooks/delivery.js';
import { type InboxState, inboxStates } from './entry.js';

/** What `list()` returns, newest first. */
export interface ListParams {
  /** Default: every state. */
  state?: InboxState | undefined;
  /** From 1 to 1000; default 100. */
  limit?: number | undefined;
  /** The key of the last entry of the page before. */
  after?: string | undefined;
}

/** What `discardRefused()` deletes: one of them. */
export type DiscardRefusedParams =
  | {
      /** The `id` of an entry. */
      id: number;
    }
  | {
      /** How long ago, or before when it was refused the last time. */
      olderThan: Duration | Date;
    }
  | {
      /** Every entry. */
      all: true;
    };

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: dayMs };

/** A duration in milliseconds, or `undefined` if invalid. */
export function readDuration(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? value : undefined;
  const [, count, unit = ''] =
    (typeof value === 'string' && /^(\d+(?:\.\d+)?)(ms|[smhd])$/.exec(value)) || [];
  const ms = unitMs[unit];
  return ms === undefined ? undefined : Number(count) * ms;
}

export function readList({ state, limit, after }: ListParams) {
  if (state !== undefined && !inboxStates.includes(state))
    throw invalid('list', 'state', `must be one of ${inboxStates.map((each) => `"${each}"`).join(', ')}.`);
  const key = after === undefined ? undefined : readDeliveryKey('list', after, 'after');
  return { state, limit: readLimit('list', limit), after: key };
}

export function readLimit(method: string, limit = 100): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
  throw invalid(method, 'limit', 'must be an integer from 1 to 1000.');
}

export function readDeliveryKey(method: string, key: unknown, path = 'key'): string {
  if (typeof key === 'string' && key !== '') return withoutNul(key);
  throw invalid(method, path, 'must be the key of a delivery, such as "order.paid:ord_1001".');
}

/** How old something is, or when it was. */
export function readAge(olderThan: unknown, method = 'purge'): { ageMs: number } | Date {
  if (olderThan instanceof Date && !Number.isNaN(olderThan.getTime())) return olderThan;
  return { ageMs: readTime(method, 'olderThan', olderThan, '"90d", or a valid Date') };
}

const discardRefused = z.strictObject({
  id: z.optional(integer(1, Number.MAX_SAFE_INTEGER)),
  olderThan: z.optional(z.unknown()),
  all: z.optional(z.literal(true)),
});

export function readDiscard(given: DiscardRefusedParams) {
  const { id, olderThan, all } = readParams('inbox.discardRefused', discardRefused, given);
  if ([id, olderThan, all].filter((each) => each !== undefined).length !== 1)
    throw invalid('discardRefused', '', 'must be one of { id }, { olderThan } and { all: true }.');
  if (id !== undefined) return { id };
  return all ? 'all' : { before: readAge(olderThan, 'discardRefused') };
}

export function readTime(method: string, path: string, value: unknown, hint: string): number {
  const ms = readDuration(value);
  if (ms !== undefined) return ms;
  throw invalid(method, path, `must be a duration such as ${hint}.`);
}

/** The fields of a delivery, checked: what is stored has to be readable later. */
export function readDelivery(delivery: Omit<Delivery, 'digest'>): Delivery {
  if (typeof delivery !== 'object' || delivery === null) throw invalid('accept', '', 'must be a delivery.');
  const { event, rawBody, encoding, headers, receivedAt } = delivery;
  const key = readDeliveryKey('accept', delivery.key);
  const type: unknown = event?.type === 'unknown' ? event.originalType : event?.type;
  if (typeof type !== 'string') throw invalid('accept', 'event', 'must be an event of verify().');
  if (typeof rawBody !== 'string') throw invalid('accept', 'rawBody', 'must be a string.');
  if (encoding !== undefined && encoding !== 'base64')
    throw invalid('accept', 'encoding', 'must be "base64".');
  if (typeof headers !== 'object' || headers === null)
    throw invalid('accept', 'headers', 'must be an object.');
  if (typeof receivedAt !== 'string' || !readIsoMoment(receivedAt))
    throw invalid('accept', 'receivedAt', 'must be ISO 8601 with a zone.');
  const read = { key, event: writable(event), rawBody, headers, receivedAt };
  return { ...read, ...(encoding && { encoding }), digest: digestOf(read.event) };
}

function invalid(method: string, path: string, message: string): InvalidParamsError {
  return new InvalidParamsError({ operation: `inbox.${method}` }, [{ path, message }]);
}
