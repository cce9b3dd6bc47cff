import { decide, isLocal } from '../../../shop/counter.ts';
import { page } from '../../../shop/pages.ts';
import { book, formToken, html } from '../../lib/shop';

/** Behind the counter: the orders, and the payments on which a person has to decide. */
export function GET({ headers }: Request): Response {
  return isLocal((name) => headers.get(name))
    ? html(page.orders(book, formToken))
    : html(page.missing(), 404);
}

export async function POST(request: Request): Promise<Response> {
  if (!isLocal((name) => request.headers.get(name))) return html(page.missing(), 404);
  const status = decide(book, formToken, new URLSearchParams(await request.text()));
  if (status !== 303) return html(page.undecided(), status);
  return new Response(null, { status, headers: { location: '/orders' } });
}
