// Run: DATABASE_URL=postgres://… PAYMENTS_WEBHOOK_SECRET=… node pg-boss.ts
/**
 * An outbox: the e-mail to the customer is enqueued inside `commit`, with the client of its transaction. So there is one job for each
 * paid order, whatever dies when, and none for an order whose transaction failed. Sending itself is at-least-once: pass the job's id
 * to your e-mail service as idempotency key, if it takes one.
 *
 * Needs Node 22.18 or later, and `npm install merchant-payments pg pg-boss@12`.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { openInbox } from 'merchant-payments/inbox';
import { Pool } from 'pg';
import { PgBoss } from 'pg-boss';

const connectionString = process.env.DATABASE_URL ?? 'postgres://localhost/shop';
const pool = new Pool({ connectionString });
pool.on('error', console.error);
await pool.query(`
  SELECT pg_advisory_xact_lock(1);
  CREATE TABLE IF NOT EXISTS paid (order_id text PRIMARY KEY, amount numeric NOT NULL, currency text NOT NULL);
`);
const boss = new PgBoss({ connectionString });
boss.on('error', console.error);
await boss.start();
await boss.createQueue('email', { retryLimit: 20, retryBackoff: true, retryDelayMax: 3600 });
await boss.work<{ orderId: string }>('email', async ([job]) => {
  if (job) console.log(`Send the e-mail for ${job.data.orderId}, idempotency key ${job.id}`);
});

const inbox = openInbox({
  pool,
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  leaseMs: Number(process.env.LOCK_MS ?? 60_000), // the tests cannot wait that long for a killed process
  on: {
    'order.paid': ({ data }, { commit }) =>
      commit(async (tx) => {
        await tx.query('INSERT INTO paid VALUES ($1, $2, $3)', [data.order_id, data.amount, data.currency]);
        const db = { executeSql: (sql: string, values?: unknown[]) => tx.query(sql, values) };
        await boss.send('email', { orderId: data.order_id }, { db });
      }),
  },
});
const port = process.env.PORT ?? '3037';
const server = createServer(inbox.nodeHandler).listen(Number(port), () => {
  console.log(`Listening on http://localhost:${port}/webhooks`);
});

process.once('SIGTERM', () => void shutDown());

async function shutDown(): Promise<void> {
  setTimeout(() => {
    server.closeAllConnections();
  }, 10_000).unref();
  await once(server.close(), 'close');
  await inbox.close();
  await boss.stop({ timeout: 10_000 });
  await pool.end();
}
