// The database goes away for a moment: a failover, a restart, connections that were cut or forgotten, no free slot. No delivery
// is refused for that, and what the functions of the shop do with its pool keeps none out.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, afterEach, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { openInbox } from 'merchant-payments/inbox';
import { sign } from 'merchant-payments/webhooks';
import { Client, Pool } from 'pg';
import { type Postgres, startPgBouncer, startPostgres } from '../lib/servers.js';
import { type Cutter, startCutter } from './chaos/cutter.js';
import { newDatabase, openShop, post, type Shop, secret, sql } from './database.js';

let postgres: Postgres;
const shops: Shop[] = [];
const cutters: Cutter[] = [];

before(async () => {
  postgres = await startPostgres();
});
afterEach(async () => {
  await Promise.all(shops.splice(0).map((shop) => shop.close()));
  for (const cutter of cutters.splice(0)) cutter.stop();
});
after(() => postgres?.stop());

function open(...given: Parameters<typeof openShop>): Shop {
  const shop = openShop(...given);
  shops.push(shop);
  return shop;
}

async function newCutter(url: string): Promise<Cutter> {
  const cutter = await startCutter(url);
  cutters.push(cutter);
  return cutter;
}

/** Sends deliveries at a steady pace; resolves to what each got. */
async function deliver(shop: Shop, name: string, count: number, everyMs: number): Promise<number[]> {
  const sent: Promise<number>[] = [];
  for (let number = 0; number < count; number++) {
    sent.push(shop.post(`${name}_${number}`));
    await wait(everyMs);
  }
  return Promise.all(sent);
}

async function measure<Result>(work: Promise<Result>): Promise<[result: Result, seconds: number]> {
  const startedAt = performance.now();
  return [await work, (performance.now() - startedAt) / 1000];
}

/** Leads the name of the writer to the reader for five seconds, and sends deliveries before, meanwhile and after: each gets 200. */
async function failOver(shop: Shop, cutter: Cutter, standby: Postgres): Promise<void> {
  assert.equal(await shop.post('before'), 200);
  cutter.leadTo(standby.url);
  cutter.cutAll();
  const meanwhile = deliver(shop, 'meanwhile', 10, 500);
  await wait(5000);
  cutter.leadTo(postgres.url);
  assert.deepEqual(new Set(await meanwhile), new Set([200]));
  assert.deepEqual(new Set(await deliver(shop, 'after', 20, 50)), new Set([200]));
}

test('after a failover, connections to a server that is now read-only are dropped, and no delivery is refused', async () => {
  const standby = await startPostgres(postgres);
  try {
    const cutter = await newCutter(postgres.url);
    const shop = open(cutter.url, { config: { idleTimeoutMillis: 0 } });
    await failOver(shop, cutter, standby);
    await shop.inbox.idle();
    assert.equal((await shop.inbox.stats()).done, 31);
    await shop.close();
  } finally {
    await standby.stop();
  }
});

test('after a failover behind PgBouncer that checks its connections, no delivery is refused', async () => {
  const standby = await startPostgres(postgres);
  const cutter = await newCutter(postgres.url);
  const bouncer = await startPgBouncer(cutter.url);
  try {
    const shop = open(bouncer.url, { work: false });
    await failOver(shop, cutter, standby);
    await shop.close();
  } finally {
    await bouncer.stop();
    await standby.stop();
  }
});

test('a restart of the server refuses no delivery', async () => {
  const shop = open(await newDatabase(postgres.url));
  await shop.post('warm');
  const sending = deliver(shop, 'ord', 60, 50);
  await wait(500);
  await postgres.restart();
  assert.deepEqual(new Set(await sending), new Set([200]));
  await shop.inbox.idle();
  assert.equal((await shop.inbox.stats()).done, 61);
});

test('a server that stands still for five seconds refuses no delivery', async () => {
  const shop = open(await newDatabase(postgres.url), { work: false });
  await shop.post('warm');
  const goOn = postgres.freeze();
  const sending = deliver(shop, 'ord', 10, 100);
  await wait(5000);
  goOn();
  assert.deepEqual(new Set(await sending), new Set([200]));
});

