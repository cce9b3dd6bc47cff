import { nameIn } from '../closed.js';
import type { SandboxOrder } from './checkout.js';

/** The events that the service documents, and the `data` of each. What makes one happen is in `trigger.ts`. */
export const eventTypes = {
  'order.paid': ({ id, amount, currency }: SandboxOrder) => ({ order_id: id, amount, currency }),
};

/** A type of event that the service documents. */
export type EventType = keyof typeof eventTypes;

export const eventType = nameIn(eventTypes);
