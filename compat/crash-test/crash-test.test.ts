// Shops that are right, through `merchant-payments crash-test`: nothing may be found. CRASH_SEED repeats a run.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { type Server, startMariadb, startPostgres, startRedis } from '../lib/servers.js';
import { delayPackets } from './delay.js';

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const node = path('../node_modules/node-24/bin/node');
const cli = path('../node_modules/merchant-payments/dist/cli.js');
const example = (name: string) => path(`../.examples/fulfilment/${name}`);
const seed = process.env.CRASH_SEED ?? String(Math.floor(Math.random() * 1e6));
const folder = mkdtempSync(join(tmpdir(), 'crash-test-'));
let postgres: Server;
let redis: Server;
let mariadb: Server;

before(async () => {
  console.log(`Seed ${seed}. To repeat this run: CRASH_SEED=${seed} npm run compat crash-test`);
  const servers = [startPostgres(), startRedis({ durable: true }), startMariadb('shop')] as const;
  [postgres, redis, mariadb] = await Promise.all(servers);
});
after(async () => {
  await Promise.all([postgres?.stop(), redis?.stop(), mariadb?.stop()]);
  rmSync(folder, { recursive: true });
});

const paid = 'SELECT order_id, amount FROM paid';
const held = 'SELECT order_id FROM held';
/** Fulfilments, and takings that are not their sum: what ran twice. No order has that name, so it is found. */
const fulfilments = [
  'SELECT order_id, amount FROM fulfilments',
  "SELECT 'takings' AS order_id, amount FROM takings WHERE amount <> (SELECT SUM(amount) FROM fulfilments)",
];
const failedJobs = [
  "SELECT (data->>'rawBody')::json->'data'->>'order_id' AS order_id FROM pgboss.job",
  "WHERE name = 'order.paid.parked' OR state IN ('retry', 'failed')",
].join(' ');
const parkedRows = [
  "SELECT JSON_VALUE(JSON_VALUE(delivery, '$.rawBody'), '$.data.order_id') AS order_id",
  "FROM webhook_inbox WHERE state = 'parked' OR (state = 'pending' AND last_error IS NOT NULL)",
].join(' ');
/** E-mails that were enqueued count as fulfilled, each beside its order. */
const emails = (jobs: string) => [
  `SELECT email.id AS order_id, coalesce(paid.amount::text, '0') AS amount FROM (${jobs}) email LEFT JOIN paid ON paid.order_id = email.id`,
];

interface Shop {
  program: string[];
  flags?: string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Where its books are, and statements that select what is fulfilled, and what is held; or a command of its own. */
  books: string[] | string;
  orders?: number;
}

/** The stores that a shop may use: a file for SQLite, and a database of PostgreSQL and Redis, where each packet takes its time. */
interface Stores {
  file: string;
  url: string;
  redisUrl: string;
}

