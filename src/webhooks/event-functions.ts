import * as z from 'zod/mini';
import { functionSchema } from '../input/functions.js';
import { eventTypeNames, type KnownEvent, type UnknownEvent, type WebhookEvent } from '../schemas/event.js';

type FunctionOf<Event, Given extends unknown[]> = ((event: Event, ...given: Given) => unknown) | undefined;

/** Returns the schema of the option `on`: functions by event type. */
export function eventFunctions<Given extends unknown[]>() {
  const functions = z.optional(functionSchema<[event: KnownEvent, ...given: Given]>());
  return z.strictObject(Object.fromEntries(eventTypeNames.map((type) => [type, functions])));
}

/**
 * Returns a function that calls the caller's function for an event, or `undefined` if there is none. An event of a known
 * type without a function goes to `onUnknown`.
 */
export function functionFor<Given extends unknown[]>(
  event: WebhookEvent,
  on: Readonly<Record<string, FunctionOf<KnownEvent, Given>>> | undefined,
  onUnknown: FunctionOf<UnknownEvent, Given>,
): ((...given: Given) => unknown) | undefined {
  if (event.type === 'unknown') return onUnknown && ((...given) => onUnknown(event, ...given));
  const known = on?.[event.type];
  if (known) return (...given) => known(event, ...given);
  const { type: originalType, ...rest } = event;
  return onUnknown && ((...given) => onUnknown({ ...rest, type: 'unknown', originalType }, ...given));
}
