import type { Product } from 'merchant-payments';
import { dropOrder, openOrder, saveCheckout } from '../../lib/orders.ts';
import { payments } from '../../lib/payments.ts';

const shopUrl = process.env.SHOP_URL ?? `http://localhost:${process.env.PORT ?? '3000'}`;

/** A form posts here: a link would let crawlers create sessions. */
export async function POST(): Promise<Response> {
  const order = openOrder('19.90', 'USD');
  try {
    const mug = await mugAt(order.amount);
    const { url, amount, expiresAt } = await payments().checkouts.create({
      productId: mug.id,
      successUrl: `${shopUrl}/thanks/${order.id}`,
      cancelUrl: shopUrl,
    });
    saveCheckout(order.id, amount ?? order.amount, expiresAt);
    return new Response(null, { status: 303, headers: { location: url } });
  } catch (error) {
    dropOrder(order.id); // nobody has the payment page's address
    throw error;
  }
}

/** The mug at its price, or a cent cheaper: made once, and used again. */
async function mugAt(price: string): Promise<Product> {
  for await (const product of payments().products.list({ status: 'ACTIVE', size: 100 }))
    if (product.metadata.sku === 'mug' && product.price === price) return product;
  return payments().products.create({ name: 'Handmade mug', price, metadata: { sku: 'mug' } });
}
