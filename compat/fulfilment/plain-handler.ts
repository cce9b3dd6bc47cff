// The way that must not pass: `on`, a table without a unique key, and the memory of one process against duplicates.
// With `after`, it responds before it fulfils, as a shop does that was told to respond fast.
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { nodeHandler, type OrderPaidEvent } from 'merchant-payments/webhooks';
import { Pool } from 'pg';

const after = process.argv[2] === 'after';
const pool = new Pool({ connectionString: process.env.DATABASE_URL });
await pool.query(`
  SELECT pg_advisory_xact_lock(1);
  CREATE TABLE IF NOT EXISTS fulfilments (order_id text, amount numeric, currency text);
  CREATE TABLE IF NOT EXISTS takings (currency text PRIMARY KEY, amount numeric NOT NULL);
`);

const receive = nodeHandler({
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  on: {
    'order.paid': (event) => {
      const fulfilled = fulfil(event);
      return after ? undefined : fulfilled;
    },
  },
});

async function fulfil({ data }: OrderPaidEvent): Promise<void> {
  await wait(20); // the warehouse is asked
  await pool.query('INSERT INTO fulfilments VALUES ($1, $2, $3)', [
    data.order_id,
    data.amount,
    data.currency,
  ]);
  await pool.query(
    `INSERT INTO takings VALUES ($1, $2) ON CONFLICT (currency) DO UPDATE SET amount = takings.amount + excluded.amount`,
    [data.currency, data.amount],
  );
}

process.once('SIGTERM', () => process.exit(0)); // whatever is at work is gone
const port = Number(process.env.PORT);
createServer((request, response) => void receive(request, response)).listen(port, () =>
  console.log('Listening'),
);
