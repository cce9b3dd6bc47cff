import { unevenlySpaced } from '../../doctor/spaced.js';
import type { Settings } from '../settings.js';
import { eventLinks } from './event-links.js';
import type { EventRecord, OrderRecord } from './records.js';

/** The event of a paid order. Its text is made once: every attempt sends the same bytes. */
export function newEvent(id: string, order: OrderRecord, now: number, settings: Settings): EventRecord {
  const { webhookBody, eventLink } = settings.choices;
  const amount = webhookBody === 'text' ? order.amount : Number(order.amount);
  const { data, ...beside } = { data: {}, ...eventLinks[eventLink].fields(order.checkoutId) };
  const content = {
    type: 'order.paid',
    data: { order_id: order.id, amount, currency: order.currency, ...data },
    ...beside,
  };
  return {
    id,
    type: 'order.paid',
    orderId: order.id,
    createdAt: now,
    body: settings.encoding === 'spaced' ? unevenlySpaced(content) : JSON.stringify(content),
    state: 'pending',
    attempts: [],
    tries: 0,
  };
}
