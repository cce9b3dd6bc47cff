// The inbox in PostgreSQL beside pg-boss and graphile-worker: how many orders two instances of a shop fulfil a second, each with a row
// of the shop's in a transaction, and how long storing one takes beside a bare INSERT. 200,000 were done before.
//   node inbox/queues.mjs [--done 200000] [--pending 6000] [--rounds 5] [--only inbox,pg-boss,graphile-worker]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeWorkerUtils } from 'graphile-worker';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { machine } from '../lib/measure.mjs';
import { figure, table } from '../lib/table.mjs';
import { startPostgres } from './postgres.mjs';
import { delivery, openInbox, secret } from './work.mjs';

const { values } = parseArgs({
  options: {
    done: { type: 'string', default: '200000' },
    pending: { type: 'string', default: '6000' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: 'inbox,pg-boss,graphile-worker' },
  },
});
const [done, pending, rounds] = [values.done, values.pending, values.rounds].map(Number);
const server = await startPostgres();
try {
  const stores = [];
  for (const name of values.only.split(',')) stores.push(await prepare(name));
  const rates = new Map(stores.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    const turn = [...stores.slice(round % stores.length), ...stores.slice(0, round % stores.length)];
    for (const store of turn) rates.get(store.name).push(await measureFulfilling(store, round));
  }
  const storing = new Map();
  for (const store of stores) storing.set(store.name, await measureStoring(store.store, 2000));
  const [{ pool }] = stores;
  await pool.query('CREATE TABLE bare (id text PRIMARY KEY, body text)');
  const insert = ({ key, rawBody }) => pool.query('INSERT INTO bare VALUES ($1, $2)', [key, rawBody]);
  storing.set('a bare INSERT', await measureStoring(insert, 2000));
  console.log(
    `${machine(process.execPath)}; ${figure(done)} done before, ${figure(pending)} pending, two processes, four at a time`,
  );
  const rows = [...storing].map(([name, [p50, p99]]) => {
    const all = rates.get(name) ?? [];
    const ratios = all.map((rate, round) => rate / (rates.get('pg-boss')?.[round] ?? Number.NaN));
    return [
      name,
      all.length > 0 ? figure(median(all)) : '–',
      figure(median(ratios), 2),
      figure(p50, 2),
      figure(p99, 2),
    ];
  });
  console.log(table(['', 'fulfilled a second', 'of pg-boss', 'stored in, p50, ms', 'p99, ms'], rows));
  for (const store of stores) await store.close();
} finally {
  await server.stop();
}

/** Returns the events that two processes fulfil in a second, until none is pending. */
async function measureFulfilling({ name, url, pool, fill }, round) {
  await pool.query('TRUNCATE paid');
  await fill(`round_${round}`, pending);
  await pool.query('ANALYZE');
  const children = [0, 1].map(() => fork(new URL('work.mjs', import.meta.url), [name, url]));
  const count = async () => Number((await pool.query('SELECT count(*) FROM paid')).rows[0].count);
  while ((await count()) < pending / 10) await wait(5);
  const [from, startedAt] = [await count(), performance.now()];
  let now = from;
  while (now < pending * 0.9) {
    await wait(20);
    now = await count();
  }
  const rate = (now - from) / ((performance.now() - startedAt) / 1000);
  while ((await count()) < pending) await wait(20);
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(children.map((child) => child.exitCode ?? once(child, 'exit')));
  const { rows } = await pool.query('SELECT order_id FROM paid GROUP BY 1 HAVING count(*) > 1');
  if (rows.length > 0) console.log(`${name}: ${rows.length} twice`);
  return rate;
}

