import type { Product } from '../../schemas/product.js';
import { oneOf } from '../checks.js';
import { twoDecimals } from './money.js';

/** A product as the client returns it. The stored price is as it was sent: `"19.9"` stays `"19.9"`. */
export function viewProduct(product: Product): Product {
  return { ...structuredClone(product), price: twoDecimals(product.price) };
}

export const paymentMethod = oneOf(['card', 'walletA', 'walletB']);
export const declineReason = oneOf(['card_declined', 'insufficient_funds', 'wallet_declined']);

/** What the customer pays with. */
export type PaymentMethod = 'card' | 'walletA' | 'walletB';

/** Why a payment failed. */
export type DeclineReason = 'card_declined' | 'insufficient_funds' | 'wallet_declined';

/** `processing` while a wallet waits for approval. Spec: "States of checkout sessions: not shown". */
export type CheckoutState = 'open' | 'processing' | 'paid' | 'cancelled' | 'expired';

/** A checkout session with more than the API shows of it. */
export interface SandboxCheckout {
  /** Its id, for `checkouts.retrieve()` and `completeCheckout()`. */
  id: string;
  /** The product that is sold. */
  productId: string;
  /** Decimal string with two decimals, fixed when the checkout is created. */
  amount: string;
  /** Currency of `amount`. */
  currency: string;
  /** The payment page. */
  url: string;
  /** Its state. */
  state: CheckoutState;
  /** Where the customer goes after paying. */
  successUrl?: string | undefined;
  /** Where the customer goes after cancelling. */
  cancelUrl?: string | undefined;
  /** Shown on the payment page. */
  displayMerchantName?: string | undefined;
  /** The wallet that has to approve, or the method that paid. */
  method?: PaymentMethod | undefined;
  /** Why the last attempt to pay failed. */
  declined?: DeclineReason | undefined;
  /** The order, once it is paid. */
  orderId?: string | undefined;
  /** On the sandbox's clock. */
  createdAt: Date;
  /** When it can no longer be paid. */
  expiresAt: Date;
}

/** A checkout as stored: its URL follows from its id. */
export type StoredCheckout = Omit<SandboxCheckout, 'url'>;

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
  /** What the balance gained: `amount`. Absent if the currency is not the balance's. */
  credited?: string | undefined;
  /** When it moves from `pending` to `available`. */
  settlesAt: Date;
  /** Whether it has moved. */
  settled: boolean;
}
