import { describeIssues } from '../../schemas/fields.js';
import { productCreateParams } from '../../schemas/params.js';
import { checked, SandboxError } from '../checks.js';
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

/** What has to happen for an event of each type. */
const happenings: Record<EventType, (payments: Payments, options: TriggerOptions) => Payment> = {
  'order.paid': (payments, options) => payments.pay(testCheckout(payments, options), 'card'),
};

/** Makes an event happen, so that what a handler then reads back exists. */
export function causeEvent(payments: Payments, type: EventType, options: TriggerOptions): Payment {
  return happenings[checked(eventType, type, 'trigger: type')](payments, options);
}

/** A real product and a checkout for it. */
function testCheckout(payments: Payments, { amount = '19.90', currency }: TriggerOptions): string {
  const result = productCreateParams.safeParse({ name: 'Test payment', price: amount, currency });
  if (!result.success) {
    const [problem] = describeIssues(result.error.issues);
    const field = problem?.path === 'price' ? 'amount' : problem?.path;
    throw new SandboxError('invalid_options', `trigger: ${field} ${problem?.message}`);
  }
  const { id, price, currency: own } = payments.createProduct(result.data);
  return payments.createCheckout({ productId: id, amount: twoDecimals(price), currency: own }).id;
}
