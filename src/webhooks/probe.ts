import type { WebhookEvent } from '../schemas/event.js';
import { headerPairs } from './headers.js';

/** Begins the user agent of the doctor's deliveries. */
export const probeAgent = 'merchant-payments-doctor/';

/** Begins the ids of the orders in them, before 20 hexadecimal digits, an underscore and a number. */
export const probeOrder = 'ord_doctor';

/** True if the doctor has sent a request: it is not to be kept. */
export function isFromDoctor(headers: unknown): boolean {
  return headerPairs(headers).some(([name, value]) => name === 'user-agent' && value.startsWith(probeAgent));
}

/** True if an event is about an order of the doctor's, which nobody has paid. */
export function isProbe(event: WebhookEvent): boolean {
  return event.type === 'order.paid' && /^ord_doctor[\da-f]{20}_\d+$/.test(event.data.order_id);
}
