/**
 * The same shop in Next.js: `npm install next react react-dom`, then
 *
 *     npx merchant-payments exec --port 4380 --webhook-url http://127.0.0.1:3020/api/webhooks -- npx next dev shop-next --hostname 127.0.0.1 --port 3020
 *
 * Ctrl-C ends all of it. npx does not pass on a `kill`: for that, put `node_modules/.bin/` in place of both `npx `.
 *
 * The shelves are empty until `stock-the-shop.ts` has run with SHOP_URL=http://127.0.0.1:3020. A visit to /orders prints the
 * address of the orders. The orders, the pages and the goods are those of `../shop`.
 */
import { PaymentsClient } from 'merchant-payments';
import { newCounterKey } from '../../shop/counter.ts';
import { type Orders, openOrders } from '../../shop/orders.ts';

interface Shop {
  orders: Orders;
  counterKey: string;
}
declare global {
  var shop: Shop | undefined;
}

/** Next.js loads a module once for pages and once for routes, so a plain variable would be two shops. A build has no secret. */
globalThis.shop ??= {
  orders: openOrders(() => process.env.PAYMENTS_WEBHOOK_SECRET),
  counterKey: newCounterKey(),
};
export const { orders, counterKey } = globalThis.shop;

let client: PaymentsClient | undefined;

/** One client for the whole server: it keeps connections open. Made at the first use, so that a build needs no key. */
export function payments(): PaymentsClient {
  client ??= new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL
  return client;
}

export function html(text: string, status = 200): Response {
  return new Response(text, { status, headers: { 'content-type': 'text/html; charset=utf-8' } });
}
