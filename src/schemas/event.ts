import * as z from 'zod/mini';
import { isObject } from '../input/object.js';
import type { CurrencyCode } from './currency.js';
import { price } from './money.js';

/** The event that a customer paid. Spec, "Events". */
export interface OrderPaidEvent {
  /** The type of an event that a customer paid an order. */
  type: 'order.paid';
  /** The paid order. Fields that the spec does not list are kept: `'checkout_id' in data` gives access to one, as `unknown`. */
  data: {
    /** The order's id, as on the wire: the key to fulfil once. */
    order_id: string;
    /** The paid amount: a decimal string with at least two decimals. */
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
   * The reason for which an authentic event could not be read. Only deliveries of `accept` and the inbox have it: `verify()`
   * never returns such an event, and `on` never receives one.
   */
  problem?: string | undefined;
}

/** The event that `verify()` returns. Check `type` to narrow it. */
export type WebhookEvent = OrderPaidEvent | UnknownEvent;

/** An event of a type that this version knows. */
export type KnownEvent = Exclude<WebhookEvent, UnknownEvent>;

/** Your functions, by event type. An event without a function goes to `onUnknown`. */
export interface EventFunctions<Given extends unknown[] = []> {
  /** A customer paid: fulfil the order. */
  'order.paid': (event: OrderPaidEvent, ...given: Given) => unknown;
}

interface EventType<Event extends KnownEvent> {
  schema: z.ZodMiniType<Event>;
  /** The field of `data` that is the same in each delivery of one event, and differs between events. */
  key: keyof Event['data'] & string;
  /** The fields of `data` that tell a person what differs between two deliveries of one key. */
  content: readonly (keyof Event['data'] & string)[];
}

const text = z.string().check(z.minLength(1));

/** Every event type that this version knows. Handlers, the inbox and the keys of deliveries are derived from this table. */
const eventTypes: { [Type in KnownEvent['type']]: EventType<Extract<KnownEvent, { type: Type }>> } = {
  'order.paid': {
    schema: z.looseObject({
      type: z.literal('order.paid'),
      data: z.looseObject({ order_id: text, amount: price, currency: text }),
    }),
    key: 'order_id',
    content: ['amount', 'currency'],
  },
};

export const eventTypeNames = Object.keys(eventTypes);

const anyEvent = z.looseObject({ type: text, data: z.optional(z.unknown()) });

/** Returns the event of a parsed webhook body. If the body cannot be read, the event has a `problem`. */
export function readEvent(body: unknown): WebhookEvent {
  const type = isObject(body) ? body.type : undefined;
  const schema = isKnownType(type) ? eventTypes[type].schema : anyEvent;
  const { data: event, error } = z.safeParse(schema, body, { error: wordIssue });
  const data = isObject(body) ? body.data : undefined;
  if (error) return unreadableEvent(problemOf(error), typeof type === 'string' ? type : '', data);
  if (isKnownEvent(event)) return event;
  // A field `problem` would look like an event that could not be read. `rawBody` still has it.
  const { problem: _, ...fields } = event;
  return { ...fields, type: 'unknown', originalType: event.type, data };
}

/** Returns the value that identifies an event, such as its `order_id`. */
export function idOf(event: KnownEvent): string {
  return String(Reflect.get(event.data, eventTypes[event.type].key));
}

/** Returns the content of an event for a person, such as `19.90 USD`. */
export function summaryOf(event: KnownEvent): string {
  return eventTypes[event.type].content.map((name) => String(Reflect.get(event.data, name))).join(' ');
}

function isKnownType(type: unknown): type is KnownEvent['type'] {
  return typeof type === 'string' && Object.hasOwn(eventTypes, type);
}

function isKnownEvent(event: { type: string }): event is KnownEvent {
  return isKnownType(event.type);
}

/** Returns the message of an issue. It never quotes the value, which a stranger may have sent. */
function wordIssue(issue: z.core.$ZodRawIssue): string {
  return `expected ${issue.code === 'invalid_type' && issue.expected === 'object' ? 'an object' : 'a string'}`;
}

function problemOf({ issues: [first] }: z.core.$ZodError): string {
  return first?.path.length ? `${first.path.join('.')}: ${first.message}` : 'the body is not a JSON object';
}

/** Returns an event for an authentic delivery that this version cannot read. */
export function unreadableEvent(problem: string, originalType = '', data: unknown = null): UnknownEvent {
  return { type: 'unknown', originalType, data, problem };
}
