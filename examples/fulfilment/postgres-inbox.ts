// Run: DATABASE_URL=postgres://… npx merchant-payments exec --webhook-url http://127.0.0.1:3034/webhooks -- node postgres-inbox.ts
/**
 * A shop on Express and PostgreSQL, for any number of instances: `npm install express pg merchant-payments`. A payment that
 * got 200 is credited once, whatever dies when; one that fits several orders waits at /held for a person.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import express from 'express';
import { PaymentsClient } from 'merchant-payments';
import { openInbox } from 'merchant-payments/inbox';
import {
  freeAmount,
  matchPayments,
  type UnmatchedPayment,
  type UnpaidOrder,
} from 'merchant-payments/matching';
import { Pool, type PoolClient } from 'pg';

const port = process.env.PORT ?? '3034';
const shopUrl = process.env.SHOP_URL ?? `http://127.0.0.1:${port}`;
const staffKey = process.env.STAFF_KEY || randomBytes(16).toString('hex'); // in a real shop, a login
const payments = new PaymentsClient(); // reads PAYMENTS_API_KEY and PAYMENTS_BASE_URL
const pool = new Pool({ connectionString: process.env.DATABASE_URL });
const lock = "SELECT pg_advisory_xact_lock(hashtext('orders'))"; // one instance decides at a time

await inTransaction((tx) =>
  tx.query(`
    CREATE TABLE IF NOT EXISTS payments (id text PRIMARY KEY, amount numeric NOT NULL, currency text NOT NULL,
      received_at timestamptz NOT NULL);
    CREATE TABLE IF NOT EXISTS orders (id text PRIMARY KEY, amount numeric NOT NULL, currency text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(), expires_at timestamptz, paid_as text UNIQUE REFERENCES payments)`),
);

const inbox = openInbox({
  pool,
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  on: {
    'order.paid': ({ data }, { receivedAt, commit }) =>
      commit(async (tx) => {
        const payment = [data.order_id, data.amount, data.currency, receivedAt];
        await tx.query(lock);
        const insert = 'INSERT INTO payments VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING';
        const { rowCount } = await tx.query(insert, payment);
        if (rowCount === 0) throw new Error(conflict(data.order_id));
        for (const { order, payment } of (await review(tx)).matched) await credit(tx, payment.id, order.id);
      }),
  },
});

/** Why the retry of a delivery fails that was parked for its other amount: a payment has one row. */
const conflict = (id: string) =>
  `${id} came with another amount or currency before. Change its row in payments by hand, or discard this delivery.`;

/** Which order each payment is for, as far as it is certain. Orders are a minute older here, as no two clocks agree. */
async function review(db: Pool | PoolClient) {
  const orders = await db.query<UnpaidOrder & { id: string }>(
    `SELECT id, amount, currency, created_at - interval '1 minute' AS "createdAt", expires_at AS "expiresAt"
     FROM orders WHERE paid_as IS NULL`,
  );
  const unmatched = await db.query<UnmatchedPayment & { id: string }>(
    `SELECT id, amount, currency, received_at AS "receivedAt" FROM payments
     WHERE id NOT IN (SELECT paid_as FROM orders WHERE paid_as IS NOT NULL)`,
  );
  return matchPayments({ orders: orders.rows, payments: unmatched.rows });
}

/** Fulfil here: what this transaction writes happens once. */
async function credit(tx: PoolClient, payment: string, order: string): Promise<void> {
  await tx.query('UPDATE orders SET paid_as = $1 WHERE id = $2', [payment, order]);
}

async function inTransaction<Result>(work: (tx: PoolClient) => Promise<Result>): Promise<Result> {
  const tx = await pool.connect();
  try {
    await tx.query(`BEGIN; ${lock}`);
    const result = await work(tx);
    await tx.query('COMMIT');
    tx.release();
    return result;
  } catch (error) {
    tx.release(true); // closes the connection, and with it the transaction
    throw error;
  }
}

