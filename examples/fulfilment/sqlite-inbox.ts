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
import { openInbox } from 'merchant-payments/inbox';
import { freeAmount, matchPayments } from 'merchant-payments/matching';

const port = process.env.PORT ?? '3030';
const shopUrl = process.env.SHOP_URL ?? `http://127.0.0.1:${port}`;
const ordersKey = process.env.ORDERS_KEY || newToken(); // opens /orders; in a real shop that page is behind a login
const payments = new PaymentsClient(); // reads PAYMENTS_API_KEY and PAYMENTS_BASE_URL

process.umask(0o077); // the file holds what customers bought: it is for this user only
const database = new DatabaseSync('shop.sqlite');
database.exec('PRAGMA busy_timeout = 5000');
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
database.exec(`
  CREATE TABLE IF NOT EXISTS orders (
    id TEXT PRIMARY KEY, token TEXT NOT NULL, amount TEXT NOT NULL, currency TEXT NOT NULL,
    created_at INTEGER NOT NULL, expires_at INTEGER, returned_at INTEGER, paid_as TEXT
  );
  CREATE INDEX IF NOT EXISTS orders_by_amount ON orders (amount, currency);
  CREATE TABLE IF NOT EXISTS payments (
    id TEXT PRIMARY KEY, amount TEXT NOT NULL, currency TEXT NOT NULL, received_at INTEGER NOT NULL, order_id TEXT
  );
  CREATE INDEX IF NOT EXISTS payments_held ON payments (amount, currency) WHERE order_id IS NULL;
`);

const inbox = openInbox({
  database,
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  leaseMs: 10_000, // nobody but this server takes up what it was at when it crashed: its customers wait that long
  on: {
    'order.paid': ({ data }, { receivedAt, commit }) => {
      commit(() => {
        const payment = [data.order_id, data.amount, data.currency, Date.parse(receivedAt)];
        const insert = 'INSERT INTO payments VALUES (?, ?, ?, ?, NULL) ON CONFLICT DO NOTHING';
        if (database.prepare(insert).run(...payment).changes === 0) throw new Error(conflict(data.order_id));
        creditWhatIsCertain();
      });
    },
  },
});

/** Why the retry of a delivery fails that was parked for its other amount: a payment has one row. */
const conflict = (id: string) =>
  `${id} came with another amount or currency before. Change its row in payments by hand, or discard this delivery.`;

/** What is certain, what a person has to decide, and whose webhook may be lost. A return proves nothing. */
function review() {
  const date = (time: unknown) => (time === null ? undefined : new Date(Number(time)));
  const unpaid = database.prepare('SELECT * FROM orders WHERE paid_as IS NULL').all();
  const held = database.prepare('SELECT * FROM payments WHERE order_id IS NULL').all();
  const sum = (row: (typeof unpaid)[number]) => {
    return { id: String(row.id), amount: String(row.amount), currency: String(row.currency) };
  };
  return matchPayments({
    orders: unpaid.map((row) => ({
      ...sum(row),
      createdAt: new Date(Number(row.created_at)),
      expiresAt: date(row.expires_at),
      returnedAt: date(row.returned_at),
    })),
    payments: held.map((row) => ({ ...sum(row), receivedAt: new Date(Number(row.received_at)) })),
    now: new Date(),
    trustReturns: false,
  });
}

function creditWhatIsCertain(): void {
  for (const { order, payment } of review().matched) credit(payment.id, order.id);
}

/** Fulfilling belongs here too: whatever is written in this transaction happens once. */
function credit(payment: string, order: string): void {
  database.prepare('UPDATE orders SET paid_as = ? WHERE id = ?').run(payment, order);
  database.prepare('UPDATE payments SET order_id = ? WHERE id = ?').run(order, payment);
}

