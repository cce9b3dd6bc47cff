// The ways to fulfil: which processes each runs, and how its tables are read.
import { createNodeRedisClient, Queue } from 'bullmq';
import { openInbox } from 'merchant-payments/inbox';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { Client, Pool } from 'pg';
import { createClient } from 'redis';
import type { Order } from './plan.js';
import type { Program } from './processes.js';
import type { Books } from './verdict.js';

/** The stores of one run. */
export interface Stores {
  /** The working folder of its processes. */
  folder: string;
  /** Of a database of its own. */
  postgresUrl: string;
  redisUrl: string;
  mysqlUrl: string;
}

export interface Way {
  name: string;
  programs: Program[];
  /** Once the processes run, before anything is delivered. */
  prepare?(stores: Stores, orders: Order[]): void | Promise<void>;
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
    name: 'pg-boss',
    programs: roles(example('pg-boss.ts')),
    books: async ({ postgresUrl }) => {
      const left = await jobsOfPgBoss(postgresUrl); // first: what is done meanwhile is in both
      return { ...(await postgresBooks(postgresUrl)), left };
    },
  },
  {
    name: 'bullmq',
    programs: roles(example('bullmq.ts')),
    books: async ({ postgresUrl, redisUrl }) => {
      const left = await jobsOfBullmq(redisUrl);
      return { ...(await postgresBooks(postgresUrl)), left };
    },
  },
  {
    name: 'mysql',
    programs: roles(example('mysql.ts')),
    books: async ({ mysqlUrl }) => mysqlBooks(mysqlUrl),
  },
  {
    name: 'outbox with pg-boss',
    programs: twice({ file: example('outbox/pg-boss.ts'), web: true }),
    books: ({ postgresUrl }) =>
      outboxBooks(postgresUrl, "SELECT data->>'orderId' AS id FROM pgboss.job WHERE name = 'email'"),
  },
  {
    name: 'outbox with graphile-worker',
    programs: twice({ file: example('outbox/graphile-worker.ts'), web: true }),
    // It deletes the jobs that are done.
    prepare: async ({ postgresUrl }) => {
      await rows(
        postgresUrl,
        `CREATE TABLE enqueued (id text NOT NULL);
         CREATE FUNCTION note_job() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN INSERT INTO public.enqueued VALUES (NEW.payload->>'orderId'); RETURN NULL; END $$;
         CREATE TRIGGER note_job AFTER INSERT ON graphile_worker._private_jobs FOR EACH ROW EXECUTE FUNCTION note_job()`,
      );
    },
    books: ({ postgresUrl }) => outboxBooks(postgresUrl, 'SELECT id FROM enqueued'),
  },
];

/** Handlers that store nothing, for comparison. */
export const plain = { before: plainHandler('before'), after: plainHandler('after') };

function plainHandler(fulfils: 'before' | 'after'): Way {
  const file = new URL('plain-handler.ts', import.meta.url).pathname;
  return {
    name: `plain handler that fulfils ${fulfils} it responds`,
    programs: twice({ file, args: [fulfils], web: true }),
    books: async ({ postgresUrl }) => ({ ...(await postgresBooks(postgresUrl)), left: [] }),
  };
}

async function postgresBooks(url: string): Promise<Omit<Books, 'left'>> {
  const orders = await rows(url, 'SELECT order_id AS id, (amount * 100)::int AS cents FROM fulfilments');
  const [takings] = await rows(url, 'SELECT coalesce(sum(amount) * 100, 0)::int AS cents FROM takings');
  return { fulfilled: orders.map(({ id, cents }) => ({ id, cents })), takenCents: takings.cents };
}

/** Counts an order as fulfilled if its e-mail was enqueued: one for each order that is paid. */
async function outboxBooks(url: string, enqueued: string): Promise<Books> {
  const pool = new Pool({ connectionString: url });
  const inbox = openInbox({ pool, secret: 'of nobody', work: false });
  const states = ['pending', 'running', 'parked'] as const;
  const entries = await Promise.all(states.map((state) => inbox.list({ state, limit: 1000 })));
  await inbox.close();
  await pool.end();
  const emails = await rows(
    url,
    `SELECT email.id, (paid.amount * 100)::int AS cents FROM (${enqueued}) email LEFT JOIN paid ON paid.order_id = email.id`,
  );
  const [paid] = await rows(url, 'SELECT coalesce(sum(amount) * 100, 0)::int AS cents FROM paid');
  return {
    fulfilled: emails.map(({ id, cents }) => ({ id, cents })),
    takenCents: paid.cents,
    left: entries.flat().map(({ event }) => JSON.stringify(event)),
  };
}

async function jobsOfPgBoss(url: string): Promise<string[]> {
  const parked = "name = 'order.paid.parked' OR state < 'completed'";
  return (await rows(url, `SELECT data->>'rawBody' AS body FROM pgboss.job WHERE ${parked}`)).map(
    ({ body }) => body,
  );
}

async function jobsOfBullmq(url: string): Promise<string[]> {
  const client = createClient({ url });
  const queue = new Queue('order-paid', { connection: createNodeRedisClient(client) });
  const jobs = await queue.getJobs(['waiting', 'active', 'delayed', 'prioritized', 'failed']);
  await queue.close();
  await client.close();
  return jobs.flatMap((job) => job?.data.rawBody ?? []);
}

async function mysqlBooks(uri: string): Promise<Books> {
  const connection = await createConnection(uri);
  const select = async (sql: string) => (await connection.query<RowDataPacket[]>(sql))[0];
  const left = await select("SELECT delivery FROM webhook_inbox WHERE state <> 'done'");
  const orders = await select(
    'SELECT CONVERT(order_id USING utf8mb4) AS id, ROUND(amount * 100) AS cents FROM fulfilments',
  );
  const [takings] = await select('SELECT COALESCE(ROUND(SUM(amount) * 100), 0) AS cents FROM takings');
  await connection.end();
  return {
    fulfilled: orders.map(({ id, cents }) => ({ id: String(id), cents: Number(cents) })),
    takenCents: Number(takings?.cents),
    left: left.map(({ delivery }) => JSON.parse(String(delivery)).rawBody),
  };
}

async function rows(url: string, sql: string) {
  const client = new Client({ connectionString: url });
  await client.connect();
  const result = await client.query(sql);
  await client.end();
  return result.rows;
}
