import { isPaymentsError } from 'merchant-payments';
import { buy } from '../../../../shop/buy.ts';
import { page } from '../../../../shop/pages.ts';
import { html, orders, payments } from '../../../lib/shop';

/** The Buy button's form, without a body, which would have no limit: creates a checkout and sends the customer to its page. */
export async function POST(request: Request): Promise<Response> {
  const { searchParams, origin } = new URL(request.url);
  const shopUrl = process.env.SHOP_URL ?? origin;
  try {
    const url = await buy(payments(), orders, searchParams.get('productId') ?? '', shopUrl);
    return url ? new Response(null, { status: 303, headers: { location: url } }) : html(page.missing(), 404);
  } catch (error) {
    console.error(isPaymentsError(error) ? error.message : error);
    return html(page.failed(), 502);
  }
}
