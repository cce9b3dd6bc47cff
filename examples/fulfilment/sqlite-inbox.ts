// Run: npx merchant-payments exec --port 4380 --webhook-url http://127.0.0.1:3030/webhooks -- node sqlite-inbox.ts
/**
 * A whole shop for one server in one file: the product, the redirect to the payment page, the webhook, the customer's
 * page and the orders. Everything is in shop.sqlite, and `kill -9` at any time loses no payment that was answered 200.
 *
 * Needs Node 22.18 or later. In an empty folder, put this file, and install the package:
 *
 *     npm init -y && npm pkg set type=module && npm install merchant-payments
 *
 * Run it with the line above, buy at http://127.0.0.1:3030, and pay with a test card.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { PaymentsClient } from 'merchant-payments';
import { openInbox } from 'merchant-payments/inbox';

const port = Number(process.env.PORT ?? 3030);
const shopUrl = process.env.SHOP_URL ?? `http://127.0.0.1:${port}`;
const ordersKey = process.env.ORDERS_KEY ?? newToken(); // opens /orders; in a real shop that page is behind a login
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
    id TEXT NOT NULL, amount TEXT NOT NULL, currency TEXT NOT NULL, received_at INTEGER NOT NULL, order_id TEXT
  );
  CREATE INDEX IF NOT EXISTS payments_held ON payments (amount, currency) WHERE order_id IS NULL;
  -- Payments that belong to no order yet, and the unpaid orders that each may be for. A webhook may be late: an order
  -- counts for a week after its checkout expired, but is credited by hand only.
  CREATE TEMP VIEW held AS SELECT * FROM payments WHERE order_id IS NULL;
  CREATE TEMP VIEW candidates AS
    SELECT held.id AS payment, amount, currency, orders.id AS order_id,
      coalesce(expires_at + 10 * 60000 >= received_at, TRUE) AS in_time, returned_at IS NOT NULL AS returned
    FROM held JOIN orders USING (amount, currency)
    WHERE paid_as IS NULL AND created_at <= received_at
      AND coalesce(expires_at, created_at) + 7 * 86400000 >= received_at;
  -- The event names an amount and no order: it was the only order of that amount, or one whose customer came back.
  -- Where more customers came back than payments came, one of them may not have paid.
  CREATE TEMP VIEW certain AS
    SELECT payment, coalesce(max(CASE WHEN in_time AND returned THEN order_id END), max(order_id)) AS order_id
    FROM candidates GROUP BY payment
    HAVING count(*) = 1 AND in_time OR total(in_time AND returned) BETWEEN 1 AND
      (SELECT count(*) FROM held WHERE amount = candidates.amount AND currency = candidates.currency);
`);

const inbox = openInbox({
  database,
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  leaseMs: 10_000, // after a crash, what was being worked on is taken up that much later
  on: {
    'order.paid': ({ data }, { receivedAt, commit }) =>
      commit(() => {
        const payment = [data.order_id, data.amount, data.currency, Date.parse(receivedAt)];
        database.prepare('INSERT INTO payments VALUES (?, ?, ?, ?, NULL)').run(...payment);
        creditWhatIsCertain();
      }),
  },
});

/** Each order that is paid may make another payment certain. Never guess: what stays is held for a person. */
function creditWhatIsCertain(): void {
  const next = database.prepare('SELECT payment, order_id FROM certain LIMIT 1');
  for (let row = next.get(); row; row = next.get()) credit(String(row.payment), String(row.order_id));
}

/** Fulfilling belongs here too: whatever is written in this transaction happens once. */
function credit(payment: string, order: string): void {
  database.prepare('UPDATE orders SET paid_as = ? WHERE id = ?').run(payment, order);
  database.prepare('UPDATE payments SET order_id = ? WHERE id = ?').run(order, payment);
}

