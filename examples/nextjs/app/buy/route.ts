import { addOrder } from '../../lib/orders.ts';
import { payments } from '../../lib/payments.ts';

const shopUrl = process.env.SHOP_URL ?? 'http://localhost:3000';

/** A form posts here: a link would let crawlers create sessions. */
export async function POST(): Promise<Response> {
  const mug = await payments().products.create({ name: 'Handmade mug', price: '19.90' }); // once, in a real shop
  const order = addOrder(mug.price, mug.currency);
  const { url } = await payments().checkouts.create({
    productId: mug.id,
    successUrl: `${shopUrl}/thanks/${order}`,
    cancelUrl: shopUrl,
  });
  return new Response(null, { status: 303, headers: { location: url } });
}
