// The books of a shop as JSON lines: `node books.mjs <sqlite file or url> [SQL …]`. Each statement selects
// order_id and amount, or order_id alone for what is held.
import { DatabaseSync } from 'node:sqlite';

const [place, ...statements] = process.argv.slice(2);
for (const row of await rows())
  console.log(JSON.stringify(row.amount === undefined ? { order_id: row.order_id, held: true } : row));

async function rows() {
  if (place.startsWith('mysql')) return fromMysql();
  if (!place.startsWith('postgres')) {
    const database = new DatabaseSync(place);
    database.exec('PRAGMA busy_timeout = 5000');
    return statements.flatMap((sql) => database.prepare(sql).all());
  }
  const { Client } = await import('pg');
  const client = new Client({ connectionString: place });
  await client.connect();
  const found = [];
  for (const sql of statements) found.push(...(await client.query(sql)).rows);
  await client.end();
  return process.env.REDIS_URL ? [...found, ...(await failedJobs(process.env.REDIS_URL))] : found;
}

async function fromMysql() {
  const { createConnection } = await import('mysql2/promise');
  const connection = await createConnection(place);
  const found = [];
  for (const sql of statements) found.push(...(await connection.query(sql))[0]);
  await connection.end();
  return found.map((row) => ({ ...row, order_id: String(row.order_id) })); // a binary column is a Buffer
}

/** Jobs of BullMQ that have failed at least once: what waits for a person. */
async function failedJobs(url) {
  const { createNodeRedisClient, Queue } = await import('bullmq');
  const { createClient } = await import('redis');
  const client = createClient({ url });
  const queue = new Queue('order-paid', { connection: createNodeRedisClient(client) });
  const jobs = await queue.getJobs(['failed', 'delayed']);
  await queue.close();
  await client.close();
  return jobs
    .filter((job) => job?.attemptsMade > 0)
    .map((job) => ({ order_id: JSON.parse(job.data.rawBody).data.order_id }));
}
