// Run: DATABASE_URL=postgres://… PAYMENTS_WEBHOOK_SECRET=… node pg-boss.ts [web|worker|parked|retry]
/**
 * Several instances and PostgreSQL: the webhook stores each delivery as a pg-boss job before it responds 200, and a worker
 * fulfils in one transaction with the completion of the job. Without an argument, one process does both. `parked` lists
 * what could not be read or fulfilled; `retry` runs it again once the cause is fixed.
 *
 * Needs Node 22.18 or later, and `npm install merchant-payments pg-boss@12`: without the version, npm under Node 20
 * installs an old pg-boss, on which this fails.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type Delivery, nodeHandler, verify } from 'merchant-payments/webhooks';
import { PgBoss } from 'pg-boss';

const [role = 'both'] = process.argv.slice(2);
const [queue, parked] = ['order.paid', 'order.paid.parked'];
const secret = process.env.PAYMENTS_WEBHOOK_SECRET;
const connectionString = process.env.DATABASE_URL ?? 'postgres://localhost/shop';

// The time until a killed worker is noticed. pg-boss looks every minute; the tests cannot wait that long.
const noticeSeconds = Number(process.env.NOTICE_SECONDS ?? 60);
const every = { superviseIntervalSeconds: noticeSeconds, monitorIntervalSeconds: noticeSeconds };
const boss = new PgBoss({ connectionString, max: 20, ...every }); // a job holds a connection while it is fulfilled
boss.on('error', console.error);
await boss.start();
await boss.getDb().executeSql(`
  SELECT pg_advisory_xact_lock(1);
  CREATE TABLE IF NOT EXISTS fulfilments (order_id text PRIMARY KEY, amount numeric NOT NULL, currency text NOT NULL);
  CREATE TABLE IF NOT EXISTS takings (currency text PRIMARY KEY, amount numeric NOT NULL);
`);
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
  const options = { localConcurrency: 10, pollingIntervalSeconds: 0.5, transactional: true } as const;
  await boss.work<Delivery, unknown, typeof options>(queue, options, async ([job], tx) => {
    if (job) await fulfil(job.data, tx);
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

/** Stores and answers the deliveries that have come, and lets running jobs finish; both have ten seconds. The rest stays in the queue. */
async function shutDown(): Promise<void> {
  if (server) {
    setTimeout(() => {
      server.closeAllConnections();
    }, 10_000).unref();
    await once(server.close(), 'close');
  }
  await boss.stop({ timeout: 10_000 });
}

/** Fulfils in the transaction that completes the job. */
async function fulfil(delivery: Delivery, tx: ReturnType<PgBoss['getDb']>): Promise<void> {
  // The event is read again if the version that stored the delivery could not read it.
  const event = delivery.event.type === 'order.paid' ? delivery.event : verify({ ...delivery, secret });
  if (event.type !== 'order.paid') throw new Error(`No code handles ${event.originalType}.`);
  const { order_id, amount, currency } = event.data;
  const { rows: inserted } = await tx.executeSql(
    'INSERT INTO fulfilments VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING order_id',
    [order_id, amount, currency],
  );
  if (inserted.length === 1) {
    // In your shop: find the order that this pays for (merchant-payments/matching), and mark it as paid, here.
    await tx.executeSql(
      `INSERT INTO takings VALUES ($1, $2)
       ON CONFLICT (currency) DO UPDATE SET amount = takings.amount + excluded.amount`,
      [currency, amount],
    );
    return;
  }
  const same = 'SELECT FROM fulfilments WHERE order_id = $1 AND amount = $2 AND currency = $3';
  const { rows: known } = await tx.executeSql(same, [order_id, amount, currency]);
  if (known.length === 0)
    throw new Error(`${order_id} was fulfilled already, with another amount than ${amount} ${currency}.`);
}
