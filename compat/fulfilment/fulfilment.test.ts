// Every way to fulfil, under kill -9: FULFILMENT_ORDERS paid orders (400) from a service that never sends again, one in ten delivered
// twice and one in fifty three times at once, forged, contradicting and unreadable ones among them, while web and worker
// processes are killed 3 times and deployed 0.6 times for every hundred.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createSandbox, type Sandbox } from 'merchant-payments/sandbox';
import { Client } from 'pg';
import { type Server, startMariadb, startPostgres, startRedis } from '../lib/servers.js';
import { delayed } from './delay.js';
import { makePlan, scale } from './plan.js';
import { ShopProcess } from './processes.js';
import { secret, send } from './sender.js';
import { judge, type Verdict } from './verdict.js';
import { durable, plain, type Stores, type Way } from './ways.js';

const seed = Number(process.env.FULFILMENT_SEED ?? Math.floor(Math.random() * 1e6));
if (!Number.isSafeInteger(seed)) throw new Error('FULFILMENT_SEED must be an integer.');
const folder = mkdtempSync(join(tmpdir(), 'fulfilment-'));
let sandbox: Sandbox;
let redis: Server;
let postgres: Server;
let mariadb: Server;
let databases = 0;

before(async () => {
  console.log(`Seed ${seed}. To repeat this run: FULFILMENT_SEED=${seed} npm run compat fulfilment`);
  sandbox = await createSandbox().listen(); // sells the products of the shop; this suite sends the webhooks
  redis = await startRedis({ durable: true });
  postgres = await startPostgres();
  mariadb = await startMariadb('shop');
});
after(async () => {
  await Promise.all([redis?.stop(), postgres?.stop(), mariadb?.stop(), sandbox?.close()]);
  rmSync(folder, { recursive: true, force: true });
});

for (const way of durable) {
  test(`${way.name}: every order answered 200 is fulfilled exactly once`, async () => {
    const verdict = await run(way, 180_000);
    assert.ok(verdict.accepted > scale.orders / 2, `only ${verdict.accepted} orders were answered 200`);
    assert.deepEqual(faults(verdict), []);
  });
}

test('a handler that fulfils before it responds, without a unique key, fulfils some orders more than once', async () => {
  const { repeated } = await run(plain.before, 1_000);
  assert.ok(repeated.length > 0);
});

test('a handler that responds before it fulfils loses orders that it answered 200', async () => {
  const { lost } = await run(plain.after, 1_000);
  assert.ok(lost.length > 0);
});

function faults(verdict: Verdict): string[] {
  const { lost, pending, repeated, unpaid, forgedTaken, takingsWrong } = verdict;
  return [
    ...lost.map((id) => `${id} was answered 200 and is lost`),
    ...(pending > 0 ? [`${pending} are stored and not fulfilled`] : []),
    ...repeated.map((id) => `${id} was fulfilled more than once`),
    ...unpaid.map((id) => `${id} was fulfilled and never paid`),
    ...forgedTaken.map((id) => `${id} was forged and not answered 400`),
    ...(takingsWrong ? ['the takings are not the sum of the orders'] : []),
  ];
}

/** Waits until nothing is pending, at most for as long as told. */
async function run(way: Way, patienceMs: number): Promise<Verdict> {
  const stores: Stores = {
    folder: mkdtempSync(join(folder, 'run-')),
    postgresUrl: await newDatabase(),
    redisUrl: redis.url,
    mysqlUrl: `${mariadb.url}/shop`,
  };
  const through = await Promise.all([delayed(stores.postgresUrl, 2), delayed(stores.redisUrl, 2)]);
  const [{ url: postgresUrl }, { url: redisUrl }] = through;
  const env = {
    ...process.env,
    PAYMENTS_API_KEY: sandbox.apiKey,
    PAYMENTS_BASE_URL: sandbox.url,
    PAYMENTS_WEBHOOK_SECRET: secret,
    DATABASE_URL: postgresUrl,
    REDIS_URL: redisUrl,
    MYSQL_URL: stores.mysqlUrl,
    NOTICE_SECONDS: '5',
    LOCK_MS: '5000',
  };
  const shop: ShopProcess[] = [];
  try {
    for (const program of way.programs) {
      const one = await ShopProcess.start(program, stores.folder, env);
      shop.push(one);
      await one.untilReady();
    }
    const plan = makePlan(seed);
    await way.prepare?.(stores, [...plan.paid, ...plan.conflicts]);
    const startedAt = performance.now();
    const replies = await send(plan, shop);
    const sentAt = performance.now();
    let verdict: Verdict;
    for (;;) {
      const books = await way.books(stores);
      verdict = judge(plan, replies, books);
      if (verdict.lost.length === 0 && verdict.pending === 0) break;
      if (performance.now() - sentAt > patienceMs) break;
      await wait(200);
    }
    const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
    console.log(
      `${way.name}: sent in ${seconds(sentAt - startedAt)}, settled in ${seconds(performance.now() - sentAt)}; ` +
        `${verdict.accepted} answered 200, ${verdict.fulfilled} fulfilled, ${verdict.lost.length} lost after a 200, ` +
        `${verdict.repeated.length} more than once, ${verdict.neverAccepted.length} never accepted; ` +
        `${verdict.parked} parked; kills ${shop.map(({ kills }) => kills).join('+')}, ` +
        `deploys ${shop.map(({ deploys }) => deploys).join('+')}; replies ${JSON.stringify(tally([...replies.values()].flat()))}`,
    );
    return verdict;
  } finally {
    await Promise.all(shop.map((one) => one.stop()));
    for (const { stop } of through) stop();
  }
}

function tally(values: (string | number)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

async function newDatabase(): Promise<string> {
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  const name = `run_${++databases}`;
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return postgres.url.replace(/[^/]*$/, name);
}
