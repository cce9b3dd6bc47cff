// One of several instances of a shop: fulfils half of its orders with commit() and half with done(), and leaves on SIGTERM.
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { openInbox } from 'merchant-payments/inbox';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 6 });

interface Client {
  query(text: string, values?: string[]): PromiseLike<unknown>;
}

async function fulfil(client: Client, id: string, amount: string): Promise<void> {
  await client.query('INSERT INTO fulfilments VALUES ($1, $2)', [id, amount]);
  await client.query('UPDATE takings SET amount = amount + $1', [amount]);
}

const inbox = openInbox({
  pool,
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  leaseMs: 3000,
  retries: Array.from({ length: 50 }, () => '300ms' as const),
  graceMs: 2000,
  concurrency: 3,
  onError: () => undefined,
  on: {
    'order.paid': async ({ data: { order_id, amount } }, { commit, done }) => {
      await wait(Math.random() * 20); // the warehouse is asked
      if (Math.random() < 0.5) return commit((tx) => fulfil(tx, order_id, amount));
      const client = await pool.connect();
      const broken = () => undefined;
      client.on('error', broken);
      let failure: Error | undefined;
      let isMarked = false;
      try {
        await client.query('BEGIN');
        await fulfil(client, order_id, amount);
        isMarked = true;
        await done((sql, values) => client.query(sql, values));
        await client.query('COMMIT');
      } catch (error) {
        failure = new Error('rolled back', { cause: error });
      }
      client.off('error', broken);
      client.release(failure);
      // Half of the shops forget to throw after done(): the row decides. Without done(), returning is success.
      if (failure && (!isMarked || Math.random() < 0.5)) throw failure;
    },
  },
});

const server = createServer(inbox.nodeHandler).listen(Number(process.env.PORT), '127.0.0.1', () =>
  console.log('Listening'),
);
process.once('SIGTERM', async () => {
  server.close();
  await inbox.close();
  await pool.end();
  process.exit(0);
});
