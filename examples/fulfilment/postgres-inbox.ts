// Run: DATABASE_URL=postgres://… npx merchant-payments exec --webhook-url http://127.0.0.1:3034/webhooks -- node postgres-inbox.ts
/**
 * A shop on Express and PostgreSQL, for any number of instances: `npm install express pg merchant-payments`. A payment that
 * got 200 is credited once, whatever dies when; one that fits several orders waits at /held for a person.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import express from 'express';
import { PaymentsClient } from 'merchant-payments';
import { openInbox, openOrderBook, type PaidOrder, PaymentsError } from 'merchant-payments/inbox';
import { Pool, type PoolClient } from 'pg';

const port = process.env.PORT ?? '3034';
const shopUrl = process.env.SHOP_URL ?? `http://127.0.0.1:${port}`;
const staffKey = process.env.STAFF_KEY || randomBytes(16).toString('hex'); // in a real shop, a login
const payments = new PaymentsClient(); // reads PAYMENTS_API_KEY and PAYMENTS_BASE_URL
const pool = new Pool({ connectionString: process.env.DATABASE_URL });
/** Gives each order an amount of its own, and says by that which one a payment is for. */
const book = openOrderBook({ pool });

await pool.query(`
  SELECT pg_advisory_xact_lock(1);
  CREATE TABLE IF NOT EXISTS orders (id text PRIMARY KEY, paid_as text);
`);

const inbox = openInbox({
  pool,
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  on: {
    'order.paid': ({ data }, { commit }) =>
      commit(async (tx) => {
        await fulfil(tx, await book.credit(tx, data));
      }),
  },
});

/** Writes in the transaction that credits the payment, so that it happens once. */
async function fulfil(tx: PoolClient, paid: PaidOrder[]): Promise<void> {
  for (const { id, paymentId } of paid)
    await tx.query('UPDATE orders SET paid_as = $1 WHERE id = $2', [paymentId, id]);
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
  const { amount } = await book.reserve({ id, price: '19.90', currency: 'USD' });
  if (amount === null) return void response.status(503).send('Many are buying right now. Try again later.');
  try {
    const product = await mugAt(amount);
    const page = { successUrl: `${shopUrl}/thanks/${id}`, cancelUrl: shopUrl };
    const checkout = await payments.checkouts.create({ productId: product.id, ...page });
    await pool.query('INSERT INTO orders VALUES ($1, NULL)', [id]);
    await book.open(id, { expiresAt: checkout.expiresAt, amount: checkout.amount });
    response.redirect(303, checkout.url);
  } catch (error) {
    await book.cancel(id); // nobody has seen its payment page
    await pool.query('DELETE FROM orders WHERE id = $1', [id]);
    throw error;
  }
});

app.get('/thanks/:id', async ({ params: { id } }, response) => {
  const find = 'SELECT paid_as FROM orders WHERE id = $1';
  const { rows } = await pool.query<{ paid_as: string | null }>(find, [id]);
  const [order] = rows;
  if (!order) return void response.status(404).send('There is no such order.');
  await book.returned(id);
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
  const [held, overdue] = [await book.held(), await book.overdue()];
  response.json({
    held,
    overdue,
    parked: await inbox.list({ state: 'parked' }),
    refused: await inbox.refused(),
  });
});
app.post('/held/:payment/:order', async ({ params: { payment, order } }, response) => {
  const tx = await pool.connect();
  let isDone = false;
  try {
    await tx.query('BEGIN');
    await fulfil(tx, await book.decide(payment, order, tx));
    await tx.query('COMMIT');
    isDone = true;
    response.status(204).end();
  } catch (error) {
    if (!(error instanceof PaymentsError)) throw error;
    response.status(409).send(error.message); // somebody else has decided meanwhile, say
  } finally {
    tx.release(!isDone); // closes the connection after an error, and with it the transaction
  }
});

const server = app.listen(Number(port), () => {
  console.log(`Shop  ${shopUrl}\nHeld  ${shopUrl}/held?key=${staffKey}`);
});
process.once('SIGTERM', () => void shutDown());

/** Stores and answers the deliveries that have come, and lets running functions finish; both have ten seconds. The rest stays in the database. */
async function shutDown(): Promise<void> {
  setTimeout(() => {
    server.closeAllConnections();
  }, 10_000).unref();
  await once(server.close(), 'close');
  await inbox.close();
  await pool.end();
}
