import { EventEmitter, on } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isPaymentsError, type PaymentsClient, type Product, webhooks } from 'merchant-payments';
import { page } from './pages.js';
import { pictures } from './pictures.js';

/** An order of this shop. `paidAs` is the service's order id, once its webhook has come. */
export interface Order {
  number: number;
  product: Product;
  paidAs?: string;
}

export interface ShopOptions {
  payments: PaymentsClient;
  webhookSecret: string;
  shopUrl: string;
  dashboardUrl: string;
}

const goods = [
  {
    name: 'Handmade mug',
    description: 'Stoneware, glazed by hand in small batches. Holds 300 ml.',
    price: '19.90',
    picture: 'mug',
  },
  {
    name: 'Field guide to slow mornings',
    description: 'Ninety-six pages, thread-sewn, with woodcuts.',
    price: '34.00',
    picture: 'book',
  },
  {
    name: 'Forest candle',
    description: 'Spruce and cedar in a glass that lives on as a tumbler.',
    price: '27.50',
    picture: 'candle',
  },
];

/** A whole shop: catalogue, Buy, the customer's order page, and the webhook that marks orders as paid. */
export function createShop({ payments, webhookSecret, shopUrl, dashboardUrl }: ShopOptions) {
  const orders: Order[] = []; // a database in a real shop
  const changes = new EventEmitter();
  let products: Product[] = [];

  /** Puts the goods into the service. */
  async function stock(): Promise<void> {
    products = await Promise.all(
      goods.map(({ picture, ...product }) =>
        payments.products.create({ ...product, image: `${shopUrl}/pictures/${picture}.svg` }),
      ),
    );
  }

  const receiveWebhook = webhooks.nodeHandler({
    secret: webhookSecret,
    on: {
      'order.paid': ({ data }) => {
        // The service does not say which checkout an order came from, so amount and currency have to agree. The newest
        // order that waits is the likeliest: older ones may have been left.
        const order = orders.findLast(
          ({ paidAs, product }) =>
            !paidAs && product.price === data.amount && product.currency === data.currency,
        );
        if (!order)
          return console.warn(
            `${data.order_id} paid ${data.amount} ${data.currency}, and no order asks for it`,
          );
        order.paidAs = data.order_id;
        changes.emit(`paid ${order.number}`);
      },
    },
  });

  async function buy(productId: string, response: ServerResponse): Promise<void> {
    const product = products.find(({ id }) => id === productId);
    if (!product) return html(response, 404, page.missing());
    const order: Order = { number: orders.length + 1, product };
    const checkout = await payments.checkouts.create({
      productId,
      successUrl: `${shopUrl}/orders/${order.number}`,
      cancelUrl: `${shopUrl}/`,
      displayMerchantName: 'North & Pine',
    });
    orders.push(order);
    response.writeHead(303, { location: checkout.url }).end();
  }

  /** Tells an open order page that the money has come. */
  async function watch(order: Order, request: IncomingMessage, response: ServerResponse): Promise<void> {
    response
      .writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
      .flushHeaders();
    const gone = new AbortController();
    request.on('close', () => gone.abort());
    const paid = on(changes, `paid ${order.number}`, { signal: gone.signal });
    if (!order.paidAs) await paid.next().catch(() => undefined);
    response.end('event: paid\ndata:\n\n');
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, room, id, detail] = new URL(request.url ?? '/', shopUrl).pathname.split('/');
    const order = orders.find(({ number }) => String(number) === id);
    try {
      if (request.method === 'POST') {
        if (room === 'webhooks') return await receiveWebhook(request, response);
        if (room === 'buy' && id) return await buy(id, response);
      } else if (room === '') {
        return html(response, 200, page.catalogue(products));
      } else if (room === 'dashboard') {
        response.writeHead(302, { location: dashboardUrl }).end();
        return;
      } else if (room === 'orders' && !id) {
        return html(response, 200, page.orders(orders));
      } else if (room === 'orders' && order) {
        if (detail === 'paid') return await watch(order, request, response);
        return html(response, 200, page.order(order));
      } else if (room === 'pictures' && pictures[id ?? '']) {
        response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(pictures[id ?? '']);
        return;
      }
      html(response, 404, page.missing());
    } catch (error) {
      console.error(isPaymentsError(error) ? error.message : error);
      html(response, 502, page.failed());
    }
  }

  return { handle, stock };
}

function html(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
    .end(text);
}
