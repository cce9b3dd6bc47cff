import { unevenlySpaced } from '../../doctor/spaced.js';
import type { Settings } from '../settings.js';
import type { SandboxEvent } from './event.js';
import { eventLinks } from './event-links.js';
import type { SandboxOrder } from './order.js';

/** The event of a paid order. Its text is made once: every attempt sends the same bytes. */
export function newEvent(id: string, order: SandboxOrder, settings: Settings): SandboxEvent {
  const { webhookBody, eventLink } = settings.choices;
  const data = { order_id: order.id, amount: order.amount, currency: order.currency };
  const { data: linked, ...beside } = { data: {}, ...eventLinks[eventLink].fields(order.checkoutId) };
  const amount = webhookBody === 'text' ? order.amount : Number(order.amount);
  const content = { type: 'order.paid', data: { ...data, amount, ...linked }, ...beside };
  return {
    id,
    type: 'order.paid',
    data,
    body: settings.encoding === 'spaced' ? unevenlySpaced(content) : JSON.stringify(content),
    state: 'pending',
    attempts: [],
    createdAt: order.paidAt,
  };
}
