import { isPaymentsError } from 'merchant-payments';
import { orders } from '../../../lib/orders';
import { payments } from '../../../lib/payments';

/** The Buy button's form: creates a checkout session and sends the customer to the payment page. */
export async function POST(request: Request): Promise<Response> {
  const productId = String((await request.formData()).get('productId') ?? '');
  const shop = new URL(request.url).origin;
  try {
    const { items } = await payments().products.list({ status: 'ACTIVE', size: 100 });
    const product = items.find(({ id }) => id === productId);
    if (!product) return new Response('There is no such product.', { status: 404 });
    const { url } = await payments().checkouts.create({
      productId,
      successUrl: `${shop}/thanks`,
      cancelUrl: shop,
    });
    orders.push({ name: product.name, amount: product.price, currency: product.currency });
    return new Response(null, { status: 303, headers: { location: url } });
  } catch (error) {
    console.error(isPaymentsError(error) ? error.message : error);
    return new Response('The payment page cannot be reached. Nothing was charged; try again in a minute.', {
      status: 502,
    });
  }
}
