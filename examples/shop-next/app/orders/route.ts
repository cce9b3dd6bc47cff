import { decide } from '../../../shop/counter.ts';
import { page } from '../../../shop/pages.ts';
import { book, counterKey, html } from '../../lib/shop';

/** Behind the counter: the orders, and the payments on which a person has to decide. */
export function GET({ url }: Request): Response {
  if (new URL(url).searchParams.get('key') === counterKey) return html(page.orders(book, counterKey));
  console.log(`The orders are at /orders?key=${counterKey}`);
  return html(page.missing(), 404);
}

export async function POST(request: Request): Promise<Response> {
  const status = decide(book, counterKey, new URLSearchParams(await request.text()));
  if (status !== 303) return html(page.undecided(), status);
  return new Response(null, { status, headers: { location: `/orders?key=${counterKey}` } });
}
