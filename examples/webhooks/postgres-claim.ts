/**
 * Several machines, one order each: the claim is a unique key in the transaction that fulfils. Where your orders live
 * in PostgreSQL anyway, this is the strongest form: claim and fulfilment happen together or not at all.
 */
import { createServer } from 'node:http';
import { nodeHandler } from 'merchant-payments/webhooks';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(
  'CREATE TABLE IF NOT EXISTS fulfilments (order_id text PRIMARY KEY, amount numeric, currency text)',
);

const receive = nodeHandler({
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  on: {
    'order.paid': async ({ data }) => {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        // Waits for another machine that is at the same order, and inserts nothing if that one commits.
        const { rowCount } = await client.query(
          'INSERT INTO fulfilments VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
          [data.order_id, data.amount, data.currency],
        );
        // Compare amount and currency with your own order before you ship anything.
        if (rowCount === 1) console.log(`fulfil ${data.order_id}: ${data.amount} ${data.currency}`);
        await client.query('COMMIT');
      } catch (error) {
        await client.query('ROLLBACK');
        throw error;
      } finally {
        client.release();
      }
    },
  },
});

createServer((request, response) => void receive(request, response)).listen(Number(process.env.PORT ?? 3000));
