import type { WebhookEvent } from '../schemas/event.js';
import { headerPairs } from './headers.js';

/** The beginning of the user agent of the doctor's deliveries. */
export const probeAgent = 'merchant-payments-doctor/';

/** The beginning of the doctor's order ids, followed by 20 hexadecimal digits, an underscore and a number. */
export const probeOrder = 'ord_doctor';

/** True if the doctor sent a request, which must not be kept, however it is refused. */
export function isFromDoctor(headers: unknown): boolean {
  return headerPairs(headers).some(([name, value]) => name === 'user-agent' && value.startsWith(probeAgent));
}

/** True if an event is about one of the doctor's orders, which nobody has paid: no function and no store of the shop gets it. */
export function isProbe(event: WebhookEvent): boolean {
  return event.type === 'order.paid' && /^ord_doctor[\da-f]{20}_\d+$/.test(event.data.order_id);
}
