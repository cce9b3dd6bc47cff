// Shops that are right, through `merchant-payments crash-test`: nothing may be found. CRASH_SEED repeats a run.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { type Server, startPostgres, startRedis } from '../lib/servers.js';

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const node = path('../node_modules/node-24/bin/node');
const cli = path('../node_modules/merchant-payments/dist/cli.js');
const example = (name: string) => path(`../.examples/fulfilment/${name}`);
const seed = process.env.CRASH_SEED ?? String(Math.floor(Math.random() * 1e6));
const folder = mkdtempSync(join(tmpdir(), 'crash-test-'));
let postgres: Server;
let redis: Server;

before(async () => {
  console.log(`Seed ${seed}. To repeat this run: CRASH_SEED=${seed} npm run compat crash-test`);
  [postgres, redis] = await Promise.all([startPostgres(), startRedis({ durable: true })]);
});
after(async () => {
  await Promise.all([postgres.stop(), redis.stop()]);
  rmSync(folder, { recursive: true });
});

const paid = 'SELECT order_id, amount FROM paid';
const held = 'SELECT order_id FROM held';
const fulfilments = 'SELECT order_id, amount::text FROM fulfilments';
const failedJobs = [
  "SELECT (data->>'rawBody')::json->'data'->>'order_id' AS order_id FROM pgboss.job",
  "WHERE name = 'order.paid.parked' OR state IN ('retry', 'failed')",
].join(' ');

interface Shop {
  program: string[];
  flags?: string[];
  env?: NodeJS.ProcessEnv;
  /** Statements that select what is fulfilled, and what is held. */
  books: string[];
}

/** Each has a database of its own: `file` for SQLite, `url` for PostgreSQL. */
const shops: Record<string, (file: string, url: string) => Shop> = {
  'openInbox() on SQLite': (file) => ({
    program: [node, path('shops/inbox.mjs')],
    flags: ['--inbox', file],
    env: { SHOP_FILE: file },
    books: [file, paid],
  }),
  'openInbox() on PostgreSQL, two instances': (_, url) => ({
    program: [node, path('shops/inbox.mjs')],
    flags: ['--inbox', url, '--instances', '2'],
    env: { DATABASE_URL: url },
    books: [url, paid],
  }),
  'Express with a transaction, two instances': (_, url) => ({
    program: [node, path('shops/express.mjs')],
    flags: ['--instances', '2'],
    env: { DATABASE_URL: url },
    books: [url, paid, held],
  }),
  Python: (file) => ({
    program: ['python3', path('shops/shop.py')],
    env: { SHOP_FILE: file },
    books: [file, paid, held],
  }),
  'pg-boss': (_, url) => ({
    program: [node, example('pg-boss.ts')],
    env: { DATABASE_URL: url, NOTICE_SECONDS: '5' },
    books: [url, fulfilments, failedJobs],
  }),
  BullMQ: (_, url) => ({
    program: [node, example('bullmq.ts')],
    env: { DATABASE_URL: url, REDIS_URL: redis.url, LOCK_MS: '5000' },
    books: [url, fulfilments],
  }),
};

for (const [name, shop] of Object.entries(shops))
  test(`${name}: nothing is found`, async () => {
    const file = join(folder, `${name.replace(/\W/g, '')}.sqlite`);
    const { program, flags = [], env, books } = shop(file, await newDatabase());
    const command = [node, path('books.mjs'), ...books].map((word) => JSON.stringify(word)).join(' ');
    const args = ['crash-test', '--json', '--seed', seed, '--webhook-path', '/webhooks', '--books', command];
    const { code, output } = await run([cli, ...args, ...flags, '--', ...program], {
      ...process.env,
      ...env,
    });
    const { ok, findings, ...rest } = JSON.parse(output);
    console.log(`${name}: ${JSON.stringify(rest)}`);
    assert.deepEqual({ code, ok, findings }, { code: 0, ok: true, findings: [] });
  });

function run(args: string[], env: NodeJS.ProcessEnv): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    // In the folder of compat, where the command finds pg.
    const child = execFile(node, args, { env, cwd: path('..'), timeout: 300_000 }, (_, stdout, stderr) =>
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
