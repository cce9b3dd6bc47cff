import { nameIn } from '../checks.js';
import type { SandboxOrder } from './records.js';

/** The documented types of event, each with a function that returns its `data`. `payments.ts` creates the events. */
export const eventTypes = {
  'order.paid': ({ id, amount, currency }: SandboxOrder) => ({ order_id: id, amount, currency }),
};

/** A type of event that the service documents. */
export type EventType = keyof typeof eventTypes;

export const eventType = nameIn(eventTypes);

/** Ways in which an event could name its checkout, by the path in the body. Each returns the fields to merge into event and `data`. */
export const eventLinks = {
  none: () => ({}),
  /** The order has the checkout's id. */
  order_id: () => ({}),
  'data.checkout_id': (id) => ({ data: { checkout_id: id } }),
  'data.checkoutId': (id) => ({ data: { checkoutId: id } }),
  'data.session_id': (id) => ({ data: { session_id: id } }),
  'data.checkout.id': (id) => ({ data: { checkout: { id } } }),
  'data.reference': (id) => ({ data: { reference: `checkout:${id}` } }),
  'data.metadata.checkout_id': (id) => ({ data: { metadata: { checkout_id: id } } }),
  checkout_id: (id) => ({ checkout_id: id }),
  'data.object.id': (id) => ({ data: { object: { id } } }),
  'data.items[0].checkout_id': (id) => ({ data: { items: [{ checkout_id: id }] } }),
} as const satisfies Record<string, (checkoutId: string) => { data?: object; checkout_id?: string }>;

/** The path at which an event names its checkout. */
export type EventLink = keyof typeof eventLinks;

/**
 * State of an event's delivery.
 * - `pending`: the first attempt is due or in flight
 * - `held`: waits for `deliver()`
 * - `no_url`: no webhook is set; kept, and can be delivered later
 * - `retrying`: an attempt failed, another is due
 * - `delivered`, `failed`: over; `redeliver()` sends it again
 */
export type EventState = 'pending' | 'held' | 'no_url' | 'retrying' | 'delivered' | 'failed';

/** A webhook event and its deliveries. */
export interface SandboxEvent {
  /** The sandbox's own id of the event. The body does not hold it, because the service's events have no id. */
  id: string;
  /** A type that the specification shows. */
  type: EventType;
  /** The fields of the event's `data` that the specification lists. */
  data: {
    /** The order's id. */
    order_id: string;
    /** Decimal string with two decimals. */
    amount: string;
    /** Currency of `amount`. */
    currency: string;
  };
  /** The exact body that is sent, the same in every attempt. */
  body: string;
  /** State of the delivery. */
  state: EventState;
  /** Attempts to deliver the event, oldest first. */
  attempts: Attempt[];
  /** Time of the next attempt, on the sandbox's clock. */
  nextAttemptAt?: Date | undefined;
  /** Time of creation, on the sandbox's clock. */
  createdAt: Date;
}

/** One attempt to deliver an event. */
export interface Attempt {
  /** Number of the attempt, from 1. */
  number: number;
  /** Cause of the attempt. `due` is the first attempt or a retry; `redelivery` and `duplicate` do not count as retries. */
  cause: 'due' | 'redelivery' | 'duplicate';
  /** True if the response was 2xx. */
  ok: boolean;
  /** Time of the attempt, on the sandbox's clock. */
  at: Date;
  /** Time from sending to the end of the response, in real milliseconds. */
  durationMs: number;
  /** URL that the event was sent to; `(handler)` for a function. */
  target: string;
  /** Headers that were sent, with signature and timestamp. */
  requestHeaders: Record<string, string>;
  /** Status of the response; absent if there was none. */
  status?: number | undefined;
  /** Headers of the response. */
  responseHeaders?: Record<string, string> | undefined;
  /** First 4 KB of the response's body. */
  responseBody?: string | undefined;
  /** Reason why there was no response. */
  error?: string | undefined;
  /** Probable reason of the failure, and the fix. */
  hint?: string | undefined;
}

export const excerpt = (body: string | undefined): string | undefined => body?.slice(0, 4096);
