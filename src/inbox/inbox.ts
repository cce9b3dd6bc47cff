import type { Delivery } from '../webhooks/delivery.js';
import type { NodeRequest, NodeResponse } from '../webhooks/node-handler.js';
import type { Duration } from './duration.js';
import type { InboxEntry, InboxStats } from './entries.js';
import type { ListParams } from './params.js';

/** A durable webhook receiver. Its methods need no `this`: pass `inbox.nodeHandler` as it is. */
export interface Inbox {
  /** Receives Fetch requests: 200 once the delivery is on the disk, 200 for a duplicate, else as `handler()` responds. */
  handler(request: Request): Promise<Response>;
  /** Receives requests of `node:http`, Express, NestJS and Fastify. */
  nodeHandler(request: NodeRequest, response: NodeResponse): Promise<void>;
  /** Stores a delivery that you verified yourself; resolves once it is on the disk, or if it is a duplicate. */
  accept(delivery: Delivery): Promise<void>;
  /** How many deliveries are in each state. */
  stats(): InboxStats;
  /** Deliveries, newest first. */
  list(params?: ListParams): InboxEntry[];
  /** One delivery, by its key. */
  get(key: string): InboxEntry | undefined;
  /** Makes a pending or parked delivery due now, with all its retries. `false` if there is none with that key. */
  retry(key: string): boolean;
  /** Does the same for every parked delivery; returns how many there were. */
  retryParked(): number;
  /** Gives up a pending or parked delivery, but keeps its key. `false` if there is none with that key. */
  discard(key: string): boolean;
  /** Deletes event, body and headers of deliveries done or discarded before that, but keeps keys. Returns how many. */
  purge(params: { olderThan: Duration | Date }): number;
  /** Resolves when nothing is due or running. A retry that is due later is not waited for. */
  idle(): Promise<void>;
  /**
   * Responds with 503 from now on, waits `graceMs` for functions, aborts their `signal` and releases their deliveries.
   * A `database` that you passed stays open.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