test('connections that were cut while the process was frozen refuse no delivery', async () => {
  const url = await newDatabase(postgres.url);
  const program = `
    import { createServer } from 'node:http';
    import { openInbox } from 'merchant-payments/inbox';
    import pg from 'pg';
    const pool = new pg.Pool({ connectionString: process.env.URL, idleTimeoutMillis: 0 });
    const inbox = openInbox({ pool, secret: '${secret}', work: false });
    createServer(inbox.nodeHandler).listen(0, '127.0.0.1', function () { console.log(this.address().port); });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, URL: url },
  });
  try {
    const [port] = await once(child.stdout, 'data');
    const post = async (order_id: string) => {
      const body = JSON.stringify({
        type: 'order.paid',
        data: { order_id, amount: '1.00', currency: 'USD' },
      });
      const headers = sign({ rawBody: body, secret });
      return (await fetch(`http://127.0.0.1:${Number(port)}/`, { method: 'POST', body, headers })).status;
    };
    assert.equal(await post('warm'), 200);
    for (let round = 0; round < 6; round++) {
      child.kill('SIGSTOP');
      const response = post(`ord_${round}`);
      await wait(100);
      const database = new URL(url).pathname.slice(1);
      await sql(
        postgres.url,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`,
      );
      await wait(50);
      child.kill('SIGCONT');
      assert.equal(await response, 200);
    }
  } finally {
    child.kill('SIGKILL');
  }
});

test('connections that a NAT has forgotten, however many, cost the first delivery less than four seconds', async () => {
  for (const work of [false, true]) {
    const cutter = await newCutter(await newDatabase(postgres.url));
    const shop = open(cutter.url, { work, config: { idleTimeoutMillis: 0, max: 10 } });
    await Promise.all(Array.from({ length: 10 }, (_, number) => shop.post(`warm_${number}`)));
    // A NAT forgets what is idle: a response that is on its way at that time would make its connection look good.
    if (work) await shop.inbox.idle();
    await shop.inbox.stats();
    cutter.forget();
    const [status, seconds] = await measure(shop.post('first'));
    assert.equal(status, 200);
    assert.ok(seconds < 4, `${seconds} s`);
    for (let number = 0; number < 5; number++) {
      const [next, took] = await measure(shop.post(`next_${number}`));
      assert.equal(next, 200);
      assert.ok(took < 2, `${took} s`);
    }
  }
});

test('many deliveries at once on forgotten connections get 200 within eight seconds', async () => {
  const cutter = await newCutter(await newDatabase(postgres.url));
  const shop = open(cutter.url, { work: false, config: { idleTimeoutMillis: 0, max: 3 } });
  await Promise.all(['x', 'y', 'z'].map((id) => shop.post(id)));
  cutter.forget();
  const [statuses, seconds] = await measure(
    Promise.all(Array.from({ length: 20 }, (_, number) => shop.post(`ord_${number}`))),
  );
  assert.deepEqual(new Set(statuses), new Set([200]));
  assert.ok(seconds < 8, `${seconds} s`);
});

test('a connection that is forgotten while an inbox looks for its tables refuses no delivery', async () => {
  const url = await newDatabase(postgres.url);
  assert.equal(await open(url).post('first'), 200);
  for (const statement of ['to_regclass', 'FROM "payments_inbox"."payments_inbox_version"', 'WHERE false']) {
    const cutter = await newCutter(url);
    cutter.arm('silently', statement, true);
    assert.equal(await open(cutter.url, { work: false }).post(statement), 200);
  }
});

test('forgotten connections on which the inbox settles and gives back deliveries leave one for storing', async () => {
  const url = await newDatabase(postgres.url);
  const web = open(url, { work: false });
  for (let number = 0; number < 8; number++) await web.post(`ord_${number}`);
  const cutter = await newCutter(url);
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const shop = open(cutter.url, { config: { max: 3 }, on: { 'order.paid': () => finished } });
  while ((await web.inbox.stats()).running < 8) await wait(20);
  await Promise.all([1, 2, 3].map(() => shop.inbox.stats()));
  cutter.forget();
  finish();
  await wait(1500);
  assert.equal(await shop.post('ord_late'), 200);
});

test('a pool without a free connection for half a second refuses no delivery', async () => {
  const url = await newDatabase(postgres.url);
  const role = `slots_${process.pid}`;
  await sql(url, `CREATE ROLE ${role} LOGIN CONNECTION LIMIT 3; CREATE SCHEMA theirs AUTHORIZATION ${role}`);
  const theirs = url.replace('postgres@', `${role}@`);
  const taken = await Promise.all(
    [1, 2, 3].map(async () => {
      const client = new Client({ connectionString: theirs });
      await client.connect();
      return client;
    }),
  );
  const shop = open(theirs, { schema: 'theirs', work: false });
  setTimeout(() => void Promise.all(taken.map((client) => client.end())), 500);
  assert.deepEqual(new Set(await deliver(shop, 'ord', 8, 50)), new Set([200]));
});

test('missing rights and a wrong database name fail at once, without eight seconds of retries', async () => {
  const url = await newDatabase(postgres.url);
  const shop = open(url.replace(/[^/]*$/, 'no_such_database'), { work: false });
  const [status, seconds] = await measure(shop.post('ord_1'));
  assert.equal(status, 500);
  assert.ok(seconds < 4, `${seconds} s`);
});

for (const [name, max, fn] of [
  ['a slow commit()', 4, (tx) => tx.query('SELECT pg_sleep(6)')],
  ['a query through the pool inside commit()', 4, (_, pool) => pool.query('SELECT 1')],
  [
    'many queries through the pool inside commit()',
    2,
    (_, pool) => Promise.all(Array.from({ length: 5 }, () => pool.query('SELECT 1'))),
  ],
  ['a query through the only connection inside commit()', 1, (_, pool) => pool.query('SELECT 1')],
] as [
  string,
  number,
  (tx: { query(text: string): PromiseLike<unknown> }, pool: Pool) => PromiseLike<unknown>,
][]) {
  test(`functions cannot take every connection of a pool of ${max}: ${name}`, async (context) => {
    const warn = context.mock.method(console, 'warn', () => {});
    const shop = open(await newDatabase(postgres.url), {
      config: { max },
      concurrency: 4,
      on: { 'order.paid': (_event, { commit }) => commit((tx) => fn(tx, shop.pool)) },
    });
    const first = await deliver(shop, 'first', 6, 20);
    await wait(300);
    const later = await Promise.all(['x', 'y'].map((id) => shop.post(id)));
    assert.deepEqual([...first, ...later], Array(8).fill(200));
    assert.equal(warn.mock.callCount(), 1);
    const most = Math.max(1, max - 1);
    assert.match(
      String(warn.mock.calls[0]?.arguments[0]),
      new RegExp(`works on ${most} at once, not on 4 \\(concurrency\\)`),
    );
  });
}

test('a flood of refused deliveries takes one connection', async () => {
  const url = await newDatabase(postgres.url);
  const shop = open(url, { work: false, keepRefused: 100 });
  await shop.inbox.stats();
  let inUse = 0;
  let most = 0;
  shop.pool.on('acquire', () => (most = Math.max(most, ++inUse)));
  shop.pool.on('release', () => inUse--);
  const sendForged = (_: unknown, number: number) => {
    const headers = sign({ rawBody: 'x', secret });
    const body = `{"number":${number}}`;
    return shop.inbox.handler(new Request('https://shop.example', { method: 'POST', body, headers }));
  };
  const responses = await Promise.all(Array.from({ length: 500 }, sendForged));
  assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([400]));
  assert.equal(most, 1);
  assert.equal((await shop.inbox.stats()).refused, 100);
});

for (const way of ['before', 'after'] as const) {
  test(`a delivery whose connection breaks ${way} the server has stored it gets 200, and is stored once`, async () => {
    const cutter = await newCutter(await newDatabase(postgres.url));
    const shop = open(cutter.url);
    await shop.inbox.stats();
    cutter.arm(way, 'payments_inbox_content', true);
    assert.equal(await shop.post('ord_1'), 200);
    assert.equal(cutter.cuts(), 1);
    await shop.inbox.idle();
    const [entry] = await shop.inbox.list();
    assert.deepEqual([entry?.state, entry?.attempts], ['done', 1]);
  });
}

test('a delivery whose claim lost its response is worked on before the lease ends, as its first attempt', async () => {
  const cutter = await newCutter(await newDatabase(postgres.url));
  const attempts: number[] = [];
  const shop = open(cutter.url, {
    on: { 'order.paid': (_event, { attempt }) => void attempts.push(attempt) },
  });
  await shop.inbox.stats();
  cutter.arm('after', 'AS MATERIALIZED', true);
  assert.equal(await shop.post('ord_1'), 200);
  for (let tries = 0; tries < 100 && attempts.length === 0; tries++) await wait(50);
  assert.deepEqual([attempts, cutter.cuts()], [[1], 1]);
});

test('a delivery that was claimed ahead of slow functions is given back with all of its retries', async () => {
  const url = await newDatabase(postgres.url);
  const web = open(url, { work: false });
  for (let number = 0; number < 30; number++) await web.post(`ord_${number}`);
  let isSlow = false;
  const attempts: number[] = [];
  const slow = open(url, {
    concurrency: 2,
    on: {
      'order.paid': async (_event, { attempt, signal }) => {
        attempts.push(attempt);
        isSlow ||= attempts.length > 6;
        if (isSlow) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    },
  });
  for (let tries = 0; tries < 100 && !isSlow; tries++) await wait(20);
  await wait(1500);
  assert.equal((await web.inbox.stats()).running, 2);
  const other = open(url, { on: { 'order.paid': (_event, { attempt }) => void attempts.push(attempt) } });
  for (let tries = 0; tries < 100 && (await web.inbox.stats()).done < 28; tries++) await wait(50);
  await slow.close();
  await other.inbox.idle();
  assert.equal((await web.inbox.stats()).done, 30);
  assert.deepEqual(attempts.filter((attempt) => attempt > 1).length, 2, 'those that close() aborted');
});

test('pool.end() without inbox.close() ends the work with one line, and the process ends', async () => {
  const url = await newDatabase(postgres.url);
  const program = `
    import { createServer } from 'node:http';
    import { setTimeout as wait } from 'node:timers/promises';
    import { openInbox } from 'merchant-payments/inbox';
    import pg from 'pg';
    const pool = new pg.Pool({ connectionString: process.env.URL });
    const inbox = openInbox({ pool, secret: '${secret}', onError: (error) => console.log('onError', error.message),
      on: { 'order.paid': () => wait(1000) } });
    await inbox.stats();
    if (process.env.SLOW) {
      const event = { type: 'order.paid', data: { order_id: 'x', amount: '1.00', currency: 'USD' } };
      await inbox.accept({ key: 'order.paid:x', event, rawBody: '', headers: {}, receivedAt: new Date().toISOString() });
      await wait(300);
    }
    const server = createServer(inbox.nodeHandler).listen(0, '127.0.0.1', () => console.log('up'));
    process.on('SIGTERM', async () => { server.close(); await pool.end(); });`;
  for (const SLOW of ['', 'slow']) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      env: { ...process.env, URL: url, SLOW },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    while (!output.includes('up')) await wait(20);
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
    const [code] = await once(child, 'exit');
    clearTimeout(timer);
    assert.equal(code, 0, output);
    assert.equal(output.match(/merchant-payments: the pool of the inbox was ended/g)?.length, 1, output);
    assert.equal(output.match(/onError/g)?.length ?? 0, SLOW ? 1 : 0, output);
  }
});

test('a pool of another driver, with query() and connect() alone, is enough', async () => {
  const url = await newDatabase(postgres.url);
  const real = new Pool({ connectionString: url });
  // end() resolves before its connections are closed, and the server that stops after the last test may be faster.
  real.on('error', () => {});
  const connect = async () => {
    const client = await real.connect();
    return {
      query: (text: string, values?: unknown[]) => client.query(text, values),
      release: (error?: Error) => client.release(error),
    };
  };
  const shaped = { connect, query: (text: string) => real.query(text) };
  const paid: string[] = [];
  const inbox = openInbox({
    pool: shaped,
    secret,
    on: {
      'order.paid': ({ data }, { commit }) =>
        commit(async (tx) => void paid.push(`${data.order_id} ${(await tx.query('SELECT 1')).rows.length}`)),
    },
  });
  assert.equal(await post(inbox, 'ord_1', '1.00'), 200);
  await inbox.idle();
  assert.deepEqual(paid, ['ord_1 1']);
  await inbox.close();
  await real.end();
});
