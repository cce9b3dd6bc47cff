// Run: DATABASE_URL=postgres://… PAYMENTS_WEBHOOK_SECRET=… node examples/fulfilment/postgres-transaction.ts
/**
 * Fulfils each paid order exactly once with PostgreSQL alone: the order id is a unique key inside the transaction that
 * fulfils, on however many instances. A delivery that fails is answered 500 and depends on the service to retry;
 * where it may not, use `accept` with an engine (pg-boss.ts, bullmq.ts) or the inbox (sqlite-inbox.ts).
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { nodeHandler, type OrderPaidEvent } from 'merchant-payments/webhooks';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: process.env.DATABASE_URL ?? 'postgres://localhost/shop' });
pool.on('error', console.error); // an idle connection broke; the next query opens another
// The lock lets several instances start at once; a real shop creates its tables in a migration.
await pool.query(`
  SELECT pg_advisory_xact_lock(1);
  CREATE TABLE IF NOT EXISTS fulfilments (order_id text PRIMARY KEY, amount numeric NOT NULL, currency text NOT NULL);
  CREATE TABLE IF NOT EXISTS takings (currency text PRIMARY KEY, amount numeric NOT NULL);
`);

const receive = nodeHandler({
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  on: { 'order.paid': fulfil },
});

async function fulfil({ data }: OrderPaidEvent): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    // Waits while another instance is at the same order, and inserts nothing if that one commits.
    const { rowCount } = await client.query(
      'INSERT INTO fulfilments VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
      [data.order_id, data.amount, data.currency],
    );
    if (rowCount === 1) {
      // In your shop: find the order that this pays for (merchant-payments/matching), and mark it as paid, here.
      await client.query(
        `INSERT INTO takings VALUES ($1, $2)
         ON CONFLICT (currency) DO UPDATE SET amount = takings.amount + excluded.amount`,
        [data.currency, data.amount],
      );
    } else {
      const same = 'SELECT FROM fulfilments WHERE order_id = $1 AND amount = $2 AND currency = $3';
      const { rowCount: known } = await client.query(same, [data.order_id, data.amount, data.currency]);
      if (known === 0)
        throw new Error(`${data.order_id} was fulfilled already, with another amount than ${data.amount}.`);
    }
    await client.query('COMMIT');
    client.release();
  } catch (error) {
    client.release(true); // closes the connection, and with it the transaction
    throw error;
  }
}

const server = createServer((request, response) => {
  if (request.url === '/webhooks') return void receive(request, response);
  response.writeHead(404).end();
});
const port = Number(process.env.PORT ?? 3031);
server.listen(port, () => console.log(`Listening on http://localhost:${port}/webhooks`));

/** What has come is fulfilled and answered, for ten seconds at most. */
process.once('SIGTERM', async () => {
  setTimeout(() => server.closeAllConnections(), 10_000).unref();
  await once(server.close(), 'close');
  await pool.end();
});
