import * as z from 'zod/mini';
import type { Product } from '../../schemas/product.js';
import { twoDecimals } from './money.js';

/** Returns a product as the client does, with two decimals in its price. The stored price stays as it was sent, such as `"19.9"`. */
export function viewProduct(product: Product): Product {
  return { ...structuredClone(product), price: twoDecimals(product.price) };
}

export const paymentMethod = z.enum(['card', 'walletA', 'walletB']);
export const declineReason = z.enum(['card_declined', 'insufficient_funds', 'wallet_declined']);

/** Method of a payment. */
export type PaymentMethod = 'card' | 'walletA' | 'walletB';

/** Reason why a payment was declined. */
export type DeclineReason = 'card_declined' | 'insufficient_funds' | 'wallet_declined';

/** State of a checkout. `processing` means that a wallet waits for approval. Spec: "States of checkout sessions: not shown". */
export type CheckoutState = 'open' | 'processing' | 'paid' | 'cancelled' | 'expired';

/** A checkout session, with more fields than the API shows. */
export interface SandboxCheckout {
  /** Id of the checkout, for `checkouts.retrieve()` and `completeCheckout()`. */
  id: string;
  /** The product that is sold. */
  productId: string;
  /** Decimal string with two decimals, fixed when the checkout is created. */
  amount: string;
  /** Currency of `amount`. */
  currency: string;
  /** URL of the payment page. */
  url: string;
  /** State of the checkout. */
  state: CheckoutState;
  /** URL that the customer is sent to after paying. */
  successUrl?: string | undefined;
  /** URL that the customer is sent to after cancelling. */
  cancelUrl?: string | undefined;
  /** Merchant's name on the payment page. */
  displayMerchantName?: string | undefined;
  /** The wallet that has to approve, or the method that paid. */
  method?: PaymentMethod | undefined;
  /** Reason why the last attempt to pay failed. */
  declined?: DeclineReason | undefined;
  /** Id of the order, once the checkout is paid. */
  orderId?: string | undefined;
  /** Time of creation, on the sandbox's clock. */
  createdAt: Date;
  /** Time from which the checkout can no longer be paid, on the sandbox's clock. */
  expiresAt: Date;
}

/** A checkout as stored, without its URL, which follows from its id. */
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
  /** Method that the customer paid with. */
  method: PaymentMethod;
  /** Time of the payment, on the sandbox's clock. */
  paidAt: Date;
  /** Amount added to the balance, which is `amount`. Absent if the order has another currency than the balance. */
  credited?: string | undefined;
  /** Time when the money moves from `pending` to `available`, on the sandbox's clock. */
  settlesAt: Date;
  /** True if the money has moved to `available`. */
  settled: boolean;
}
