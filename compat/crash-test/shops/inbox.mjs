// A shop with openInbox(), on SQLite (SHOP_FILE) or on PostgreSQL (DATABASE_URL).
import { createServer } from 'node:http';
import { openInbox } from 'merchant-payments/inbox';

const table = 'CREATE TABLE IF NOT EXISTS paid (order_id text PRIMARY KEY, amount text NOT NULL)';
const common = { secret: process.env.PAYMENTS_WEBHOOK_SECRET, leaseMs: 2000, onError: () => {} };
const inbox = process.env.SHOP_FILE ? await onSqlite(process.env.SHOP_FILE) : await onPostgres();
const server = createServer(inbox.nodeHandler).listen(Number(process.env.PORT));
process.once('SIGTERM', async () => {
  server.close();
  await inbox.close();
  process.exit(0);
});

async function onSqlite(file) {
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 5000; ${table}`);
  const fulfil = ({ data }, { commit }) =>
    commit((db) => db.prepare('INSERT INTO paid VALUES (?, ?)').run(data.order_id, data.amount));
  return openInbox({ ...common, database, on: { 'order.paid': fulfil } });
}

async function onPostgres() {
  const { Pool } = await import('pg');
  const pool = new Pool({ connectionString: process.env.DATABASE_URL });
  await pool.query(`SELECT pg_advisory_xact_lock(1); ${table}`);
  const fulfil = ({ data }, { commit }) =>
    commit((tx) => tx.query('INSERT INTO paid VALUES ($1, $2)', [data.order_id, data.amount]));
  return openInbox({ ...common, pool, on: { 'order.paid': fulfil } });
}
