import type { IncomingMessage, ServerResponse } from 'node:http';
import { isPaymentsError, type PaymentsClient } from 'merchant-payments';
import { buy, catalogue } from './buy.ts';
import { decide, opens, ordersPath } from './counter.ts';
import type { Orders } from './orders.ts';
import { page } from './pages.ts';
import { pictures } from './pictures.ts';

export interface ShopOptions {
  payments: PaymentsClient;
  orders: Orders;
  shopUrl: string;
  counterKey: string;
}

/** A whole shop on `node:http`: catalogue, Buy, the customer's order page, the webhook, and the counter. */
export function createShop({ payments, orders, shopUrl, counterKey }: ShopOptions) {
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const [path = '', query] = (request.url ?? '').split('?');
    const [, room = '', id = ''] = path.split('/');
    switch (`${request.method ?? ''} /${room}`) {
      case 'POST /webhooks':
        void orders.inbox.nodeHandler(request, response);
        return;
      case 'GET /': {
        if (path !== '/') return html(response, 404, page.missing());
        return html(response, 200, page.catalogue(await catalogue(payments)));
      }
      case 'POST /buy': {
        const url = await buy(payments, orders, id, shopUrl);
        return url ? redirect(response, url) : html(response, 404, page.missing());
      }
      case 'GET /thanks': {
        const order = await orders.comeBack(id, new URLSearchParams(query).get('token') ?? '');
        return order ? html(response, 200, page.order(order)) : html(response, 404, page.missing());
      }
      case 'GET /orders':
        return opens(counterKey, request.url)
          ? html(response, 200, await page.orders(orders))
          : html(response, 403, page.locked());
      case 'POST /orders': {
        if (!opens(counterKey, request.url)) return html(response, 403, page.locked());
        const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
        return (await decide(orders, form))
          ? redirect(response, ordersPath(counterKey))
          : html(response, 409, page.undecided());
      }
      case 'GET /pictures': {
        const picture = pictures.get(id);
        if (!picture) return html(response, 404, page.missing());
        return response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(picture);
      }
      default:
        return html(response, 404, page.missing());
    }
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    respond(request, response).catch((error: unknown) => {
      console.error(isPaymentsError(error) ? error.message : error);
      if (response.headersSent) response.destroy();
      else html(response, 502, page.failed());
    });
  };
}

function html(response: ServerResponse, status: number, text: string): ServerResponse {
  const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' };
  // The addresses of an order's page and of the orders hold a secret, which no other site may see.
  return response.writeHead(status, { ...headers, 'referrer-policy': 'same-origin' }).end(text);
}

function redirect(response: ServerResponse, location: string): ServerResponse {
  return response.writeHead(303, { location }).end();
}
