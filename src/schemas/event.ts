import type { CurrencyCode } from './currency.js';
import { readPrice } from './money.js';
import { isObject } from './object.js';

/** A customer paid. Spec, "Events". */
export interface OrderPaidEvent {
  /** A customer paid an order. */
  type: 'order.paid';
  /** What was paid. */
  data: {
    /** The order's id, as on the wire: the key to fulfil once. */
    order_id: string;
    /** What was paid: a decimal string with at least two decimals. */
    amount: string;
    /** Currency of `amount`. */
    currency: CurrencyCode;
    /** Fields that the spec does not list, as received and unchecked. */
    [field: string]: unknown;
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
}

/** What `verify()` returns. Check `type` to narrow it. */
export type WebhookEvent = OrderPaidEvent | UnknownEvent;

/**
 * Reads a parsed webhook body, or says which field is wrong. Written by hand, so that verifying a webhook loads
 * no schema library.
 */
export function readEvent(body: unknown): WebhookEvent | string {
  if (!isObject(body)) return 'the body is not a JSON object';
  const type = own(body, 'type');
  const data = own(body, 'data');
  if (typeof type !== 'string' || type === '') return 'type: expected a string';
  if (type !== 'order.paid') return { ...body, type: 'unknown', originalType: type, data };
  if (!isObject(data)) return 'data: expected an object';
  const order_id = own(data, 'order_id');
  if (typeof order_id !== 'string' || order_id === '') return 'data.order_id: expected a string';
  const amount = readPrice(own(data, 'amount'));
  if (amount === undefined) return 'data.amount: expected a decimal amount';
  const currency = own(data, 'currency');
  if (typeof currency !== 'string' || currency === '') return 'data.currency: expected a string';
  return { ...body, type, data: { ...data, order_id, amount, currency } };
}

/** A field of the body itself: a polluted `Object.prototype` must not fill in an amount. */
function own(object: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