/** Returns the times that storing takes, p50 and p99, eight at a time. */
async function measureStoring(store, count) {
  const times = [];
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const given = delivery(`stored_${next++}`);
      const startedAt = performance.now();
      await store(given);
      times.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  times.sort((a, b) => a - b);
  return [times[Math.floor(count / 2)], times[Math.floor(count * 0.99)]];
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

/** A database of its own, in which many are done. */
async function prepare(name) {
  const database = name.replace(/\W/g, '_');
  const admin = new pg.Client(server.url);
  await admin.connect();
  await admin.query(`CREATE DATABASE ${database}`);
  await admin.end();
  const url = server.url.replace(/[^/]*$/, database);
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  for (const event of ['error', 'connect']) pool.on(event, (client) => client.on?.('error', () => {})); // the server ends before it
  await pool.query('CREATE TABLE paid (order_id text)');
  const store = await { inbox, 'pg-boss': pgBoss, 'graphile-worker': graphile }[name](pool, url);
  await pool.query('VACUUM ANALYZE');
  return { name, url, pool, ...store };
}

async function inbox(pool) {
  const opened = openInbox({ pool, secret, work: false });
  await opened.accept(delivery('first'));
  const copies = (prefix, count, state) => `
    WITH copied AS (INSERT INTO payments_inbox.payments_inbox (key, digest, state, received_at, due_at, due_set_at, finished_at)
      SELECT 'order.paid:${prefix}_' || n, digest, '${state}', received_at,
        ${state === 'done' ? 'NULL, NULL, 1' : '(extract(epoch FROM now()) * 1000)::bigint, (extract(epoch FROM now()) * 1000)::bigint, NULL'}
      FROM payments_inbox.payments_inbox, generate_series(1, ${count}) AS n WHERE key = 'order.paid:first' RETURNING id, key)
    INSERT INTO payments_inbox.payments_inbox_content
      SELECT copied.id, replace(event, 'first', split_part(copied.key, ':', 2)), raw_body, encoding, headers FROM copied, payments_inbox.payments_inbox_content
      JOIN payments_inbox.payments_inbox USING (id) WHERE payments_inbox.key = 'order.paid:first'`;
  await pool.query(copies('done', done, 'done'));
  await pool.query(
    "UPDATE payments_inbox.payments_inbox SET state = 'done', due_at = NULL WHERE key = 'order.paid:first'",
  );
  return {
    fill: (prefix, count) => pool.query(copies(prefix, count, 'pending')),
    store: (given) => opened.accept(given),
    close: () => opened.close().then(() => pool.end()),
  };
}

async function pgBoss(pool, url) {
  const boss = new PgBoss({ connectionString: url });
  boss.on('error', ({ message }) => console.error(`pg-boss: ${message}`));
  await boss.start();
  await boss.createQueue('order.paid', { policy: 'exclusive' });
  const fill = async (prefix, count) => {
    for (let from = 0; from < count; from += 1000) {
      const numbers = Array.from({ length: Math.min(1000, count - from) }, (_, index) => from + index);
      const jobs = numbers.map((n) => ({ data: delivery(`${prefix}_${n}`), singletonKey: `${prefix}_${n}` }));
      await boss.insert('order.paid', jobs);
    }
  };
  await fill('done', done);
  await pool.query(
    "UPDATE pgboss.job SET state = 'completed', completed_on = now() WHERE name = 'order.paid'",
  );
  return {
    fill,
    store: (given) => boss.send('order.paid', given, { singletonKey: given.key }),
    close: () => boss.stop({ graceful: false }).then(() => pool.end()),
  };
}

/** Deletes what is done. */
async function graphile(pool) {
  const utils = await makeWorkerUtils({ pgPool: pool });
  await utils.migrate();
  return {
    fill: (prefix, count) =>
      pool.query(
        `SELECT graphile_worker.add_job('order.paid', payload := jsonb_set($1::jsonb, '{event,data,order_id}', to_jsonb($2 || '_' || n))::json,
          job_key := $2 || '_' || n) FROM generate_series(1, $3::int) AS n`,
        [JSON.stringify(delivery('x')), prefix, count],
      ),
    store: (given) => utils.addJob('order.paid', given, { jobKey: given.key }),
    close: async () => {
      await utils.release();
      await pool.end();
    },
  };
}
