// Parked deliveries in the engines that a shop runs already: `parked` lists them, and `retry` runs them again.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createNodeRedisClient, Queue } from 'bullmq';
import { type Delivery, type SignatureScheme, sign } from 'merchant-payments/webhooks';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { Client } from 'pg';
import { createClient } from 'redis';
import type { Program } from '../../src/crash-test/program.js';
import { type Server, startMariadb, startPostgres, startRedis } from '../lib/servers.js';
import { secret, startShop } from './shop.js';

let redis: Server;
let postgres: Server;
let database: Client;
let shop: Program | undefined;

before(async () => {
  redis = await startRedis();
  postgres = await startPostgres();
  database = new Client({ connectionString: postgres.url });
  await database.connect();
});
after(async () => {
  await shop?.stop();
  await database.end();
  await Promise.all([redis.stop(), postgres.stop()]);
});
beforeEach(async () => {
  await shop?.stop();
  await database.query('DROP TABLE IF EXISTS fulfilments, takings');
});

test('pg-boss: an event that cannot be read is parked, shown, and tried again on request', async () => {
  await open('pg-boss.ts');
  assert.equal(await deliver({ order_id: 'ord_1', amount: '10.00', currency: 'USD' }), 200);
  assert.equal(await deliver({ order_id: 'ord_2', amount: '19,90', currency: 'USD' }), 200);
  await waitUntil(async () => (await listFulfilled()).length === 1);
  assert.match(await run('pg-boss.ts', 'parked'), /19,90.*data\.amount: expected a decimal amount/s);
  assert.equal(await run('pg-boss.ts', 'retry'), 'To be tried again: 1\n');
  assert.equal(await run('pg-boss.ts', 'parked'), '');
  const { rows } = await database.query(
    `SELECT data->>'rawBody' AS body FROM pgboss.job WHERE name = 'order.paid' AND state < 'completed'`,
  );
  assert.deepEqual(
    rows.map(({ body }) => JSON.parse(body).data.order_id),
    ['ord_2'],
  );
});

test('pg-boss: what an older version could not read is fulfilled on retry', async () => {
  await open('pg-boss.ts');
  assert.equal(await deliver({ order_id: 'ord_3', amount: '30,00', currency: 'USD' }), 200);
  const change = `UPDATE pgboss.job SET data = data || $1 WHERE name = 'order.paid.parked'`;
  assert.equal(
    (await database.query(change, [buildDelivery({ order_id: 'ord_3', amount: '30.00', currency: 'USD' })]))
      .rowCount,
    1,
  );
  await run('pg-boss.ts', 'retry');
  await waitUntil(async () => (await listFulfilled()).includes('ord_3 30.00'));
});

test('BullMQ: what cannot be read is parked with the reason, and fulfilled on retry by a version that can', async () => {
  await open('bullmq.ts');
  assert.equal(await deliver({ order_id: 'ord_3', amount: '30,00', currency: 'USD' }), 200);
  const shown = /30,00.*data\.amount: expected a decimal amount/;
  await waitUntil(async () => shown.test(await run('bullmq.ts', 'parked')));
  const client = createClient({ url: redis.url });
  const queue = new Queue<Delivery>('order-paid', { connection: createNodeRedisClient(client) });
  const [job] = await queue.getFailed();
  await job?.updateData({
    ...job.data,
    ...buildDelivery({ order_id: 'ord_3', amount: '30.00', currency: 'USD' }),
  });
  await queue.close();
  await client.close();
  await run('bullmq.ts', 'retry');
  await waitUntil(async () => (await listFulfilled()).includes('ord_3 30.00'));
});