const two = ['--instances', '2'];
const shops: Record<string, (stores: Stores) => Shop> = {
  'openInbox() on SQLite': ({ file }) => ({
    program: [node, path('shops/inbox.mjs')],
    flags: ['--inbox', file],
    env: { SHOP_FILE: file },
    books: [file, paid],
  }),
  'an order book on SQLite, whose amounts --open prints': ({ file }) => ({
    program: [node, example('sqlite-inbox.ts')],
    flags: ['--inbox', 'shop.sqlite', '--open', `${node} ${path('buy.mjs')}`],
    cwd: dirname(file),
    books: [
      'shop.sqlite',
      'SELECT paid_as AS order_id, amount, id AS reference FROM orders JOIN payments_order USING (id) WHERE paid_as IS NOT NULL',
      "SELECT id AS order_id FROM payments_order_payment WHERE state = 'held'",
    ],
    orders: 50, // so many amounts are near the price
  }),
  'the demo shop': ({ file }) => ({
    program: [node, path('../.examples/shop/server.ts')],
    flags: ['--inbox', file, '--open', `${node} ${path('../.examples/testing/crash-test.ts')} open`],
    env: { SHOP_FILE: file },
    books: `${node} ${path('../.examples/testing/crash-test.ts')}`,
    orders: 100,
  }),
  'openInbox() on PostgreSQL, two instances': ({ url }) => ({
    program: [node, path('shops/inbox.mjs')],
    flags: ['--inbox', url, ...two],
    env: { DATABASE_URL: url },
    books: [url, paid],
  }),
  'an order book on PostgreSQL, two instances': ({ url }) => ({
    program: [node, example('postgres-inbox.ts')],
    flags: ['--inbox', url, '--open', `${node} ${path('buy.mjs')}`, ...two],
    env: { DATABASE_URL: url },
    books: [
      url,
      'SELECT paid_as AS order_id, amount, id AS reference FROM orders JOIN payments_inbox.payments_order USING (id) WHERE paid_as IS NOT NULL',
      "SELECT id AS order_id FROM payments_inbox.payments_order_payment WHERE state = 'held'",
    ],
    orders: 50,
  }),
  'Express with a transaction, two instances': ({ url }) => ({
    program: [node, path('shops/express.mjs')],
    flags: two,
    env: { DATABASE_URL: url },
    books: [url, paid, held],
  }),
  Python: ({ file }) => ({
    program: ['python3', path('shops/shop.py')],
    env: { SHOP_FILE: file },
    books: [file, paid, held],
  }),
  'pg-boss, two instances': ({ url }) => ({
    program: [node, example('pg-boss.ts')],
    flags: two,
    env: { DATABASE_URL: url, NOTICE_SECONDS: '5' },
    books: [url, ...fulfilments, failedJobs],
    orders: 1000,
  }),
  'BullMQ, two instances': ({ url, redisUrl }) => ({
    program: [node, example('bullmq.ts')],
    flags: two,
    env: { DATABASE_URL: url, REDIS_URL: redisUrl, LOCK_MS: '5000' },
    books: [url, ...fulfilments],
    orders: 1000,
  }),
  'MySQL, two instances': () => ({
    program: [node, example('mysql.ts')],
    flags: two,
    env: { MYSQL_URL: `${mariadb.url}/shop` },
    books: [`${mariadb.url}/shop`, ...fulfilments, parkedRows],
    orders: 1000,
  }),
  'an outbox with pg-boss, two instances': ({ url }) => ({
    program: [node, example('outbox/pg-boss.ts')],
    flags: ['--inbox', url, ...two],
    env: { DATABASE_URL: url, LOCK_MS: '5000' },
    books: [url, ...emails("SELECT data->>'orderId' AS id FROM pgboss.job WHERE name = 'email'")],
  }),
  'an outbox with graphile-worker, two instances': ({ url }) => ({
    program: [node, path('shops/graphile-worker.mjs')],
    flags: ['--inbox', url, ...two],
    env: { DATABASE_URL: url, LOCK_MS: '5000' },
    books: [url, ...emails('SELECT id FROM enqueued')],
  }),
};

for (const [name, shop] of Object.entries(shops))
  test(`${name}: nothing is found`, async () => {
    const through = await Promise.all([delayPackets(await newDatabase(), 2), delayPackets(redis.url, 2)]);
    const [{ url }, { url: redisUrl }] = through;
    const file = join(folder, `${name.replace(/\W/g, '')}.sqlite`);
    const { program, flags = [], env, cwd, books, orders = 200 } = shop({ file, url, redisUrl });
    const command =
      typeof books === 'string'
        ? books
        : [node, path('books.mjs'), ...books].map((word) => JSON.stringify(word)).join(' ');
    const args = ['--json', '--seed', seed, '--orders', process.env.CRASH_ORDERS ?? String(orders)];
    args.push('--webhook-path', '/webhooks', '--books', command, ...flags);
    const began = performance.now();
    const { code, output } = await run(
      [cli, 'crash-test', ...args, '--', ...program],
      {
        ...process.env,
        ...env,
      },
      cwd,
    );
    for (const { stop } of through) stop();
    const { ok, findings, ...rest } = JSON.parse(output);
    const seconds = Math.round((performance.now() - began) / 1000);
    console.log(`${name}: ${JSON.stringify(rest)} in ${seconds} s`);
    const { endedByItself } = rest;
    assert.deepEqual(
      { code, ok, findings, endedByItself },
      { code: 0, ok: true, findings: [], endedByItself: 0 },
    );
  });

/** In the folder of compat, where the command finds pg, or in another one. */
function run(
  args: string[],
  env: NodeJS.ProcessEnv,
  cwd = path('..'),
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = execFile(node, args, { env, cwd, timeout: 600_000 }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, output: stdout || JSON.stringify({ stderr }) }),
    );
  });
}

let databases = 0;
async function newDatabase(): Promise<string> {
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  const name = `shop_${++databases}`;
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return postgres.url.replace(/[^/]*$/, name);
}
