import { isPaymentsError } from 'merchant-payments';
import { buy } from '../../../../shop/buy.ts';
import { page } from '../../../../shop/pages.ts';
import { book, html, payments } from '../../../lib/shop';

/** The Buy button's form: creates a checkout session and sends the customer to the payment page. */
export async function POST(request: Request): Promise<Response> {
  const productId = (await request.formData()).get('productId');
  const shopUrl = process.env.SHOP_URL ?? new URL(request.url).origin;
  try {
    const url = await buy(payments(), book, typeof productId === 'string' ? productId : '', shopUrl);
    return url ? new Response(null, { status: 303, headers: { location: url } }) : html(page.missing(), 404);
  } catch (error) {
    console.error(isPaymentsError(error) ? error.message : error);
    return html(page.failed(), 502);
  }
}
