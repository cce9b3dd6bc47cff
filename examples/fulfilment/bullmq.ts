// Run: REDIS_URL=redis://… DATABASE_URL=postgres://… PAYMENTS_WEBHOOK_SECRET=… node examples/fulfilment/bullmq.ts [web|worker]
/**
 * Several instances and Redis: the webhook stores each delivery as a BullMQ job before it responds 200, and a worker fulfils.
 * Without an argument, one process does both.
 *
 * Redis must keep what it was given: `appendonly yes`, `appendfsync always` (with `everysec`, the default, a power cut
 * takes the last second of paid orders) and `maxmemory-policy noeviction`. It still forgets finished jobs, and a job can
 * run twice, so the order id is also a unique key in the shop's own table.
 */
import { createServer } from 'node:http';
import { createNodeRedisClient, Queue, Worker } from 'bullmq';
import { type Delivery, nodeHandler } from 'merchant-payments/webhooks';
import { Pool } from 'pg';
import { createClient } from 'redis';

const [role] = process.argv.slice(2);
const name = 'order-paid';
const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';
const pool = new Pool({ connectionString: process.env.DATABASE_URL ?? 'postgres://localhost/shop' });
pool.on('error', console.error);
await pool.query(`
  SELECT pg_advisory_xact_lock(1);
  CREATE TABLE IF NOT EXISTS fulfilments (order_id text PRIMARY KEY, amount numeric NOT NULL, currency text NOT NULL);
  CREATE TABLE IF NOT EXISTS takings (currency text PRIMARY KEY, amount numeric NOT NULL);
`);

if (role !== 'worker') {
  const queue = new Queue<Delivery>(name, {
    // While Redis is down, `add` rejects at once, and the delivery is answered 500. With ioredis: enableOfflineQueue: false.
    connection: createNodeRedisClient(createClient({ url, disableOfflineQueue: true })),
    defaultJobOptions: {
      attempts: 15, // over some nine hours; after that the job stays among the failed ones, for a person
      backoff: { type: 'exponential', delay: 1000 },
      removeOnComplete: { age: 7 * 24 * 3600 },
    },
  });
  queue.on('error', console.error);
  await queue.waitUntilReady();
  const receive = nodeHandler({
    secret: process.env.PAYMENTS_WEBHOOK_SECRET,
    // A job id must not hold a colon, and the key does.
    accept: (delivery) => queue.add(name, delivery, { jobId: encodeURIComponent(delivery.key) }),
  });
  const port = Number(process.env.PORT ?? 3033);
  createServer((request, response) => {
    if (request.url === '/webhooks') return void receive(request, response);
    response.writeHead(404).end();
  }).listen(port, () => console.log(`Listening on http://localhost:${port}/webhooks`));
}

if (role !== 'web') {
  const worker = new Worker<Delivery>(name, ({ data }) => fulfil(data), {
    connection: createNodeRedisClient(createClient({ url })),
    concurrency: 10,
    lockDuration: 5000, // renewed while the job runs; the jobs of a killed worker are taken up after that
    stalledInterval: 5000,
    maxStalledCount: 100, // the default, 1, gives a job up when its worker is killed a second time
  });
  worker.on('error', console.error);
  console.log('Working');
}

async function fulfil({ event }: Delivery): Promise<void> {
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
    await client.query('COMMIT');
    client.release();
  } catch (error) {
    client.release(true); // closes the connection, and with it the transaction
    throw error;
  }
}