function inTransaction(write: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    write();
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

async function theMug() {
  for await (const product of payments.products.list({ status: 'ACTIVE' }))
    if (product.metadata.sku === 'mug') return product;
  return payments.products.create({ name: 'Handmade mug', price: '19.90', metadata: { sku: 'mug' } });
}
const mug = await theMug();

async function buy(response: ServerResponse): Promise<void> {
  const [id, token] = [newToken(6), newToken()];
  const { url, expiresAt } = await payments.checkouts.create({
    productId: mug.id,
    successUrl: `${shopUrl}/thanks/${id}?token=${token}`, // nobody else can open it: whoever does has been at the payment page
    cancelUrl: `${shopUrl}/`,
  });
  const order = [id, token, mug.price, mug.currency, Date.now(), expiresAt?.getTime() ?? null];
  database.prepare('INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, NULL, NULL)').run(...order);
  redirect(response, url);
}

function thanks(response: ServerResponse, id: string, token: string): void {
  inTransaction(() => {
    const returned = database.prepare(
      'UPDATE orders SET returned_at = coalesce(returned_at, ?) WHERE id = ? AND token = ?',
    );
    returned.run(Date.now(), id, token);
    creditWhatIsCertain();
  });
  const order = database.prepare('SELECT paid_as FROM orders WHERE id = ? AND token = ?').get(id, token);
  if (!order) page(response, '<h1>There is no such order</h1>', 404);
  else if (order.paid_as !== null) page(response, '<h1>Thank you. Paid</h1>');
  else
    page(
      response,
      '<meta http-equiv="refresh" content="2"><h1>Thank you. Your payment is being confirmed</h1>',
    );
}

function orders(response: ServerResponse): void {
  const all = database.prepare('SELECT * FROM orders ORDER BY created_at DESC LIMIT 100').all();
  const held = database.prepare('SELECT * FROM held ORDER BY received_at').all();
  const candidates = database.prepare('SELECT order_id, returned FROM candidates WHERE payment = ?');
  const choices = (payment: string) =>
    candidates
      .all(payment)
      .map(({ order_id, returned }) => {
        const address = `/orders?${new URLSearchParams({ key: ordersKey, payment, order: String(order_id) })}`;
        const label = `it is order ${order_id}${returned ? ', whose customer came back' : ''}`;
        return `<form method="post" action="${safe(address)}"><button>${safe(label)}</button></form>`;
      })
      .join('');
  page(
    response,
    `<h1>Orders</h1><ul>${all.map((one) => `<li>${safe(`${one.id}: ${one.amount} ${one.currency}, ${one.paid_as === null ? 'open' : `paid as ${one.paid_as}`}`)}</li>`).join('')}</ul>
     <h2>Payments held: which order was it?</h2>
     <ul>${held.map((one) => `<li>${safe(`${one.id}: ${one.amount} ${one.currency}`)}${choices(String(one.id))}</li>`).join('')}</ul>`,
  );
}

/** A person says which order a held payment was for. */
function decide(response: ServerResponse, payment: string, order: string): void {
  inTransaction(() => {
    const possible = database.prepare('SELECT 1 FROM candidates WHERE payment = ? AND order_id = ?');
    if (possible.get(payment, order)) credit(payment, order);
    creditWhatIsCertain();
  });
  redirect(response, `/orders?key=${ordersKey}`);
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', shopUrl);
  const [, room = '', id = ''] = pathname.split('/');
  const given = (name: string) => searchParams.get(name) ?? '';
  const isOrders = room === 'orders' && given('key') === ordersKey;
  if (request.method === 'POST') {
    if (room === 'webhooks') return inbox.nodeHandler(request, response);
    if (room === 'buy') return buy(response);
    if (isOrders) return decide(response, given('payment'), given('order'));
  } else {
    if (room === '')
      return page(
        response,
        `<h1>${mug.name}</h1><p>${mug.price} ${mug.currency}</p><form method="post" action="/buy"><button>Buy</button></form>`,
      );
    if (room === 'thanks') return thanks(response, id, given('token'));
    if (isOrders) return orders(response);
  }
  page(response, '<h1>There is nothing here</h1>', 404);
}

createServer((request, response) => {
  respond(request, response).catch((error) => {
    console.error(error);
    page(response, '<h1>Please try again in a minute</h1>', 502);
  });
}).listen(port, () => console.log(`Shop    ${shopUrl}\nOrders  ${shopUrl}/orders?key=${ordersKey}`));

function page(response: ServerResponse, body: string, status = 200): void {
  const style = 'body { max-width: 40rem; margin: 3rem auto; padding: 0 1rem; font: 1.1rem/1.5 system-ui }';
  // The address of an order's page holds its token, which no other site may see.
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  };
  response.writeHead(status, headers).end(`<!doctype html><title>Shop</title><style>${style}</style>${body}`);
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { location }).end();
}

function newToken(bytes = 24): string {
  return randomBytes(bytes).toString('base64url');
}

function safe(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
