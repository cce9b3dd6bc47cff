import type { PaymentsClient } from 'merchant-payments';
import { newTicket, type OrderBook } from './orders.ts';

/**
 * Creates a checkout and the order that its customer comes back to. Returns the payment page's address, or
 * `undefined` where there is no such product.
 */
export async function buy(
  payments: PaymentsClient,
  book: OrderBook,
  productId: string,
  shopUrl: string,
): Promise<string | undefined> {
  for await (const { id, name, price, currency } of payments.products.list({ status: 'ACTIVE', size: 100 })) {
    if (id !== productId) continue;
    const ticket = newTicket();
    const checkout = await payments.checkouts.create({
      productId,
      successUrl: `${shopUrl}/thanks/${ticket.id}?token=${ticket.token}`,
      cancelUrl: `${shopUrl}/`,
      displayMerchantName: 'North & Pine',
    });
    // Only `url` is guaranteed. Nobody can pay before this order is in the book: nobody knows the url yet.
    const { amount = price, expiresAt } = checkout;
    book.open({ ...ticket, name, amount, currency: checkout.currency ?? currency, expiresAt });
    return checkout.url;
  }
  return undefined;
}
