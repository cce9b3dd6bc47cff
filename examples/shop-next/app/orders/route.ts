import { decide, opens, ordersPath } from '../../../shop/counter.ts';
import { page } from '../../../shop/pages.ts';
import { counterKey, html, orders } from '../../lib/shop';

/** Behind the counter: the orders, and the payments on which a person has to decide. */
export async function GET({ url }: Request): Promise<Response> {
  if (opens(counterKey, url)) return html(await page.orders(orders));
  console.log(`The orders are at ${ordersPath(counterKey)}`);
  return html(page.locked(), 403);
}

export async function POST(request: Request): Promise<Response> {
  if (!opens(counterKey, request.url)) return html(page.locked(), 403);
  if (!(await decide(orders, new URLSearchParams(await request.text())))) return html(page.undecided(), 409);
  return new Response(null, { status: 303, headers: { location: ordersPath(counterKey) } });
}
