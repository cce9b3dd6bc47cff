import { isObject } from '../input/object.js';
import type { CurrencyCode } from './currency.js';
import { readPrice } from './money.js';

/** A customer paid. Spec, "Events". */
export interface OrderPaidEvent {
  /** A customer paid an order. */
  type: 'order.paid';
  /** What was paid. Fields that the spec does not list are kept: `'checkout_id' in data` makes one readable, as `unknown`. */
  data: {
    /** The order's id, as on the wire: the key to fulfil once. */
    order_id: string;
    /** What was paid: a decimal string with at least two decimals. */
    amount: string;
    /** Currency of `amount`. */
    currency: CurrencyCode;
  };
}

/** An event of a type that this version does not know. Respond with 200: a new type must not cause failed deliveries. */
export interface UnknownEvent {
  /** A type that this version does not know. */
  type: 'unknown';
  /** The event's own type, as on the wire. */
  originalType: string;
  /** The event's `data`, unchecked. */
  data: unknown;
  /**
   * Only in deliveries of `accept` and the inbox: why an authentic event could not be read. `verify()` and `on` never
   * return such an event.
   */
  problem?: string | undefined;
}

/** What `verify()` returns. Check `type` to narrow it. */
export type WebhookEvent = OrderPaidEvent | UnknownEvent;

/**
 * Reads a parsed webhook body; one that cannot be read becomes an event with a `problem`. Written by hand, so that
 * verifying a webhook loads no schema library.
 */
export function readEvent(body: unknown): WebhookEvent {
  if (!isObject(body)) return unreadable('the body is not a JSON object');
  const type = own(body, 'type');
  const data = own(body, 'data');
  if (typeof type !== 'string' || type === '') return unreadable('type: expected a string', '', data);
  if (type !== 'order.paid') {
    // A field of that name would look like an event that could not be read. `rawBody` still has it.
    const { problem: _, ...fields } = body;
    return { ...fields, type: 'unknown', originalType: type, data };
  }
  const refused = (problem: string) => unreadable(problem, type, data);
  if (!isObject(data)) return refused('data: expected an object');
  const order_id = own(data, 'order_id');
  if (typeof order_id !== 'string' || order_id === '') return refused('data.order_id: expected a string');
  const amount = readPrice(own(data, 'amount'));
  if (amount === undefined) return refused('data.amount: expected a decimal amount');
  const currency = own(data, 'currency');
  if (typeof currency !== 'string' || currency === '') return refused('data.currency: expected a string');
  return { ...body, type, data: { ...data, order_id, amount, currency } };
}

/** An authentic event that this version cannot read. */
export function unreadable(problem: string, originalType = '', data: unknown = null): UnknownEvent {
  return { type: 'unknown', originalType, data, problem };
}

/** A field of the body itself: a polluted `Object.prototype` must not fill in an amount. */
function own(object: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
