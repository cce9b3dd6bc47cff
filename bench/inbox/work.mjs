// One instance of a shop: fulfils what is pending, four at a time, until SIGTERM.
//   node inbox/work.mjs inbox|pg-boss|graphile-worker postgres://…
import { fileURLToPath } from 'node:url';
import { run } from 'graphile-worker';
import pg from 'pg';
import { PgBoss } from 'pg-boss';

export const { openInbox } = await import('../../dist/inbox.js');
export const secret = 'whsec_of_the_bench';

export function delivery(order_id) {
  const data = { order_id, amount: '19.90', currency: 'USD' };
  return {
    key: `order.paid:${order_id}`,
    event: { type: 'order.paid', data },
    rawBody: JSON.stringify({ type: 'order.paid', data }),
    headers: { 'x-service-signature': 'f'.repeat(64), 'x-service-timestamp': '1767225600' },
    receivedAt: '2026-01-01T00:00:00.000Z',
  };
}

const insertPaid = (client, data) => client.query('INSERT INTO paid VALUES ($1)', [data.order_id]);

const engines = {
  async inbox(pool) {
    openInbox({
      pool,
      secret,
      on: { 'order.paid': ({ data }, { commit }) => commit((tx) => insertPaid(tx, data)) },
    });
  },
  /** Runs the queue of examples/fulfilment/pg-boss.ts. It fetches a hundred jobs, because it polls. */
  async 'pg-boss'(pool, connectionString) {
    const boss = new PgBoss({ connectionString, supervise: false, schedule: false });
    boss.on('error', () => {});
    await boss.start();
    const options = { localConcurrency: 4, batchSize: 250, pollingIntervalSeconds: 0.5 };
    await boss.work('order.paid', options, async (jobs) => {
      for (const { id, data } of jobs) {
        const client = await pool.connect();
        await client.query('BEGIN');
        await insertPaid(client, data.event.data);
        const db = { executeSql: (text, values) => client.query(text, values) };
        await boss.complete('order.paid', id, undefined, { db });
        await client.query('COMMIT');
        client.release();
      }
    });
  },
  async 'graphile-worker'(pool) {
    const fulfil = (payload, { withPgClient }) =>
      withPgClient((client) => insertPaid(client, payload.event.data));
    for (const event of ['error', 'connect']) pool.on(event, (client) => client.on?.('error', () => {})); // it asks for listeners
    await run({ pgPool: pool, concurrency: 4, noHandleSignals: true, taskList: { 'order.paid': fulfil } });
  },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , name, connectionString] = process.argv;
  const pool = new pg.Pool({ connectionString, max: 10 });
  process.on('SIGTERM', () => process.exit(0));
  await engines[name](pool, connectionString);
}
