// Run: DATABASE_URL=postgres://… PAYMENTS_WEBHOOK_SECRET=… node examples/fulfilment/pg-boss.ts [web|worker]
/**
 * Several instances and PostgreSQL: the webhook stores each delivery as a pg-boss job before it responds 200, and a worker
 * fulfils in one transaction with the completion of the job. Without an argument, one process does both.
 */
import { createServer } from 'node:http';
import { type Delivery, nodeHandler } from 'merchant-payments/webhooks';
import { Pool } from 'pg';
import { type Job, PgBoss } from 'pg-boss';

const [role] = process.argv.slice(2);
const [queue, parked] = ['order.paid', 'order.paid.parked'];
const connectionString = process.env.DATABASE_URL ?? 'postgres://localhost/shop';
const pool = new Pool({ connectionString });
pool.on('error', console.error);
await pool.query(`
  SELECT pg_advisory_xact_lock(1);
  CREATE TABLE IF NOT EXISTS fulfilments (order_id text PRIMARY KEY, amount numeric NOT NULL, currency text NOT NULL);
  CREATE TABLE IF NOT EXISTS takings (currency text PRIMARY KEY, amount numeric NOT NULL);
`);

const boss = new PgBoss({ connectionString, superviseIntervalSeconds: 5, monitorIntervalSeconds: 5 });
boss.on('error', console.error);
await boss.start();
// pg-boss deletes what nobody fetched after 14 days, unless told otherwise.
const retentionSeconds = 365 * 24 * 3600;
await boss.createQueue(parked, { retentionSeconds });
await boss.createQueue(queue, {
  policy: 'exclusive', // one job waiting or running per singletonKey; under the default policy the key does nothing
  heartbeatSeconds: 10, // the job of a killed worker is taken up after 10 seconds, not after 15 minutes
  retryLimit: 20, // a killed worker costs a retry as well, and the default is 2
  retryBackoff: true,
  retryDelayMax: 3600,
  retentionSeconds,
  deadLetter: parked, // look there for what failed 20 times
});

if (role !== 'worker') {
  const receive = nodeHandler({
    secret: process.env.PAYMENTS_WEBHOOK_SECRET,
    accept: (delivery) => boss.send(queue, delivery, { singletonKey: delivery.key }),
  });
  const port = Number(process.env.PORT ?? 3032);
  createServer((request, response) => {
    if (request.url === '/webhooks') return void receive(request, response);
    response.writeHead(404).end();
  }).listen(port, () => console.log(`Listening on http://localhost:${port}/webhooks`));
}

if (role !== 'web') {
  await boss.work<Delivery>(queue, { localConcurrency: 10, pollingIntervalSeconds: 0.5 }, async ([job]) => {
    if (job) await fulfil(job);
  });
  console.log('Working');
}

async function fulfil({ id, data: { event } }: Job<Delivery>): Promise<void> {
  if (event.type !== 'order.paid') throw new Error(`No code handles ${event.originalType}.`);
  const { order_id, amount, currency } = event.data;
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rowCount } = await client.query(
      'INSERT INTO fulfilments VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
      [order_id, amount, currency],
    );
    if (rowCount === 1) {
      // In your shop: find the order that this pays for, compare amount and currency, and mark it as paid, here.
      await client.query(
        `INSERT INTO takings VALUES ($1, $2)
         ON CONFLICT (currency) DO UPDATE SET amount = takings.amount + excluded.amount`,
        [currency, amount],
      );
    }
    const transaction = { executeSql: (sql: string, values?: unknown[]) => client.query(sql, values) };
    await boss.complete(queue, id, undefined, { db: transaction });
    await client.query('COMMIT');
    client.release();
  } catch (error) {
    client.release(true); // closes the connection, and with it the transaction
    throw error;
  }
}
