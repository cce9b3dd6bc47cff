import type { Attempt, CheckoutState, DeclineReason, EventState, PaymentMethod } from '../types.js';

/** What the sandbox remembers, as plain JSON: moments are Unix milliseconds, amounts are text. */
export interface ProductRecord {
  id: string;
  name: string;
  description?: string | undefined;
  image: string | null;
  /** As it was sent: `"19.9"` stays `"19.9"`. */
  price: string;
  currency: string;
  status: 'ACTIVE' | 'ARCHIVED';
  metadata: Record<string, string>;
  createdAt: number;
  updatedAt: number;
}

export interface CheckoutRecord {
  id: string;
  productId: string;
  /** With two decimals, fixed when the checkout was made. */
  amount: string;
  currency: string;
  state: CheckoutState;
  successUrl?: string | undefined;
  cancelUrl?: string | undefined;
  displayMerchantName?: string | undefined;
  createdAt: number;
  expiresAt: number;
  /** The wallet that waits for approval, or what paid. */
  method?: PaymentMethod | undefined;
  /** Why the last attempt to pay failed, until the next one. */
  declined?: DeclineReason | undefined;
  orderId?: string | undefined;
}

export interface OrderRecord {
  id: string;
  checkoutId: string;
  productId: string;
  amount: string;
  currency: string;
  method: PaymentMethod;
  paidAt: number;
  /** What the balance gained: the amount less fees; `undefined` where the currency is not the balance's. */
  credited?: string | undefined;
  settlesAt: number;
  settled: boolean;
}

export interface EventRecord {
  id: string;
  type: 'order.paid';
  orderId: string;
  createdAt: number;
  /** The exact text of every delivery. */
  body: string;
  state: EventState;
  attempts: AttemptRecord[];
  /** Attempts that count for the retries: all but redeliveries and ordered duplicates. */
  tries: number;
  /** When the next attempt is due on the sandbox's clock. */
  nextAttemptAt?: number | undefined;
}

export type AttemptRecord = Omit<Attempt, 'at'> & { at: number };
