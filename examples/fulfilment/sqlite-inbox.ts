// Run: npx merchant-payments exec --webhook-path /webhooks -- node sqlite-inbox.ts
/**
 * A whole shop for one server in one file: the product, the redirect to the payment page, the webhook, the customer's
 * page and the orders. Everything is in shop.sqlite, and `kill -9` at any time loses no payment that got a 200.
 *
 * Needs Node 22.18 or later. In an empty folder, put this file, and install the package:
 *
 *     npm init -y && npm pkg set type=module && npm install merchant-payments
 *
 * Run it with the line above, buy at the address of the shop that it prints, and pay with a test card.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { PaymentsClient } from 'merchant-payments';
import { openInbox, openOrderBook, type PaidOrder, PaymentsError } from 'merchant-payments/inbox';

const port = process.env.PORT ?? '3030';
const shopUrl = process.env.SHOP_URL ?? `http://127.0.0.1:${port}`;
const ordersKey = process.env.ORDERS_KEY || newToken(); // opens /orders; in a real shop that page is behind a login
const payments = new PaymentsClient(); // reads PAYMENTS_API_KEY and PAYMENTS_BASE_URL

process.umask(0o077); // the file holds what customers bought: it is for this user only
const database = new DatabaseSync('shop.sqlite');
database.exec('PRAGMA busy_timeout = 5000');
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
database.exec('CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, token TEXT NOT NULL, paid_as TEXT)');

/** Gives each order an amount of its own, and says by that which one a payment is for. */
const book = openOrderBook({ database });

const inbox = openInbox({
  database,
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  leaseMs: 10_000, // nobody but this server takes up what it was at when it crashed: its customers wait that long
  on: {
    'order.paid': ({ data }, { commit }) => {
      commit((db) => {
        fulfil(book.credit(db, data));
      });
    },
  },
});

/** Writes in the transaction that credits the payment, so that it happens once. */
function fulfil(paid: PaidOrder[]): void {
  for (const { id, paymentId } of paid)
    database.prepare('UPDATE orders SET paid_as = ? WHERE id = ?').run(paymentId, id);
}

/** The mug at its price, or a cent cheaper: made once, and used again. */
async function mugAt(price: string) {
  for await (const product of payments.products.list({ status: 'ACTIVE', size: 100 }))
    if (product.metadata.sku === 'mug' && product.price === price) return product;
  return payments.products.create({ name: 'Handmade mug', price, metadata: { sku: 'mug' } });
}
const mug = await mugAt('19.90');

async function buy(response: ServerResponse): Promise<ServerResponse> {
  const [id, token] = [newToken(6), newToken()];
  const { amount } = await book.reserve({ id, price: mug.price, currency: mug.currency });
  if (amount === null)
    return page(response, '<h1>Many are buying right now. Please try again later</h1>', 503);
  try {
    const product = await mugAt(amount);
    const checkout = await payments.checkouts.create({
      productId: product.id,
      successUrl: `${shopUrl}/thanks/${id}?token=${token}`,
      cancelUrl: `${shopUrl}/`,
    });
    database.prepare('INSERT INTO orders VALUES (?, ?, NULL)').run(id, token);
    await book.open(id, { expiresAt: checkout.expiresAt, amount: checkout.amount });
    return redirect(response, checkout.url);
  } catch (error) {
    await book.cancel(id); // nobody has seen its payment page
    database.prepare('DELETE FROM orders WHERE id = ?').run(id);
    throw error;
  }
}

async function thanks(response: ServerResponse, id: string, token: string): Promise<ServerResponse> {
  const order = database.prepare('SELECT paid_as FROM orders WHERE id = ? AND token = ?').get(id, token);
  if (!order) return page(response, '<h1>There is no such order</h1>', 404);
  await book.returned(id);
  if (order.paid_as !== null) return page(response, '<h1>Thank you. Paid</h1>');
  return page(
    response,
    '<meta http-equiv="refresh" content="2"><h1>Thank you. Your payment is being confirmed</h1>',
  );
}

