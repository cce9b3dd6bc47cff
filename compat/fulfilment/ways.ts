// The ways to fulfil: which processes each runs, and how its tables are read.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createNodeRedisClient, Queue } from 'bullmq';
import { openInbox } from 'merchant-payments/inbox';
import { Client } from 'pg';
import { createClient } from 'redis';
import type { Order } from './plan.js';
import type { Program } from './processes.js';
import { decimal } from './sender.js';
import type { Books } from './verdict.js';

/** What a run has to itself. */
export interface Stores {
  /** The working folder of its processes. */
  folder: string;
  /** Of a database of its own. */
  postgresUrl: string;
  redisUrl: string;
}

export interface Way {
  name: string;
  programs: Program[];
  /** Once the processes run, before anything is delivered. */
  prepare?(stores: Stores, orders: Order[]): void;
  books(stores: Stores): Promise<Books>;
}

const example = (name: string) => new URL(`../.examples/fulfilment/${name}`, import.meta.url).pathname;

const roles = (file: string): Program[] => [
  { file, args: ['web'], web: true },
  { file, args: ['web'], web: true },
  { file, args: ['worker'], web: false },
  { file, args: ['worker'], web: false },
];
const twice = (program: Program): Program[] => [program, program];

/** No order that was answered 200 is lost, and none is fulfilled twice. */
export const durable: Way[] = [
  {
    name: 'sqlite-inbox',
    programs: twice({ file: example('sqlite-inbox.ts'), web: true }),
    prepare: openOrders,
    books: async ({ folder }) => sqliteBooks(folder),
  },
  {
    name: 'postgres-transaction',
    programs: twice({ file: example('postgres-transaction.ts'), web: true }),
    books: async ({ postgresUrl }) => ({ ...(await postgresBooks(postgresUrl)), pending: 0 }),
  },
  {
    name: 'pg-boss',
    programs: roles(example('pg-boss.ts')),
    books: async ({ postgresUrl }) => ({
      ...(await postgresBooks(postgresUrl)),
      pending: await count(postgresUrl, "SELECT count(*) FROM pgboss.job WHERE state < 'completed'"),
    }),
  },
  {
    name: 'bullmq',
    programs: roles(example('bullmq.ts')),
    books: async ({ postgresUrl, redisUrl }) => ({
      ...(await postgresBooks(postgresUrl)),
      pending: await jobsLeft(redisUrl),
    }),
  },
];

/** What the same run does to a handler that keeps nothing. */
export const plain = { before: plainHandler('before'), after: plainHandler('after') };

function plainHandler(fulfils: 'before' | 'after'): Way {
  const file = new URL('plain-handler.ts', import.meta.url).pathname;
  return {
    name: `plain handler that fulfils ${fulfils} it responds`,
    programs: twice({ file, args: [fulfils], web: true }),
    books: async ({ postgresUrl }) => ({ ...(await postgresBooks(postgresUrl)), pending: 0 }),
  };
}

/** The customers that the payments come from. No two orders ask for the same amount. */
function openOrders({ folder }: Stores, orders: Order[]): void {
  const database = new DatabaseSync(join(folder, 'shop.sqlite'));
  database.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
  const order = database.prepare("INSERT INTO orders VALUES (?, ?, ?, 'USD', ?, NULL, NULL, NULL)");
  for (const { id, cents } of orders) order.run(`of ${id}`, id, decimal(cents), Date.now());
  database.exec('COMMIT');
  database.close();
}

/** The shop notes every payment, under no unique key, and credits it to an order. */
function sqliteBooks(folder: string): Books {
  const database = new DatabaseSync(join(folder, 'shop.sqlite'));
  database.exec('PRAGMA busy_timeout = 5000');
  const payments = database.prepare('SELECT id, count(*) AS times FROM payments GROUP BY id').all();
  const taken = database
    .prepare('SELECT total(amount) * 100 AS cents FROM orders WHERE paid_as IS NOT NULL')
    .get();
  const { pending, running, parked } = openInbox({ database, secret: 'of nobody', work: false }).stats();
  database.close();
  return {
    fulfilled: new Map(payments.map(({ id, times }) => [String(id), Number(times)])),
    takenCents: Math.round(Number(taken?.cents)),
    pending: pending + running + parked,
  };
}

async function postgresBooks(url: string): Promise<Omit<Books, 'pending'>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const orders = await client.query(
    'SELECT order_id, count(*)::int AS times FROM fulfilments GROUP BY order_id',
  );
  const takings = await client.query('SELECT coalesce(sum(amount) * 100, 0)::int AS cents FROM takings');
  await client.end();
  return {
    fulfilled: new Map(orders.rows.map(({ order_id, times }) => [order_id, times])),
    takenCents: takings.rows[0].cents,
  };
}

async function count(url: string, sql: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return Number(rows[0].count);
}

async function jobsLeft(url: string): Promise<number> {
  const client = createClient({ url });
  const queue = new Queue('order-paid', { connection: createNodeRedisClient(client) });
  const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized', 'failed');
  await queue.close();
  await client.close();
  return Object.values(counts).reduce((sum, one) => sum + one, 0);
}
