import { randomUUID } from 'node:crypto';
import type { Product } from 'merchant-payments';
import { book, dropOrder, insertOrder } from '../../lib/orders.ts';
import { payments } from '../../lib/payments.ts';

const shopUrl = process.env.SHOP_URL ?? `http://localhost:${process.env.PORT ?? '3000'}`;

/** A form posts here: a link would let crawlers create sessions. */
export async function POST(): Promise<Response> {
  const id = randomUUID();
  const { amount } = await book.reserve({ id, price: '19.90', currency: 'USD' });
  if (amount === null) return new Response('Many are buying right now. Try again later.', { status: 503 });
  try {
    const mug = await mugAt(amount);
    const checkout = await payments().checkouts.create({
      productId: mug.id,
      successUrl: `${shopUrl}/thanks/${id}`,
      cancelUrl: shopUrl,
    });
    insertOrder(id);
    await book.open(id, { expiresAt: checkout.expiresAt, amount: checkout.amount });
    return new Response(null, { status: 303, headers: { location: checkout.url } });
  } catch (error) {
    await dropOrder(id); // nobody has the payment page's address
    throw error;
  }
}

/** The mug at its price, or a cent cheaper: made once, and used again. */
async function mugAt(price: string): Promise<Product> {
  for await (const product of payments().products.list({ status: 'ACTIVE', size: 100 }))
    if (product.metadata.sku === 'mug' && product.price === price) return product;
  return payments().products.create({ name: 'Handmade mug', price, metadata: { sku: 'mug' } });
}
