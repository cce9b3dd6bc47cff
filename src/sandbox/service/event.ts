import { nameIn } from '../checks.js';
import type { SandboxOrder } from './records.js';

/** The events that the service documents, and the `data` of each. What makes one happen is in `payments.ts`. */
export const eventTypes = {
  'order.paid': ({ id, amount, currency }: SandboxOrder) => ({ order_id: id, amount, currency }),
};

/** A type of event that the service documents. */
export type EventType = keyof typeof eventTypes;

export const eventType = nameIn(eventTypes);

/** Ways in which an event could name its checkout, by their place in the body: what is merged into event and `data`. */
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

/** The place where an event names its checkout. */
export type EventLink = keyof typeof eventLinks;

/**
 * - `pending`: the first attempt is due or in flight
 * - `held`: waits for `deliver()`
 * - `no_url`: no webhook is set; kept, and can be delivered later
 * - `retrying`: an attempt failed, another is due
 * - `delivered`, `failed`: over; `redeliver()` sends it again
 */
export type EventState = 'pending' | 'held' | 'no_url' | 'retrying' | 'delivered' | 'failed';

/** A webhook event and its deliveries. */
export interface SandboxEvent {
  /** The sandbox's own name for it. It is not in the body: the service's events have no id. */
  id: string;
  /** A type that the specification shows. */
  type: EventType;
  /** What the specification lists of the event's `data`. */
  data: {
    /** The order's id. */
    order_id: string;
    /** Decimal string with two decimals. */
    amount: string;
    /** Currency of `amount`. */
    currency: string;
  };
  /** The exact text that is sent, the same in every attempt. */
  body: string;
  /** Its state. */
  state: EventState;
  /** Oldest first. */
  attempts: Attempt[];
  /** When the next attempt is due, on the sandbox's clock. */
  nextAttemptAt?: Date | undefined;
  /** On the sandbox's clock. */
  createdAt: Date;
}

/** One attempt to deliver an event. */
export interface Attempt {
  /** Counts from 1. */
  number: number;
  /** `due`: the first attempt or a retry. `redelivery` and `duplicate` do not count as retries. */
  cause: 'due' | 'redelivery' | 'duplicate';
  /** Whether the response was 2xx. */
  ok: boolean;
  /** On the sandbox's clock. */
  at: Date;
  /** From sending to the end of the response, in real milliseconds. */
  durationMs: number;
  /** Where it was sent; `(handler)` for a function. */
  target: string;
  /** What was sent, signature and timestamp included. */
  requestHeaders: Record<string, string>;
  /** The status of the response; absent if there was none. */
  status?: number | undefined;
  /** The headers of the response. */
  responseHeaders?: Record<string, string> | undefined;
  /** The first 4 KB of the response. */
  responseBody?: string | undefined;
  /** Why there was no response. */
  error?: string | undefined;
  /** What probably went wrong, and what to do. */
  hint?: string | undefined;
}

export const excerpt = (body: string | undefined): string | undefined => body?.slice(0, 4096);
