// The inbox under a backlog, beside pg-boss for the same work: how long it takes to store a delivery, how many are fulfilled a
// second, each with a row of the shop's in the same transaction, and how large the tables are before and after purge().
//   node inbox/run.mjs [--rows 100000] [--seconds 10] [--only sqlite,postgres,pg-boss] [--package /path/to/dist]
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { machine } from '../lib/measure.mjs';
import { figure, table } from '../lib/table.mjs';
import { startPostgres } from './postgres.mjs';

/** The same on both stores: one delivery, and as many copies of it as there are to be. */
const filling = (count) => `
  WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count - 1})
  INSERT INTO payments_inbox (key, digest, state, received_at, due_at, due_set_at)
    SELECT 'order.paid:copy_' || n, digest, state, received_at, due_at - n, due_set_at FROM payments_inbox, numbers;
  INSERT INTO payments_inbox_content
    SELECT payments_inbox.id, event, raw_body, encoding, headers FROM payments_inbox, payments_inbox_content
    WHERE payments_inbox.id <> payments_inbox_content.id`;
/** The events that are left after the time is up count as done, so that purge() deletes all. */
const finishing = "UPDATE payments_inbox SET state = 'done', due_at = NULL, finished_at = 0";

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '10' },
    only: { type: 'string', default: 'sqlite,postgres,pg-boss' },
    package: { type: 'string', default: join(import.meta.dirname, '../../dist') },
  },
});
const rows = Number(values.rows);
const timed = 2000;
const { openInbox } = await import(pathToFileURL(resolve(values.package, 'inbox.js')).href);
const secret = 'whsec_of_the_bench';
const stores = { sqlite, postgres, 'pg-boss': pgBoss };
const names = values.only.split(',');
const server = names.some((name) => name !== 'sqlite') ? await startPostgres() : undefined;
const results = [];
try {
  for (const name of names) results.push([name, ...(await measure(await stores[name]()))]);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await server?.stop();
}
console.log(`${machine(process.execPath)}; a backlog of ${figure(rows)}`);
const heads = ['', 'accept p50, ms', 'p99, ms', 'fulfilled a second', 'tables, MB', 'after purge, MB'];
console.log(table(heads, results));

async function measure(store) {
  await store.fill(rows - timed);
  const times = [];
  await runInLanes(timed, 8, async (number) => {
    const began = performance.now();
    await store.accept(delivery(rows - timed + number));
    times.push(performance.now() - began);
  });
  times.sort((a, b) => a - b);
  const full = await store.size();
  const began = performance.now();
  await store.work();
  await wait(Number(values.seconds) * 1000);
  const rate = (await store.fulfilled()) / ((performance.now() - began) / 1000);
  await store.stop();
  await store.purge();
  const purged = await store.size();
  await store.close();
  const mb = (bytes) => figure(bytes / 1e6, 1);
  return [figure(times[timed / 2], 2), figure(times[timed * 0.99], 2), figure(rate), mb(full), mb(purged)];
}