/** Made once at each price, and used again. */
async function mugAt(price: string) {
  for await (const product of payments.products.list({ status: 'ACTIVE', size: 100 }))
    if (product.metadata.sku === 'mug' && product.price === price) return product;
  return payments.products.create({ name: 'Handmade mug', price, metadata: { sku: 'mug' } });
}

const app = express();
app.post('/webhooks', inbox.nodeHandler); // before any body parser
app.get(
  '/',
  (_, response) => void response.send('<form method="post" action="/buy"><button>Buy a mug</button></form>'),
);

app.post('/buy', async (_, response) => {
  const id = randomBytes(12).toString('base64url');
  // An amount of its own tells its payment apart. That of a paid order is kept for a day: an open page may pay again.
  const price = await inTransaction(async (tx) => {
    const { rows } = await tx.query<{ amount: string; paid_as: string | null }>(
      `SELECT orders.amount, paid_as FROM orders LEFT JOIN payments ON payments.id = paid_as WHERE
         CASE WHEN paid_as IS NULL THEN coalesce(expires_at, created_at) > now() - interval '7 days'
         ELSE received_at > now() - interval '1 day' OR expires_at > now() END`,
    );
    const free = (orders: typeof rows) =>
      freeAmount({ price: '19.90', taken: orders.map((row) => row.amount), most: '0.50' });
    // None left: one of an unpaid order, so that a payment is held, and never one of a paid order.
    const amount = free(rows) ?? free(rows.filter((row) => row.paid_as !== null));
    if (amount === undefined) throw new Error('Every amount near 19.90 was paid today. Sell it later.');
    // It has expired until there is a checkout.
    await tx.query("INSERT INTO orders VALUES ($1, $2, 'USD', now(), now())", [id, amount]);
    return amount;
  });
  try {
    const product = await mugAt(price);
    const page = { successUrl: `${shopUrl}/thanks/${id}`, cancelUrl: shopUrl };
    const { url, expiresAt } = await payments.checkouts.create({ productId: product.id, ...page });
    await pool.query('UPDATE orders SET expires_at = $2 WHERE id = $1', [id, expiresAt ?? null]);
    response.redirect(303, url);
  } catch (error) {
    await pool.query('DELETE FROM orders WHERE id = $1', [id]); // nobody has seen its payment page
    throw error;
  }
});

app.get('/thanks/:id', async (request, response) => {
  const find = 'SELECT paid_as FROM orders WHERE id = $1';
  const { rows } = await pool.query<{ paid_as: string | null }>(find, [request.params.id]);
  const [order] = rows;
  if (!order) return void response.status(404).send('There is no such order.');
  response.send(
    order.paid_as !== null
      ? 'Thank you. Paid'
      : '<meta http-equiv="refresh" content="2">Your payment is being confirmed',
  );
});

app.use('/held', (request, response, next) => {
  if (request.query.key === staffKey) next();
  else response.status(404).end();
});
app.get('/held', async (_, response) => {
  const { held } = await review(pool);
  response.json({ held, parked: await inbox.list({ state: 'parked' }), refused: await inbox.refused() });
});
app.post('/held/:payment/:order', async ({ params: { payment, order } }, response) => {
  const isPossible = await inTransaction(async (tx) => {
    const entry = (await review(tx)).held.find((each) => each.payment.id === payment);
    if (!entry?.candidates.some(({ id }) => id === order)) return false;
    await credit(tx, payment, order);
    return true;
  });
  response.status(isPossible ? 204 : 409).end();
});

const server = app.listen(Number(port), () => {
  console.log(`Shop  ${shopUrl}\nHeld  ${shopUrl}/held?key=${staffKey}`);
});
process.once('SIGTERM', () => void shutDown());

/** What has come is stored and answered, and what runs may finish; both have ten seconds. The rest stays in the database. */
async function shutDown(): Promise<void> {
  setTimeout(() => {
    server.closeAllConnections();
  }, 10_000).unref();
  await once(server.close(), 'close');
  await inbox.close();
  await pool.end();
}