function inTransaction<Result>(write: () => Result): Result {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = write();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

/** The mug at its price, or a cent cheaper: made once, and used again. */
async function mugAt(price: string) {
  for await (const product of payments.products.list({ status: 'ACTIVE', size: 100 }))
    if (product.metadata.sku === 'mug' && product.price === price) return product;
  return payments.products.create({ name: 'Handmade mug', price, metadata: { sku: 'mug' } });
}
const mug = await mugAt('19.90');

/** Enters an order under an amount of its own: its payment can then be for no other one. */
function openOrder(id: string, token: string): string {
  return inTransaction(() => {
    const now = Date.now();
    // The amounts of unpaid orders, for a week, and of paid ones for a day from their payment: an open page may pay again.
    const open = database.prepare(`
      SELECT orders.amount, paid_as FROM orders LEFT JOIN payments ON payments.id = paid_as WHERE orders.currency = ? AND
        CASE WHEN paid_as IS NULL THEN coalesce(expires_at, created_at) > ? OR returned_at > 0
        ELSE received_at > ? OR expires_at > ? END`);
    const since = [now - 7 * 86_400_000, now - 86_400_000, now];
    const all = open.all(mug.currency, ...since);
    const free = (orders: Record<string, unknown>[]) =>
      freeAmount({ price: mug.price, taken: orders.map((one) => String(one.amount)), most: '0.50' });
    // None left: one of an unpaid order, so that a payment is held, and never one of a paid order.
    const amount = free(all) ?? free(all.filter((one) => one.paid_as !== null));
    if (amount === undefined)
      throw new Error(`Every amount near ${mug.price} was paid today. Sell it later.`);
    // It has expired until there is a checkout, so that a crash leaves no order that could be credited.
    const order = [id, token, amount, mug.currency, now, now];
    database.prepare('INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, NULL, NULL)').run(...order);
    return amount;
  });
}

async function buy(response: ServerResponse): Promise<void> {
  const [id, token] = [newToken(6), newToken()];
  const reserved = openOrder(id, token);
  try {
    const product = await mugAt(reserved);
    const { url, expiresAt, amount } = await payments.checkouts.create({
      productId: product.id,
      successUrl: `${shopUrl}/thanks/${id}?token=${token}`,
      cancelUrl: `${shopUrl}/`,
    });
    const checkout = [amount ?? reserved, expiresAt?.getTime() ?? null, id];
    database.prepare('UPDATE orders SET amount = ?, expires_at = ? WHERE id = ?').run(...checkout);
    redirect(response, url);
  } catch (error) {
    database.prepare('DELETE FROM orders WHERE id = ?').run(id); // nobody has seen its payment page
    throw error;
  }
}

function thanks(response: ServerResponse, id: string, token: string): ServerResponse {
  const now = Date.now();
  database
    .prepare('UPDATE orders SET returned_at = coalesce(returned_at, ?) WHERE id = ? AND token = ?')
    .run(now, id, token);
  const order = database.prepare('SELECT paid_as FROM orders WHERE id = ? AND token = ?').get(id, token);
  if (!order) return page(response, '<h1>There is no such order</h1>', 404);
  if (order.paid_as !== null) return page(response, '<h1>Thank you. Paid</h1>');
  return page(
    response,
    '<meta http-equiv="refresh" content="2"><h1>Thank you. Your payment is being confirmed</h1>',
  );
}

function orders(response: ServerResponse): ServerResponse {
  const all = database.prepare('SELECT * FROM orders ORDER BY created_at DESC LIMIT 100').all();
  const { held, overdue } = review();
  const list = (lines: string[]) => `<ul>${lines.map((line) => `<li>${line}</li>`).join('')}</ul>`;
  const sum = ({ id, amount, currency }: Record<string, unknown>) =>
    safe(`${String(id)}: ${String(amount)} ${String(currency)}`);
  const choice = (payment: string, order: string) => {
    const address = `/orders?${new URLSearchParams({ key: ordersKey, payment, order })}`;
    return `<form method="post" action="${safe(address)}"><button>it is order ${safe(order)}</button></form>`;
  };
  const payments = held.map(({ payment, candidates }) => {
    return sum(payment) + candidates.map(({ id }) => choice(payment.id, id)).join('');
  });
  return page(
    response,
    `<h1>Orders</h1>${list(all.map((one) => `${sum(one)}, ${one.paid_as === null ? 'open' : `paid as ${safe(String(one.paid_as))}`}`))}
     <h2>Payments held: which order was it?</h2>${list(payments)}
     <h2>Customers back, and no payment: was a webhook lost?</h2>${list(overdue.map(sum))}`,
  );
}

/** A person says which order a held payment was for. */
function decide(response: ServerResponse, paymentId: string, orderId: string): ServerResponse {
  inTransaction(() => {
    const held = review().held.find(({ payment }) => payment.id === paymentId);
    if (held?.candidates.some(({ id }) => id === orderId)) credit(paymentId, orderId);
    creditWhatIsCertain();
  });
  return redirect(response, `/orders?key=${ordersKey}`);
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  const [path = '', query] = (request.url ?? '').split('?');
  const [, room, id = ''] = path.split('/');
  const given = (name: string) => new URLSearchParams(query).get(name) ?? '';
  const isOrders = room === 'orders' && given('key') === ordersKey;
  if (request.method === 'POST') {
    if (room === 'webhooks') {
      void inbox.nodeHandler(request, response);
      return;
    }
    if (room === 'buy') return buy(response);
    if (isOrders) return decide(response, given('payment'), given('order'));
  } else {
    if (path === '/')
      return page(
        response,
        `<h1>${mug.name}</h1><p>${mug.price} ${mug.currency}</p><form method="post" action="/buy"><button>Buy</button></form>`,
      );
    if (room === 'thanks') return thanks(response, id, given('token'));
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

/** What has come is stored and answered, and what runs may finish; both have ten seconds. The rest stays in the file. */
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

function safe(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${String(sign.charCodeAt(0))};`);
}
