// Run: DATABASE_URL=postgres://… PAYMENTS_WEBHOOK_SECRET=… node pg-boss.ts [web|worker|parked|retry]
/**
 * Several instances and PostgreSQL: the webhook stores each delivery as a pg-boss job before it responds 200, and a worker
 * fulfils in one transaction with the completion of the job. Without an argument, one process does both. `parked` lists
 * what could not be read or fulfilled; `retry` runs it again once the cause is fixed.
 *
 * Needs Node 22.18 or later, and `npm install merchant-payments pg pg-boss@12`: without the version, npm under Node 20
 * installs an old pg-boss, on which this fails.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type Delivery, nodeHandler, verify } from 'merchant-payments/webhooks';
import { Pool } from 'pg';
import { type Job, PgBoss } from 'pg-boss';

const [role = 'both'] = process.argv.slice(2);
const [queue, parked] = ['order.paid', 'order.paid.parked'];
const secret = process.env.PAYMENTS_WEBHOOK_SECRET;
const connectionString = process.env.DATABASE_URL ?? 'postgres://localhost/shop';
const pool = new Pool({ connectionString });
pool.on('error', console.error);
await pool.query(`
  SELECT pg_advisory_xact_lock(1);
  CREATE TABLE IF NOT EXISTS fulfilments (order_id text PRIMARY KEY, amount numeric NOT NULL, currency text NOT NULL);
  CREATE TABLE IF NOT EXISTS takings (currency text PRIMARY KEY, amount numeric NOT NULL);
`);

// How soon a killed worker is noticed. pg-boss looks every minute; the tests cannot wait that long.
const noticeSeconds = Number(process.env.NOTICE_SECONDS ?? 60);
const every = { superviseIntervalSeconds: noticeSeconds, monitorIntervalSeconds: noticeSeconds };
const boss = new PgBoss({ connectionString, ...every });
boss.on('error', console.error);
await boss.start();
const retentionSeconds = 365 * 24 * 3600; // after 14 days, pg-boss would delete paid orders that nobody fetched
await boss.createQueue(parked, { retentionSeconds });
await boss.createQueue(queue, {
  policy: 'exclusive', // one job waiting or running per singletonKey; under the default policy the key does nothing
  heartbeatSeconds: Math.max(10, noticeSeconds), // else the job of a killed worker is taken up after 15 minutes
  retryLimit: 20, // a killed worker costs a retry as well, and the default is 2
  retryBackoff: true, // so that 20 retries outlast a database that is down
  retryDelayMax: 3600,
  retentionSeconds,
  deadLetter: parked,
});

const server = role === 'web' || role === 'both' ? listen() : undefined;
process.once('SIGTERM', () => void shutDown());
if (role === 'worker' || role === 'both') {
  // A worker takes one job a poll. At the default, one poll in two seconds, ten of them would fulfil five a second.
  const options = { localConcurrency: 10, pollingIntervalSeconds: 0.5 };
  await boss.work<Delivery>(queue, options, async ([job]) => {
    if (job) await fulfil(job);
  });
  console.log('Working');
}
if (role === 'parked')
  for (const { data, sourceOutput } of await boss.findJobs<Delivery>(parked))
    console.log(data.key, data.receivedAt, data.rawBody, sourceOutput ?? data.event);
if (role === 'retry') console.log('To be tried again:', await boss.redrive(parked, { destination: queue }));

if (role === 'parked' || role === 'retry') await shutDown();

function listen(): Server {
  const receive = nodeHandler({
    secret,
    // One order with another amount is another job. What this version cannot read waits for a person, or the next version.
    accept: (delivery) =>
      boss.send(delivery.event.type === 'order.paid' ? queue : parked, delivery, {
        singletonKey: `${delivery.key}#${delivery.digest}`,
      }),
  });
  const port = process.env.PORT ?? '3032';
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

/** What has come is stored and answered, and what runs may finish; both have ten seconds. The rest stays in the queue. */
async function shutDown(): Promise<void> {
  if (server) {
    setTimeout(() => {
      server.closeAllConnections();
    }, 10_000).unref();
    await once(server.close(), 'close');
  }
  await boss.stop({ timeout: 10_000 });
  await pool.end();
}

async function fulfil({ id, data }: Job<Delivery>): Promise<void> {
  // What the version that stored it could not read is read again.
  const event = data.event.type === 'order.paid' ? data.event : verify({ ...data, secret });
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
        throw new Error(`${order_id} was fulfilled already, with another amount than ${amount} ${currency}.`);
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
