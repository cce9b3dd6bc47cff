import { Buffer } from 'node:buffer';
import { InvalidParamsError } from '../errors.js';
import { readIsoMoment } from '../schemas/moment.js';
import type { Delivery } from '../webhooks/delivery.js';
import { type Duration, readDuration } from './duration.js';
import { type InboxState, inboxStates } from './entries.js';

/** What `list()` returns, newest first. */
export interface ListParams {
  /** Default: every state. */
  state?: InboxState | undefined;
  /** From 1 to 1000; default 100. */
  limit?: number | undefined;
  /** The key of the last entry of the page before. */
  after?: string | undefined;
}

export function readList({ state, limit = 100, after }: ListParams) {
  if (state !== undefined && !inboxStates.includes(state))
    throw invalid('list', 'state', `must be one of ${inboxStates.map((each) => `"${each}"`).join(', ')}.`);
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000)
    throw invalid('list', 'limit', 'must be an integer from 1 to 1000.');
  return { state, limit, after: after === undefined ? undefined : readDeliveryKey('list', after, 'after') };
}

export function readDeliveryKey(method: string, key: unknown, path = 'key'): string {
  if (typeof key === 'string' && key !== '') return key;
  throw invalid(method, path, 'must be the key of a delivery, such as "order.paid:ord_1001".');
}

/** The time before which something is old, in Unix milliseconds. */
export function readAge(olderThan: Duration | Date, now: number): number {
  if (olderThan instanceof Date && !Number.isNaN(olderThan.getTime())) return olderThan.getTime();
  const ms = olderThan instanceof Date ? undefined : readDuration(olderThan);
  if (ms !== undefined) return now - ms;
  throw invalid('purge', 'olderThan', 'must be a duration such as "90d", or a valid Date.');
}

/** The fields of a delivery, checked: what is stored has to be readable later. */
export function readDelivery(delivery: Delivery): Delivery {
  if (typeof delivery !== 'object' || delivery === null) throw invalid('accept', '', 'must be a delivery.');
  const { key, event, rawBody, headers, receivedAt } = delivery;
  readDeliveryKey('accept', key);
  const type: unknown = event?.type === 'unknown' ? event.originalType : event?.type;
  if (typeof type !== 'string') throw invalid('accept', 'event', 'must be an event of verify().');
  if (typeof rawBody !== 'string') throw invalid('accept', 'rawBody', 'must be a string.');
  if (typeof headers !== 'object' || headers === null)
    throw invalid('accept', 'headers', 'must be an object.');
  if (typeof receivedAt !== 'string' || !readIsoMoment(receivedAt))
    throw invalid('accept', 'receivedAt', 'must be ISO 8601 with a zone.');
  return { key, event, rawBody, headers, receivedAt };
}

export function bytesOf({ rawBody }: Delivery): number {
  return Buffer.byteLength(rawBody);
}

function invalid(method: string, path: string, message: string): InvalidParamsError {
  return new InvalidParamsError({ operation: `inbox.${method}` }, [{ path, message }]);
}
