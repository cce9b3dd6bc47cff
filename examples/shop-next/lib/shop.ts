/**
 * The same shop in Next.js: `npm install next react react-dom`, then
 *
 *     npx merchant-payments exec --port 4380 --webhook-url http://localhost:3020/api/webhooks -- npx next dev shop-next --port 3020
 *
 * The shelves are empty until `stock-the-shop.ts` has run. The orders, the pages and the goods are those of `../shop`.
 */
import { randomBytes } from 'node:crypto';
import { PaymentsClient } from 'merchant-payments';
import { OrderBook } from '../../shop/orders.ts';

/** The orders, which are tables of a database in a real shop, and the token of the form behind the counter. */
interface Shop {
  book: OrderBook;
  formToken: string;
}
declare global {
  var shop: Shop | undefined;
}

/** Next.js loads a module once for pages and once for routes, so a plain variable would be two shops. */
globalThis.shop ??= { book: new OrderBook(), formToken: randomBytes(16).toString('hex') };
export const { book, formToken } = globalThis.shop;

let client: PaymentsClient | undefined;

/** One client for the whole server: it keeps connections open. Made at the first use, so that a build needs no key. */
export function payments(): PaymentsClient {
  client ??= new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL
  return client;
}

export function html(text: string, status = 200): Response {
  return new Response(text, { status, headers: { 'content-type': 'text/html; charset=utf-8' } });
}
