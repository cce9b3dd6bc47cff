// Run: REDIS_URL=redis://… DATABASE_URL=postgres://… PAYMENTS_WEBHOOK_SECRET=… node bullmq.ts [web|worker|parked|retry]
/**
 * Several instances and Redis: the webhook stores each delivery as a BullMQ job before it responds 200, and a worker fulfils.
 * Without an argument, one process does both. `parked` lists the failed jobs; `retry` runs them again once the cause is
 * fixed.
 *
 * Redis must keep what it was given: `appendonly yes`, `appendfsync always` (with `everysec`, the default, a power cut
 * takes the last second of paid orders) and `maxmemory-policy noeviction`. It still forgets finished jobs, and a job can
 * run twice, so the order id is also a unique key in the shop's own table.
 *
 * Needs `npm install merchant-payments bullmq redis pg`.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createNodeRedisClient, Queue, UnrecoverableError, Worker } from 'bullmq';
import { type Delivery, nodeHandler, type OrderPaidEvent, verify } from 'merchant-payments/webhooks';
import { Pool } from 'pg';
import { createClient } from 'redis';

const [role = 'both'] = process.argv.slice(2);
const name = 'order-paid';
const secret = process.env.PAYMENTS_WEBHOOK_SECRET;
const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';
const pool = new Pool({ connectionString: process.env.DATABASE_URL ?? 'postgres://localhost/shop' });
pool.on('error', console.error);
await pool.query(`
  SELECT pg_advisory_xact_lock(1);
  CREATE TABLE IF NOT EXISTS fulfilments (order_id text PRIMARY KEY, amount numeric NOT NULL, currency text NOT NULL);
  CREATE TABLE IF NOT EXISTS takings (currency text PRIMARY KEY, amount numeric NOT NULL);
`);

// While Redis is down, `add` rejects at once, and the delivery is answered 500. With ioredis: enableOfflineQueue: false.
const ofQueue = createClient({ url, disableOfflineQueue: true });
const ofWorker = createClient({ url });
const queue = new Queue<Delivery>(name, {
  connection: createNodeRedisClient(ofQueue),
  defaultJobOptions: {
    attempts: 15, // the default is 1; these last nine hours, after which the job stays among the failed ones
    backoff: { type: 'exponential', delay: 1000 },
    removeOnComplete: { age: 7 * 24 * 3600 }, // the default keeps all for ever, and Redis holds them in memory
  },
});
queue.on('error', console.error);
await queue.waitUntilReady();

let worker: Worker<Delivery> | undefined;
process.once('SIGTERM', () => void shutDown());

const server = role === 'web' || role === 'both' ? listen() : undefined;
if (role === 'worker' || role === 'both') {
  const lockDuration = Number(process.env.LOCK_MS ?? 30_000); // BullMQ's default; the tests cannot wait that long
  worker = new Worker<Delivery>(name, ({ data }) => fulfil(data), {
    connection: createNodeRedisClient(ofWorker),
    concurrency: 10, // the default is 1, and a job mostly waits for the database
    lockDuration,
    stalledInterval: lockDuration,
    maxStalledCount: 100, // the default, 1, gives a job up when its worker is killed a second time
  });
  worker.on('error', console.error);
  console.log('Working');
}
if (role === 'parked')
  for (const { id, data, failedReason } of await queue.getFailed())
    console.log(id, data.rawBody, failedReason);
if (role === 'retry') await queue.retryJobs({ state: 'failed' });

if (role === 'parked' || role === 'retry') await shutDown();

function listen(): Server {
  const receive = nodeHandler({
    secret,
    // One order with another amount is another job. A job id must not hold a colon, and the key does.
    accept: (delivery) =>
      queue.add(name, delivery, { jobId: encodeURIComponent(`${delivery.key}#${delivery.digest}`) }),
  });
  const port = process.env.PORT ?? '3033';
  return createServer((request, response) => {
    if (request.url === '/webhooks') {
      void receive(request, response);
      return;
    }
    response.writeHead(404).end();
  }).listen(Number(port), () => {
    console.log(`Listening on http://localhost:${port}/webhooks`);
  });
}

/** Stores and answers the deliveries that have come, and lets running jobs finish; both have ten seconds. The rest stays in Redis. */
async function shutDown(): Promise<void> {
  setTimeout(() => process.exit(1), 25_000).unref(); // BullMQ waits for running jobs and for Redis as long as it takes
  if (server) {
    setTimeout(() => {
      server.closeAllConnections();
    }, 10_000).unref();
    await once(server.close(), 'close');
  }
  await worker?.close();
  await queue.close();
  // BullMQ leaves connections open that it was given.
  for (const client of [ofQueue, ofWorker]) if (client.isOpen) await client.close();
  await pool.end();
}

/** Reads a delivery again that the version that stored it could not read. If it still cannot, a person or the next version has to. */
function read(delivery: Delivery): OrderPaidEvent {
  if (delivery.event.type === 'order.paid') return delivery.event;
  try {
    const event = verify({ ...delivery, secret });
    if (event.type === 'order.paid') return event;
    throw new Error(`No code handles ${event.originalType}.`);
  } catch (error) {
    throw new UnrecoverableError(error instanceof Error ? error.message : String(error));
  }
}

async function fulfil(delivery: Delivery): Promise<void> {
  const { order_id, amount, currency } = read(delivery).data;
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const { rowCount } = await client.query(
      'INSERT INTO fulfilments VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
      [order_id, amount, currency],
    );
    if (rowCount === 1) {
      // In your shop: find the order that this pays for (merchant-payments/matching), and mark it as paid, here.
      await client.query(
        `INSERT INTO takings VALUES ($1, $2)
         ON CONFLICT (currency) DO UPDATE SET amount = takings.amount + excluded.amount`,
        [currency, amount],
      );
    } else {
      const same = 'SELECT FROM fulfilments WHERE order_id = $1 AND amount = $2 AND currency = $3';
      const { rowCount: known } = await client.query(same, [order_id, amount, currency]);
      if (known === 0)
        throw new UnrecoverableError(
          `${order_id} was fulfilled already, with another amount than ${amount} ${currency}.`,
        );
    }
    await client.query('COMMIT');
    client.release();
  } catch (error) {
    client.release(true); // closes the connection, and with it the transaction
    throw error;
  }
}
