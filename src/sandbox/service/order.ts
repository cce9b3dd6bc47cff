import * as z from 'zod/mini';
import { type PaymentMethod, paymentMethod } from './checkout.js';

/** A paid order. The service shows orders only in the webhook event. */
export interface SandboxOrder {
  /** The event's `order_id`. */
  id: string;
  /** The checkout that was paid. */
  checkoutId: string;
  /** The product that was sold. */
  productId: string;
  /** Decimal string with two decimals. */
  amount: string;
  /** Currency of `amount`. */
  currency: string;
  /** What the customer paid with. */
  method: PaymentMethod;
  /** On the sandbox's clock. */
  paidAt: Date;
  /** What the balance gained: `amount` minus fees. Absent if the currency is not the balance's. */
  credited?: string | undefined;
  /** When it moves from `pending` to `available`. */
  settlesAt: Date;
  /** Whether it has moved. */
  settled: boolean;
}

export const storedOrder = z.object({
  id: z.string(),
  checkoutId: z.string(),
  productId: z.string(),
  amount: z.string(),
  currency: z.string(),
  method: paymentMethod,
  paidAt: z.coerce.date(),
  credited: z.optional(z.string()),
  settlesAt: z.coerce.date(),
  settled: z.boolean(),
}) satisfies z.ZodMiniType<SandboxOrder>;
