// Run: DATABASE_URL=postgres://… PAYMENTS_WEBHOOK_SECRET=… node graphile-worker.ts
/**
 * An outbox: the e-mail to the customer is enqueued inside `commit`, by graphile-worker's `add_job` in its transaction. So there is one
 * job for each paid order, whatever dies when, and none for an order whose transaction failed. Sending itself is at-least-once: pass
 * the job's id to your e-mail service as idempotency key, if it takes one.
 *
 * Needs Node 22.18 or later, and `npm install merchant-payments pg graphile-worker`.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { run } from 'graphile-worker';
import { openInbox } from 'merchant-payments/inbox';
import { Pool } from 'pg';

const connectionString = process.env.DATABASE_URL ?? 'postgres://localhost/shop';
const pool = new Pool({ connectionString });
pool.on('error', console.error);
await pool.query(`
  SELECT pg_advisory_xact_lock(1);
  CREATE TABLE IF NOT EXISTS paid (order_id text PRIMARY KEY, amount numeric NOT NULL, currency text NOT NULL);
`);
const runner = await run({
  connectionString,
  noHandleSignals: true,
  taskList: {
    email: (payload, { job }) => {
      const { orderId } = payload as { orderId: string };
      console.log(`Send the e-mail for ${orderId}, idempotency key ${job.id}`);
    },
  },
});

const inbox = openInbox({
  pool,
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  leaseMs: Number(process.env.LOCK_MS ?? 60_000), // the tests cannot wait that long for a killed process
  on: {
    'order.paid': ({ data }, { commit }) =>
      commit(async (tx) => {
        await tx.query('INSERT INTO paid VALUES ($1, $2, $3)', [data.order_id, data.amount, data.currency]);
        const payload = JSON.stringify({ orderId: data.order_id });
        await tx.query("SELECT graphile_worker.add_job('email', $1::json)", [payload]);
      }),
  },
});
const port = process.env.PORT ?? '3035';
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
  await runner.stop();
  await pool.end();
}
