// One of several instances of a shop, on PostgreSQL (DATABASE_URL) or SQLite (SHOP_FILE). On PostgreSQL it fulfils half of its orders
// with commit() and half with done(). It leaves on SIGTERM.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { type Inbox, openInbox } from 'merchant-payments/inbox';
import { Pool } from 'pg';

const common = {
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  leaseMs: 3000,
  retries: Array.from({ length: 50 }, () => '300ms' as const),
  graceMs: 2000,
  concurrency: 3,
  onError: () => undefined,
};
const [inbox, close] = process.env.SHOP_FILE ? await onSqlite(process.env.SHOP_FILE) : onPostgres();

/** Opens a file again and again: a service manager starts a shop again whose disk is full. */
async function onSqlite(file: string): Promise<[Inbox, () => void]> {
  for (let tries = 0; ; tries++)
    try {
      const database = new DatabaseSync(file);
      database.exec('PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
      database.exec('CREATE TABLE IF NOT EXISTS fulfilments (order_id TEXT, amount TEXT)');
      const opened = openInbox({
        ...common,
        database,
        on: {
          'order.paid': async ({ data: { order_id, amount } }, { commit }) => {
            await wait(Math.random() * 20); // the warehouse is asked
            commit((db) => db.prepare('INSERT INTO fulfilments VALUES (?, ?)').run(order_id, amount));
          },
        },
      });
      return [opened, () => database.close()];
    } catch (error) {
      if (tries > 50) throw error;
      await wait(100);
    }
}

interface Client {
  query(text: string, values?: string[]): PromiseLike<unknown>;
}

async function fulfil(client: Client, id: string, amount: string): Promise<void> {
  await client.query('INSERT INTO fulfilments VALUES ($1, $2)', [id, amount]);
  await client.query('UPDATE takings SET amount = amount + $1', [amount]);
}

function onPostgres(): [Inbox, () => Promise<void>] {
  const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 6 });
  const opened = openInbox({
    ...common,
    pool,
    on: {
      'order.paid': async ({ data: { order_id, amount } }, { commit, done }) => {
        await wait(Math.random() * 20); // the warehouse is asked
        if (Math.random() < 0.5) return commit((tx) => fulfil(tx, order_id, amount));
        const client = await pool.connect();
        const ignore = () => undefined;
        client.on('error', ignore);
        let failure: Error | undefined;
        let isMarked = false;
        try {
          // The server ends the transaction of a connection that a NAT has forgotten, so that its locks do not stay.
          await client.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 3000');
          await fulfil(client, order_id, amount);
          isMarked = true;
          await done((sql, values) => client.query(sql, values));
          await client.query('COMMIT');
        } catch (error) {
          failure = new Error('rolled back', { cause: error });
        }
        client.off('error', ignore);
        client.release(failure);
        // Half of the shops forget to throw after done(): the row decides. Without done(), returning is success.
        if (failure && (!isMarked || Math.random() < 0.5)) throw failure;
      },
    },
  });
  return [opened, () => pool.end()];
}

const server = createServer(inbox.nodeHandler).listen(Number(process.env.PORT), '127.0.0.1');
process.once('SIGTERM', async () => {
  await once(server.close(), 'close');
  await inbox.close();
  await close();
});
