import * as z from 'zod/mini';
import { productCreateParams } from '../../schemas/params.js';
import { readOptions } from '../checks.js';
import { type EventType, eventType } from './event.js';
import { twoDecimals } from './money.js';
import type { Payment, Payments } from './payments.js';

/** Price of the order that a triggered event is about. */
export interface TriggerOptions {
  /** Decimal string. Default `'19.90'`. */
  amount?: string | undefined;
  /** Currency of `amount`. Default: the balance's currency. */
  currency?: string | undefined;
}

const { price, currency } = productCreateParams.def.shape;

/** Schemas of amount and currency, which are those of a product. */
export const costs = { amount: z.optional(price), currency };

const triggerOptions = z.strictObject(costs);

/** Functions that cause an event of each type, with a real product and checkout. */
const causes: Record<EventType, (payments: Payments, price: string, currency: string) => Payment> = {
  'order.paid': (payments, price, currency) => {
    const { id: productId } = payments.createProduct({ name: 'Test payment', price, currency });
    const { id } = payments.createCheckout({ productId, amount: twoDecimals(price), currency });
    const payment = payments.pay(id, 'card');
    // A shop lists its active products, so this one is archived.
    payments.product(productId).status = 'ARCHIVED';
    return payment;
  },
};

/** Causes an event with everything that a handler may read back afterwards. `usual` is the balance's currency. */
export function causeEvent(payments: Payments, type: EventType, options: TriggerOptions = {}, usual: string) {
  const cause = causes[readOptions('trigger', z.object({ type: eventType }), { type }).type];
  const { amount = '19.90', currency = usual } = readOptions('trigger', triggerOptions, options);
  return cause(payments, amount, currency);
}