test('BullMQ: one order with another amount is parked, shown, and fulfilled once a person has decided', async () => {
  await open('bullmq.ts');
  assert.equal(await deliver({ order_id: 'ord_1', amount: '10.00', currency: 'USD' }), 200);
  await waitUntil(async () => (await listFulfilled()).length === 1);
  assert.equal(await deliver({ order_id: 'ord_1', amount: '12.00', currency: 'USD' }), 200);
  await waitUntil(async () =>
    /ord_1.*with another amount than 12\.00 USD/.test(await run('bullmq.ts', 'parked')),
  );
  assert.deepEqual(await listFulfilled(), ['ord_1 10.00']);

  await database.query('DELETE FROM fulfilments'); // the person decides that the first amount was wrong
  await run('bullmq.ts', 'retry');
  await waitUntil(async () => (await listFulfilled()).length === 1);
  assert.deepEqual(await listFulfilled(), ['ord_1 12.00']);
  assert.equal(await run('bullmq.ts', 'parked'), '');
});

test('MySQL: what another scheme signed is kept, and fulfilled once the scheme is known; what cannot be read is parked', async () => {
  const mysql = await startMariadb('shop');
  try {
    const scheme = { encoding: 'base64' } as const;
    await open('mysql.ts', mysql);
    assert.equal(await deliver({ order_id: 'ord_1', amount: '10.00', currency: 'USD' }, scheme), 400);
    assert.equal(await deliver({ order_id: 'ord_2', amount: '19,90', currency: 'USD' }), 200);
    assert.match(await run('mysql.ts', 'parked', mysql), /19,90.*data\.amount: expected a decimal amount/);
    assert.equal(await run('mysql.ts', 'recover', mysql), 'Recovered: 0\n');
    assert.equal(await run('mysql.ts', 'recover', mysql, JSON.stringify(scheme)), 'Recovered: 1\n');
    assert.equal(await run('mysql.ts', 'retry', mysql), 'To be tried again: 1\n');
    const connection = await createConnection(`${mysql.url}/shop`);
    await waitUntil(async () => {
      const [rows] = await connection.query<RowDataPacket[]>(
        'SELECT CAST(order_id AS CHAR) AS id FROM fulfilments',
      );
      return rows.length === 1 && rows[0]?.id === 'ord_1';
    });
    await connection.end();
  } finally {
    await shop?.stop();
    await mysql.stop();
  }
});

const file = (example: string) => new URL(`../.examples/fulfilment/${example}`, import.meta.url).pathname;
const env = (mysql?: Server) => ({
  ...process.env,
  MYSQL_URL: `${mysql?.url}/shop`,
  DATABASE_URL: postgres.url,
  REDIS_URL: redis.url,
  PAYMENTS_WEBHOOK_SECRET: secret,
});

async function open(example: string, mysql?: Server): Promise<void> {
  shop = await startShop(file(example), tmpdir(), env(mysql));
}

/** Runs the program in one of its modes until it ends by itself, and returns its output. */
async function run(example: string, mode: string, mysql?: Server, ...more: string[]): Promise<string> {
  const options = { env: env(mysql), timeout: 60_000 };
  return (await promisify(execFile)(process.execPath, [file(example), mode, ...more], options)).stdout;
}

/** Builds a stored delivery of this event, which the version that stored it could not read. */
function buildDelivery(data: object): Pick<Delivery, 'rawBody' | 'headers'> {
  const rawBody = JSON.stringify({ type: 'order.paid', data });
  return { rawBody, headers: { ...sign({ rawBody, secret }) } };
}

async function deliver(data: object, scheme?: Partial<SignatureScheme>): Promise<number> {
  const { rawBody } = buildDelivery(data);
  const headers = { ...sign({ rawBody, secret, scheme }) };
  return (await fetch(shop?.url ?? '', { method: 'POST', body: rawBody, headers })).status;
}

async function listFulfilled(): Promise<string[]> {
  const { rows } = await database.query('SELECT order_id, amount FROM fulfilments ORDER BY order_id');
  return rows.map(({ order_id, amount }) => `${order_id} ${amount}`);
}

async function waitUntil(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    assert.ok(tries < 300, 'waited for 30 s');
    await wait(100);
  }
}