async function orders(response: ServerResponse): Promise<ServerResponse> {
  const all = database
    .prepare(
      'SELECT orders.id, amount, currency, paid_as FROM orders JOIN payments_order USING (id) ORDER BY created_at DESC LIMIT 100',
    )
    .all();
  const list = (lines: string[]) => `<ul>${lines.map((line) => `<li>${line}</li>`).join('')}</ul>`;
  const sum = ({ id, amount, currency }: { id?: unknown; amount?: unknown; currency?: unknown }) =>
    escapeHtml(`${String(id)}: ${String(amount)} ${String(currency)}`);
  const choice = (payment: string, order: string) => {
    const address = `/orders?${new URLSearchParams({ key: ordersKey, payment, order })}`;
    return `<form method="post" action="${escapeHtml(address)}"><button>it is order ${escapeHtml(order)}</button></form>`;
  };
  const held = (await book.held()).map(({ payment, candidates }) => {
    return sum(payment) + candidates.map(({ id }) => choice(payment.id, id)).join('');
  });
  return page(
    response,
    `<h1>Orders</h1>${list(all.map((one) => `${sum(one)}, ${one.paid_as === null ? 'open' : `paid as ${escapeHtml(String(one.paid_as))}`}`))}
     <h2>Payments held: which order was it?</h2>${list(held)}
     <h2>Customers back, and no payment: was a webhook lost?</h2>${list((await book.overdue()).map(sum))}`,
  );
}

/** A person says which order a held payment was for. */
function decide(response: ServerResponse, paymentId: string, orderId: string): ServerResponse {
  database.exec('BEGIN IMMEDIATE');
  try {
    fulfil(book.decide(paymentId, orderId, database));
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    // Somebody else has decided meanwhile, say.
    if (!(error instanceof PaymentsError)) throw error;
    return page(response, `<h1>${escapeHtml(error.message)}</h1>`, 409);
  }
  return redirect(response, `/orders?key=${ordersKey}`);
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  const [path = '', query] = (request.url ?? '').split('?');
  const [, room, id = ''] = path.split('/');
  const parameter = (name: string) => new URLSearchParams(query).get(name) ?? '';
  const isOrders = room === 'orders' && parameter('key') === ordersKey;
  if (request.method === 'POST') {
    if (room === 'webhooks') {
      void inbox.nodeHandler(request, response);
      return;
    }
    if (room === 'buy') return buy(response);
    if (isOrders) return decide(response, parameter('payment'), parameter('order'));
  } else {
    if (path === '/')
      return page(
        response,
        `<h1>${mug.name}</h1><p>${mug.price} ${mug.currency}</p><form method="post" action="/buy"><button>Buy</button></form>`,
      );
    if (room === 'thanks') return thanks(response, id, parameter('token'));
    if (isOrders) return orders(response);
  }
  return page(response, '<h1>There is nothing here</h1>', 404);
}

const server = createServer((request, response) => {
  respond(request, response).catch((error: unknown) => {
    console.error(error);
    page(response, '<h1>Please try again in a minute</h1>', 502);
  });
});
server.listen(Number(port), () => {
  console.log(`Shop    ${shopUrl}\nOrders  ${shopUrl}/orders?key=${ordersKey}`);
});

/** Stores and answers the deliveries that have come, and lets running functions finish; both have ten seconds. The rest stays in the file. */
async function shutDown(): Promise<void> {
  setTimeout(() => {
    server.closeAllConnections();
  }, 10_000).unref();
  await once(server.close(), 'close');
  await inbox.close();
  database.close();
}
process.once('SIGTERM', () => void shutDown());

function page(response: ServerResponse, body: string, status = 200): ServerResponse {
  const style = 'body { max-width: 40rem; margin: 3rem auto; padding: 0 1rem; font: 1.1rem/1.5 system-ui }';
  // The address of an order's page holds its token, which no other site may see.
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  };
  return response
    .writeHead(status, headers)
    .end(`<!doctype html><title>Shop</title><style>${style}</style>${body}`);
}

function redirect(response: ServerResponse, location: string): ServerResponse {
  return response.writeHead(303, { location }).end();
}

function newToken(bytes = 24): string {
  return randomBytes(bytes).toString('base64url');
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${String(sign.charCodeAt(0))};`);
}