async function runInLanes(count, lanes, run) {
  let next = 0;
  const lane = async () => {
    while (next < count) await run(next++);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

function delivery(number) {
  const data = { order_id: `ord_${number}`, amount: '19.90', currency: 'USD' };
  return {
    key: `order.paid:${data.order_id}`,
    event: { type: 'order.paid', data },
    rawBody: JSON.stringify({ type: 'order.paid', data }),
    headers: { 'x-service-signature': 'f'.repeat(64), 'x-service-timestamp': '1767225600' },
    receivedAt: '2026-01-01T00:00:00.000Z',
  };
}

async function sqlite() {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const folder = mkdtempSync(join(tmpdir(), 'bench-inbox-'));
  const file = join(folder, 'inbox.sqlite');
  const shop = new DatabaseSync(file);
  shop.exec('PRAGMA journal_mode = WAL; CREATE TABLE paid (order_id TEXT)');
  let inbox = openInbox({ file, secret, work: false });
  const on = {
    'order.paid': ({ data }, { commit }) =>
      commit((db) => db.prepare('INSERT INTO paid VALUES (?)').run(data.order_id)),
  };
  return {
    async fill(count) {
      await inbox.accept(delivery(-1));
      shop.exec(filling(count));
    },
    accept: (given) => inbox.accept(given),
    fulfilled: async () => shop.prepare('SELECT count(*) AS count FROM paid').get().count,
    async size() {
      shop.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      return statSync(file).size;
    },
    async work() {
      await inbox.close();
      inbox = openInbox({ file, secret, on });
    },
    stop: () => inbox.close(),
    async purge() {
      shop.exec(finishing);
      inbox = openInbox({ file, secret, work: false });
      await inbox.purge({ olderThan: 0 });
    },
    async close() {
      await inbox.close();
      shop.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** An empty database with a table of the shop's, and what both stores in it need. */
async function newDatabase(name, like) {
  const admin = new pg.Client(server.url);
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  const connectionString = server.url.replace(/[^/]*$/, name);
  const pool = new pg.Pool({ connectionString, max: 10 });
  pool.on('error', () => {}); // the server ends before it
  await pool.query('CREATE TABLE paid (order_id text)');
  // The statements of both stores name no schema.
  await pool.query(`ALTER DATABASE ${name} SET search_path = public, payments_inbox`);
  const number = async (sql) => Number(Object.values((await pool.query(sql)).rows[0])[0]);
  return {
    pool,
    connectionString,
    fulfilled: () => number('SELECT count(*) FROM paid'),
    size: () =>
      number(
        `SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE oid::regclass::text LIKE '${like}' AND relkind = 'r'`,
      ),
  };
}

async function postgres() {
  const { pool, fulfilled, size } = await newDatabase('inbox', 'payments_inbox%');
  let inbox = openInbox({ pool, secret, work: false });
  const on = {
    'order.paid': ({ data }, { commit }) =>
      commit((tx) => tx.query('INSERT INTO paid VALUES ($1)', [data.order_id])),
  };
  return {
    fulfilled,
    size,
    async fill(count) {
      await inbox.accept(delivery(-1));
      await pool.query(`${filling(count)}; ANALYZE`);
    },
    accept: (given) => inbox.accept(given),
    async work() {
      await inbox.close();
      inbox = openInbox({ pool, secret, on });
    },
    stop: () => inbox.close(),
    async purge() {
      await pool.query(finishing);
      inbox = openInbox({ pool, secret, work: false });
      await inbox.purge({ olderThan: 0 });
    },
    close: () => inbox.close().then(() => pool.end()),
  };
}

/** Runs the queue of examples/fulfilment/pg-boss.ts, four jobs at a time like the inbox. It fetches a hundred, because it polls. */
async function pgBoss() {
  const { pool, connectionString, fulfilled, size } = await newDatabase('boss', 'pgboss.%');
  const boss = new PgBoss({ connectionString });
  boss.on('error', ({ message }) => console.error(`pg-boss: ${message}`));
  await boss.start();
  const queue = 'order.paid';
  await boss.createQueue(queue, { policy: 'exclusive' });
  let isOver = false;
  const fulfil = async (jobs) => {
    for (const { id, data } of jobs) {
      if (isOver) return;
      const client = await pool.connect();
      await client.query('BEGIN');
      await client.query('INSERT INTO paid VALUES ($1)', [data.event.data.order_id]);
      const db = { executeSql: (text, values) => client.query(text, values) };
      await boss.complete(queue, id, undefined, { db });
      await client.query('COMMIT');
      client.release();
    }
  };
  return {
    fulfilled,
    size,
    async fill(count) {
      for (let from = 0; from < count; from += 1000) {
        const numbers = Array.from({ length: Math.min(1000, count - from) }, (_, index) => from + index);
        const jobs = numbers.map((number) => ({ data: delivery(number), singletonKey: `fill ${number}` }));
        await boss.insert(queue, jobs);
      }
      await pool.query('ANALYZE');
    },
    accept: (given) => boss.send(queue, given, { singletonKey: given.key }),
    work: () =>
      boss.work(queue, { localConcurrency: 4, batchSize: 250, pollingIntervalSeconds: 0.5 }, fulfil),
    async stop() {
      isOver = true;
      await boss.offWork(queue);
    },
    /** It forgets keys as well: a late duplicate is a new job. */
    async purge() {
      await pool.query(
        "UPDATE pgboss.job SET state = 'completed', completed_on = now() WHERE state < 'completed'",
      );
      await boss.deleteStoredJobs(queue);
      await pool.query('VACUUM');
    },
    close: () => boss.stop({ graceful: false }).then(() => pool.end()),
  };
}
