import * as z from 'zod/mini';
import { productCreateParams } from '../../schemas/params.js';
import { checked, closed } from '../checks.js';
import { type EventType, eventType } from './event.js';
import { twoDecimals } from './money.js';
import type { Payment, Payments } from './payments.js';

/** What the order of a triggered event costs. */
export interface TriggerOptions {
  /** Default `'19.90'`. */
  amount?: string | undefined;
  /** Default: the balance's. */
  currency?: string | undefined;
}

const { price, currency } = productCreateParams.def.shape;

/** The checks of what it costs: those of a product. */
export const costs = { amount: z.optional(price), currency };

/** What has to happen for an event of each type, with a real product and checkout. */
const happenings: Record<EventType, (payments: Payments, price: string, currency: string) => Payment> = {
  'order.paid': (payments, price, currency) => {
    const { id: productId } = payments.createProduct({ name: 'Test payment', price, currency });
    const { id } = payments.createCheckout({ productId, amount: twoDecimals(price), currency });
    const payment = payments.pay(id, 'card');
    // A shop lists its active products.
    payments.product(productId).status = 'ARCHIVED';
    return payment;
  },
};

/** Makes an event happen, so that what a handler then reads back exists. `usual` is the balance's currency. */
export function causeEvent(payments: Payments, type: EventType, options: TriggerOptions = {}, usual: string) {
  const happening = happenings[checked(eventType, type, 'trigger: type')];
  const { amount = '19.90', currency = usual } = checked(closed(costs), options, 'trigger');
  return happening(payments, amount, currency);
}
