// The inbox on PostgreSQL alone: settings of the shop's database, roles, broken connections, done().
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { after, afterEach, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openOrderBook, type PostgresClient } from 'merchant-payments/inbox';
import { type Postgres, startPostgres } from '../lib/servers.js';
import { startCutter } from './chaos/cutter.js';
import { newDatabase, openShop, type Shop, sql } from './database.js';

let postgres: Postgres;
const shops: Shop[] = [];

before(async () => {
  postgres = await startPostgres();
});
afterEach(async () => {
  await Promise.all(shops.splice(0).map((shop) => shop.close()));
});
after(() => postgres?.stop());

function open(...given: Parameters<typeof openShop>): Shop {
  const shop = openShop(...given);
  shops.push(shop);
  return shop;
}

async function newShopDatabase(): Promise<string> {
  const url = await newDatabase(postgres.url);
  await sql(url, 'CREATE TABLE paid (order_id text)');
  return url;
}

const insertPaid = (client: PostgresClient, id: string) => client.query('INSERT INTO paid VALUES ($1)', [id]);
const listPaid = async (url: string) =>
  (await sql(url, 'SELECT order_id FROM paid ORDER BY 1')).map(({ order_id }) => order_id);
async function waitUntilDone({ inbox }: Shop, count = 1): Promise<void> {
  for (let tries = 0; tries < 200 && (await inbox.stats()).done < count; tries++) await wait(50);
  await inbox.idle();
}

const changeSettings = (url: string, text: string) =>
  sql(url, text.replaceAll('$db', new URL(url).pathname.slice(1)));

test('the shop may run its database SERIALIZABLE, read-only by default, and without waiting for the disk', async () => {
  const url = await newShopDatabase();
  await changeSettings(
    url,
    `ALTER DATABASE $db SET default_transaction_isolation = 'serializable';
     ALTER DATABASE $db SET default_transaction_read_only = on; ALTER DATABASE $db SET synchronous_commit = off`,
  );
  const seen: unknown[] = [];
  const shops = [0, 1].map(() =>
    open(url, {
      leaseMs: 300,
      retries: Array.from({ length: 20 }, () => '20ms' as const),
      on: {
        'order.paid': ({ data }, { commit }) =>
          commit(async (tx) => {
            seen.push((await tx.query('SHOW transaction_isolation')).rows);
            await insertPaid(tx, data.order_id);
          }),
      },
    }),
  );
  const ids = Array.from({ length: 30 }, (_, number) => `ord_${number + 10}`);
  const statuses = await Promise.all(ids.flatMap((id) => shops.map((shop) => shop.post(id))));
  assert.deepEqual(new Set(statuses), new Set([200]));
  // Two transactions may conflict: then one of them is retried.
  await waitUntilDone(shops[0] ?? assert.fail(), ids.length);
  assert.deepEqual(await listPaid(url), ids);
  assert.deepEqual(seen[0], [{ transaction_isolation: 'serializable' }], 'commit() is as the shop wants it');
});

test('a duplicate and a conflict wait for no commit() that runs, and force takes a delivery out of it', async () => {
  const url = await newShopDatabase();
  let attempts = 0;
  const shop = open(url, {
    on: {
      'order.paid': (_, { commit }) =>
        commit(async (tx) => {
          await insertPaid(tx, 'ord_1');
          if (attempts++ === 0) await new Promise(() => {});
        }),
    },
  });
  assert.equal(await shop.post('ord_1'), 200);
  for (let tries = 0; tries < 200 && attempts === 0; tries++) await wait(20);
  const began = performance.now();
  assert.equal(await shop.post('ord_1'), 200, 'a duplicate');
  assert.equal(await shop.post('ord_1', '90.00'), 200, 'another amount');
  assert.equal((await shop.inbox.list({ state: 'parked' })).length, 1);
  assert.equal(await shop.inbox.retry('order.paid:ord_1', { force: true }), true);
  assert.ok(performance.now() - began < 4000, 'nothing waited for a lock');
  await waitUntilDone(shop);
  assert.deepEqual(await listPaid(url), ['ord_1']);
});

test('force frees the only connection of a pool from the function that holds it', async () => {
  const url = await newShopDatabase();
  let attempts = 0;
  const shop = open(url, {
    config: { max: 1 },
    on: { 'order.paid': (_, { commit }) => commit(() => attempts++ === 0 && new Promise(() => {})) },
  });
  await shop.post('ord_1');
  for (let tries = 0; tries < 200 && attempts === 0; tries++) await wait(20);
  assert.equal(await shop.inbox.retry('order.paid:ord_1', { force: true }), true);
  await waitUntilDone(shop);
  assert.equal(attempts, 2);
});

test('a function that meets a lock of another delivery has failed, and is parked after its retries', async () => {
  const url = await newShopDatabase();
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const shop = open(url, {
    retries: [],
    on: {
      'order.paid': ({ data }, { commit }) =>
        data.order_id === 'ord_1'
          ? commit(() => finished)
          : open(url, { work: false }).inbox.retry('order.paid:ord_1', { force: true }),
    },
  });
  await shop.post('ord_1');
  await shop.post('ord_2');
  for (let tries = 0; tries < 400 && (await shop.inbox.stats()).parked === 0; tries++) await wait(50);
  const [parked] = await shop.inbox.list({ state: 'parked' });
  assert.match(String(parked?.lastError), /A transaction holds the delivery/);
  finish();
  await waitUntilDone(shop);
});

test('force by another process, or by the command, says that a transaction holds the delivery', async () => {
  const url = await newShopDatabase();
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let began = false;
  const shop = open(url, {
    on: {
      'order.paid': (_, { commit }) =>
        commit(async (tx) => {
          await insertPaid(tx, 'ord_1');
          began = true;
          await finished;
        }),
    },
  });
  await shop.post('ord_1');
  for (let tries = 0; tries < 200 && !began; tries++) await wait(20);
  const cli = fileURLToPath(new URL('../node_modules/merchant-payments/dist/cli.js', import.meta.url));
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const args = [cli, 'inbox', url, 'retry', 'order.paid:ord_1', '--force'];
  const command = promisify(execFile)(process.execPath, args, { cwd });
  const other = open(url, { work: false });
  await assert.rejects(other.inbox.retry('order.paid:ord_1', { force: true }), {
    code: 'inbox_busy',
    message: /^A transaction holds the delivery: its function is inside commit\(\) or done\(\)\./,
  });
  await assert.rejects(command, {
    code: 1,
    stderr:
      'A transaction holds the delivery: its function is inside commit() or done(). Wait until attemptMs is over, or restart its server.\n',
  });
  finish();
  await waitUntilDone(shop);
  assert.deepEqual(await listPaid(url), ['ord_1']);
});

test('a delivery is on the disk before the 200, even if the database does not wait for the disk', async () => {
  const url = await newShopDatabase();
  await changeSettings(url, 'ALTER DATABASE $db SET synchronous_commit = off');
  const shop = open(url, { work: false });
  await shop.inbox.stats();
  const levels: unknown[] = [];
  const connect = shop.pool.connect.bind(shop.pool);
  Reflect.set(shop.pool, 'connect', async () => {
    const client = await connect();
    const query = client.query.bind(client);
    Reflect.set(client, 'query', async (text: string, values?: unknown[]) => {
      if (!text.includes('stored AS')) return query(text, values);
      const results: unknown = await query(`${text}; SHOW synchronous_commit`);
      assert.ok(Array.isArray(results));
      levels.push(results.pop().rows[0]);
      return results;
    });
    return client;
  });
  assert.equal(await shop.post('ord_1'), 200);
  assert.deepEqual(levels, [{ synchronous_commit: 'on' }]);
});

test('a pool that has ended rejects the first method, and a delivery gets 500', async () => {
  const url = await newShopDatabase();
  const shop = open(url, { work: false });
  await shop.pool.end();
  await assert.rejects(shop.inbox.stats(), /pool after calling end/);
  assert.equal(await shop.post('ord_1'), 500);
  assert.match(String(shop.errors[0]), /pool after calling end/);
});

test('a pool whose connections are all in use is named: it is not the database that does not respond', async () => {
  const url = await newShopDatabase();
  const shop = open(url, { work: false, config: { max: 1 } });
  await shop.inbox.stats();
  const taken = await shop.pool.connect();
  assert.equal(await shop.post('ord_1'), 500);
  taken.release();
  assert.match(String(shop.errors[0]), /The pool gave no connection within 5 s: all of them are in use/);
  assert.equal(await shop.post('ord_1'), 200);
});

test('a database that is down at the start is waited for: 500 until then, and no process ends', async () => {
  const url = await newShopDatabase();
  const down = url.replace(/:\d+\//, ':2/');
  const shop = open(down, {});
  assert.equal(await shop.post('ord_1'), 500);
  shop.pool.options.port = Number(new URL(url).port);
  Reflect.set(shop.pool.options, 'connectionString', url);
  assert.equal(await shop.post('ord_1'), 200);
  await shop.inbox.idle();
  assert.equal((await shop.inbox.stats()).done, 1);
});

test('connections that the server ends do not end the process, although the pool has no listener for errors', async () => {
  const url = await newShopDatabase();
  const shop = open(url);
  await shop.post('ord_1');
  await shop.inbox.idle();
  await sql(url, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
  await wait(100);
  assert.equal(await shop.post('ord_2'), 200);
});

test('an inbox works with a pool of one connection', async () => {
  const url = await newShopDatabase();
  const shop = open(url, {
    config: { max: 1 },
    on: { 'order.paid': ({ data }, { commit }) => commit((tx) => insertPaid(tx, data.order_id)) },
  });
  const ids = Array.from({ length: 20 }, (_, number) => `ord_${number + 10}`);
  assert.deepEqual(await Promise.all(ids.map((id) => shop.post(id))), Array(20).fill(200));
  await shop.inbox.idle();
  assert.deepEqual(await listPaid(url), ids);
});

for (const [way, attempts] of [
  ['before', 2],
  ['after', 1],
] as const) {
  test(`after a connection breaks ${way} the server has the COMMIT, the inbox looks up the result`, async () => {
    const url = await newShopDatabase();
    const cutter = await startCutter(url);
    const shop = open(cutter.url, {
      on: {
        'order.paid': async ({ data }, { commit, attempt }) => {
          await commit(async (tx) => {
            await insertPaid(tx, data.order_id);
            if (attempt === 1) cutter.arm(way, 'INSERT INTO paid');
          });
        },
      },
    });
    assert.equal(await shop.post('ord_1'), 200);
    await waitUntilDone(shop);
    assert.equal(cutter.cuts(), 1);
    assert.deepEqual(await listPaid(url), ['ord_1']);
    const entry = await shop.inbox.get('order.paid:ord_1');
    assert.deepEqual([entry?.state, entry?.attempts], ['done', attempts]);
    await shop.close();
    cutter.stop();
  });
}

test('done() in a transaction that is rolled back has not happened, whether the function throws or not', async () => {
  for (const swallows of [true, false]) {
    const url = await newShopDatabase();
    const shop = open(url, {
      on: {
        'order.paid': async ({ data }, { done, attempt }) => {
          const client = await shop.pool.connect();
          try {
            await client.query('BEGIN');
            await insertPaid(client, data.order_id);
            await done((text, values) => client.query(text, values));
            await client.query(attempt === 1 ? 'ROLLBACK' : 'COMMIT');
            if (attempt === 1 && !swallows) throw new Error('rolled back');
          } finally {
            client.release();
          }
        },
      },
    });
    await shop.post('ord_1');
    await waitUntilDone(shop);
    assert.deepEqual(await listPaid(url), ['ord_1']);
    assert.equal((await shop.inbox.get('order.paid:ord_1'))?.attempts, 2);
    assert.match(String(shop.errors[0]), swallows ? /done\(\) was rolled back/ : /rolled back/);
  }
});

test('a delivery that done() has marked is left alone by force: its function goes on, and the hook done is called', async () => {
  const url = await newShopDatabase();
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  let signal: AbortSignal | undefined;
  let done = 0;
  const shop = open(url, {
    hooks: { done: () => done++ },
    on: {
      'order.paid': async (_event, delivery) => {
        await delivery.done((text, values) => shop.pool.query(text, values));
        signal = delivery.signal;
        await ended;
      },
    },
  });
  await shop.post('ord_1');
  for (let tries = 0; tries < 200 && !signal; tries++) await wait(20);
  assert.equal(await shop.inbox.retry('order.paid:ord_1', { force: true }), false);
  assert.equal(signal?.aborted, false);
  end();
  await shop.inbox.idle();
  assert.deepEqual([done, shop.errors], [1, []]);
});

test('a function that hangs after done() ends as done, if close() or force comes while that commits', async () => {
  for (const stop of ['close', 'retry'] as const) {
    const url = await newShopDatabase();
    const hookCalls: string[] = [];
    const note = (name: string) => () => hookCalls.push(name);
    let isReady = false;
    const shop = open(url, {
      hooks: { done: note('done'), failed: note('failed') },
      on: {
        'order.paid': async (_event, delivery) => {
          const client = await shop.pool.connect();
          await client.query('BEGIN');
          await delivery.done((text, values) => client.query(text, values));
          isReady = true;
          await new Promise((resolve) => delivery.signal.addEventListener('abort', resolve));
          await client.query('COMMIT');
          client.release();
          await new Promise(() => {});
        },
      },
    });
    await shop.post('ord_1');
    for (let tries = 0; tries < 200 && !isReady; tries++) await wait(20);
    if (stop === 'close') await shop.inbox.close();
    else assert.equal(await shop.inbox.retry('order.paid:ord_1', { force: true }), false);
    for (let tries = 0; tries < 50 && hookCalls.length === 0; tries++) await wait(20);
    assert.deepEqual(hookCalls, ['done'], stop);
  }
});

test('done() fails in an attempt that was taken over, whatever shape its driver gives to results, or if that is unclear', async () => {
  for (const [shape, expected] of [
    [(rows: unknown[]) => [rows, rows.length], /Another process has taken this delivery over/], // TypeORM
    [(rows: unknown[]) => [rows, { rows }], /Another process has taken this delivery over/], // Sequelize
    [(rows: unknown[]) => [rows], /does not say whether the row was changed/],
  ] as const) {
    const url = await newShopDatabase();
    const outcomes: unknown[] = [];
    const shop = open(url, {
      on: {
        'order.paid': async (_event, { done, attempt }) => {
          if (attempt === 1)
            await shop.pool.query('UPDATE payments_inbox.payments_inbox SET attempts = 2, lost = 1');
          await done(async (text, values) => shape((await shop.pool.query(text, values)).rows)).then(
            () => outcomes.push('done'),
            (error: unknown) => outcomes.push(String(error)),
          );
        },
      },
    });
    await shop.post('ord_1');
    for (let tries = 0; tries < 100 && outcomes.length === 0; tries++) await wait(20);
    assert.match(String(outcomes[0]), expected);
  }
});

test('done() that nobody awaits is waited for, and has failed after attemptMs if it hangs', async () => {
  for (const [slow, state, lastError] of [
    [() => wait(300), 'done', /^null$/],
    [
      () => wait(100).then(() => Promise.reject(new Error('no connection'))),
      'parked',
      /^Error: no connection$/,
    ],
    [() => new Promise(() => {}), 'parked', /after 800 ms/],
  ] as const) {
    const url = await newShopDatabase();
    const shop = open(url, {
      attemptMs: '800ms',
      retries: [],
      on: {
        'order.paid': (_event, { done }) =>
          void done(async (text, values) => {
            await slow();
            return shop.pool.query(text, values);
          }),
      },
    });
    await shop.post('ord_1');
    await wait(50);
    await shop.inbox.idle();
    const entry = await shop.inbox.get('order.paid:ord_1');
    assert.equal(entry?.state, state);
    assert.match(String(entry.lastError), lastError);
    assert.equal(entry.attempts, 1);
  }
});

test('done() after its function has returned parks the delivery before it rejects', async () => {
  const url = await newShopDatabase();
  let late: Promise<void> | undefined;
  const shop = open(url, {
    on: {
      'order.paid': (_event, { done }) => {
        late = wait(300).then(() => done((text, values) => shop.pool.query(text, values)));
      },
    },
  });
  await shop.post('ord_1');
  await waitUntilDone(shop);
  const said =
    /^PaymentsError: done\(\) came after the attempt had ended\. .* Return or await what your function starts\.$/;
  await assert.rejects(async () => late, said);
  const entry = await shop.inbox.get('order.paid:ord_1');
  assert.equal(entry?.state, 'parked');
  assert.match(String(shop.errors), said);
});

test('done() that comes too late in a transaction with the only connection is parked after that', async () => {
  const url = await newShopDatabase();
  let late: Promise<void> | undefined;
  const shop = open(url, {
    config: { max: 1 },
    on: {
      'order.paid': (_event, { done }) => {
        late = (async () => {
          await wait(300);
          const client = await shop.pool.connect();
          try {
            await done((text, values) => client.query(text, values));
          } finally {
            client.release();
          }
        })();
      },
    },
  });
  await shop.post('ord_1');
  await waitUntilDone(shop);
  await assert.rejects(async () => late, /done\(\) came after the attempt had ended\./);
  assert.equal((await shop.inbox.get('order.paid:ord_1'))?.state, 'parked');
});

test('done() that is executed through the pool is done at once, and onError gets what the function threw', async () => {
  const url = await newShopDatabase();
  const failure = new Error('the transaction of the shop failed');
  const shop = open(url, {
    on: {
      'order.paid': async (_event, { done }) => {
        await done((text, values) => shop.pool.query(text, values));
        throw failure;
      },
    },
  });
  await shop.post('ord_1');
  await waitUntilDone(shop);
  assert.deepEqual(shop.errors, [failure]);
});

test('commit() rolls back if a statement failed and its error was caught, or if fn ended the transaction', async () => {
  for (const spoil of ['SELECT 1 / 0', 'ROLLBACK']) {
    const url = await newShopDatabase();
    const shop = open(url, {
      on: {
        'order.paid': ({ data }, { commit, attempt }) =>
          commit(async (tx) => {
            await insertPaid(tx, data.order_id);
            if (attempt === 1) await tx.query(spoil).catch(() => undefined);
          }),
      },
    });
    await shop.post('ord_1');
    await waitUntilDone(shop);
    assert.deepEqual(await listPaid(url), ['ord_1'], spoil);
    assert.equal((await shop.inbox.get('order.paid:ord_1'))?.attempts, 2);
  }
});

test('commit() fails if its function does not await the order book, and says so', async () => {
  const url = await newShopDatabase();
  const shop = open(url, {
    retries: [],
    on: {
      'order.paid': ({ data }, { commit }) =>
        commit((tx) => {
          const floating = book.credit(tx, data);
          floating.catch(() => undefined);
        }),
    },
  });
  const book = openOrderBook({ pool: shop.pool });
  await shop.post('ord_1');
  await shop.inbox.idle();
  const known = await shop.inbox.get('order.paid:ord_1');
  assert.equal(known?.state, 'parked');
  assert.match(
    known?.lastError ?? '',
    /commit\(\) was rolled back\. Await each call, as in: await book\.credit/,
  );
  assert.deepEqual(await book.held(), []);
});

test('a COMMIT that fails writes nothing, and its delivery is not done', async () => {
  const url = await newShopDatabase();
  await sql(
    url,
    `CREATE TABLE orders (id text PRIMARY KEY);
     ALTER TABLE paid ADD FOREIGN KEY (order_id) REFERENCES orders DEFERRABLE INITIALLY DEFERRED`,
  );
  for (const isCaught of [true, false]) {
    const hookCalls: string[] = [];
    const shop = open(url, {
      schema: `caught ${isCaught}`,
      retries: [],
      hooks: { done: () => hookCalls.push('done'), parked: () => hookCalls.push('parked') },
      on: {
        'order.paid': ({ data }, { commit }) =>
          commit((tx) => insertPaid(tx, data.order_id)).catch((error: unknown) => {
            if (!isCaught) throw error;
          }),
      },
    });
    await shop.post('ord_1');
    for (let tries = 0; tries < 200 && hookCalls.length === 0; tries++) await wait(20);
    assert.deepEqual([hookCalls, await listPaid(url)], [['parked'], []]);
    const entry = await shop.inbox.get('order.paid:ord_1');
    assert.match(String(entry?.lastError), /violates foreign key constraint/);
  }
});

test('a commit that is aborted writes nothing afterwards, wherever it was', async () => {
  for (const at of ['BEGIN READ WRITE', 'INSERT INTO paid', 'SELECT CAST']) {
    const url = await newShopDatabase();
    let abort = () => {};
    const shop = open(url, {
      attemptMs: 60_000,
      on: {
        'order.paid': ({ data }, { commit }) =>
          commit(async (tx) => {
            await insertPaid(tx, data.order_id);
            await insertPaid(tx, data.order_id);
          }),
      },
    });
    await shop.inbox.stats();
    const connect = shop.pool.connect.bind(shop.pool);
    let isCommit = false;
    Reflect.set(shop.pool, 'connect', async () => {
      const client = await connect();
      const query = client.query.bind(client);
      Reflect.set(client, 'query', (text: string, values?: unknown[]) => {
        isCommit ||= text.startsWith('BEGIN READ WRITE');
        const result = query(text, values);
        if (!isCommit || !text.startsWith(at)) return result;
        abort();
        return Promise.all([result, wait(50)]).then(([given]) => given); // the abort comes first
      });
      return client;
    });
    const closed = new Promise<void>((resolve) => {
      abort = () => resolve(shop.inbox.close());
    });
    assert.equal(await shop.post('ord_1'), 200);
    await closed;
    await wait(100);
    const [row] = await sql(url, 'SELECT state FROM payments_inbox.payments_inbox');
    // The last message commits: whether it had, was looked up.
    const isDone = at === 'SELECT CAST' && row?.state === 'done';
    assert.deepEqual(
      [row?.state, await listPaid(url)],
      isDone ? ['done', ['ord_1', 'ord_1']] : ['pending', []],
      at,
    );
  }
});

test('a commit that hangs and that nobody awaits has failed after attemptMs', async () => {
  const url = await newShopDatabase();
  const shop = open(url, {
    attemptMs: '300ms',
    retries: [],
    on: { 'order.paid': (_event, { commit }) => void commit(() => new Promise(() => {})) },
  });
  await shop.post('ord_1');
  for (let tries = 0; tries < 200 && (await shop.inbox.stats()).parked === 0; tries++) await wait(20);
  assert.match((await shop.inbox.get('order.paid:ord_1'))?.lastError ?? '', /after 300 ms/);
});

test('an instance whose clock is a year ahead or behind changes nothing for the others', async () => {
  const url = await newShopDatabase();
  const { now } = Date;
  const skewed = open(url, {
    on: { 'order.paid': () => Promise.reject(new Error('x')) },
    retries: ['50ms', '1h'],
  });
  for (const year of [1, -1]) {
    Date.now = () => now() + year * 365 * 86_400_000;
    try {
      await skewed.inbox.accept({
        key: `order.paid:ord_${year}`,
        event: { type: 'order.paid', data: { order_id: `ord_${year}`, amount: '1.00', currency: 'USD' } },
        rawBody: '{}',
        headers: {},
        receivedAt: new Date().toISOString(),
      });
      await wait(200);
    } finally {
      Date.now = now;
    }
  }
  await skewed.close();
  await sql(url, "UPDATE payments_inbox.payments_inbox SET due_at = 0 WHERE state = 'pending'");
  const shop = open(url);
  await shop.inbox.idle();
  assert.equal((await shop.inbox.stats()).done, 2);
});

test('a row that a wrong clock of the server made due in a year is due now', async () => {
  const url = await newShopDatabase();
  const shop = open(url, { work: false });
  await shop.post('ord_1');
  const yearMs = 365 * 86_400_000;
  await sql(
    url,
    `UPDATE payments_inbox.payments_inbox SET due_at = due_at + ${yearMs}, due_set_at = due_set_at + ${yearMs}`,
  );
  const other = open(url);
  for (let tries = 0; tries < 50 && (await other.inbox.stats()).done === 0; tries++) await wait(50);
  assert.equal((await other.inbox.stats()).done, 1);
});

test('keys of any length, NUL characters and a database that is not in UTF-8 lose no delivery', async () => {
  await sql(
    postgres.url,
    "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'",
  );
  const url = postgres.url.replace(/[^/]*$/, 'latin');
  const seen: string[] = [];
  const shop = open(url, {
    on: { 'order.paid': ({ data }) => Promise.reject(new Error(`${seen.push(data.order_id)} 支払い \0`)) },
    retries: [],
  });
  const ids = ['支払い', 'a\0b', 'x'.repeat(5000), '\ud800', '\ud801', '"\\'];
  for (const id of ids) assert.equal(await shop.post(id), 200);
  await shop.inbox.idle();
  assert.deepEqual(seen.sort(), [...ids].sort());
  for (const id of ids)
    assert.match((await shop.inbox.get(`order.paid:${id}`))?.lastError ?? '', /支払い \\u0000/);
});

test('two schemas of one pool are two inboxes; one schema opened twice in a process, by whatever pool, is worked on by the last', async () => {
  const url = await newShopDatabase();
  const calls: string[] = [];
  const recordAs = (name: string) => ({ 'order.paid': () => void calls.push(name) });
  const first = open(url, { schema: 'one', on: recordAs('first') });
  const { pool } = first;
  const second = open(url, { pool, schema: 'two', on: recordAs('second'), sameProcess: true });
  await first.post('ord_1');
  await first.inbox.idle();
  await second.post('ord_1');
  await second.inbox.idle();
  assert.deepEqual(calls, ['first', 'second']);
  const again = open(url, { schema: 'one', on: recordAs('again'), sameProcess: true });
  await wait(500); // what the first one was claiming at that moment is its own
  await first.post('ord_2');
  await again.inbox.idle();
  assert.deepEqual(calls, ['first', 'second', 'again']);
});

test('retryParked() leaves another content under a known key to a person', async () => {
  const url = await newShopDatabase();
  const shop = open(url);
  for (const amount of ['10.00', '90.00']) assert.equal(await shop.post('ord_1', amount), 200);
  await shop.inbox.idle();
  assert.equal(await shop.inbox.retryParked(), 0);
  const [parked] = await shop.inbox.list({ state: 'parked' });
  assert.equal(await shop.inbox.retry(parked?.key ?? ''), true);
});

test('the space of what was purged is used again: 20 rounds take at most twice that of one', async () => {
  const url = await newShopDatabase();
  const { inbox } = open(url);
  const sizes: number[] = [];
  for (let round = 0; round < 20; round++) {
    const ids = Array.from({ length: 40 }, (_, number) => `ord_${round}_${number}`);
    await Promise.all(
      ids.map((order_id) => {
        const note = randomBytes(8000).toString('hex'); // cannot be compressed, and is more than the keys, which stay
        const data = { order_id, amount: '1.00', currency: 'USD', note };
        const rawBody = JSON.stringify({ type: 'order.paid', data });
        const receivedAt = new Date().toISOString();
        const event = { type: 'order.paid', data } as const;
        return inbox.accept({ key: `order.paid:${order_id}`, event, rawBody, headers: {}, receivedAt });
      }),
    );
    await inbox.idle();
    // Before the purge: how much of its end VACUUM can cut off a table depends on who looks into it at that moment.
    const [row] = await sql(
      url,
      `SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_class WHERE relname LIKE 'payments_inbox%' AND relkind = 'r'`,
    );
    sizes.push(Number(row?.bytes));
    assert.equal(await inbox.purge({ olderThan: 0 }), 40);
  }
  assert.ok(Number(sizes.at(-1)) <= 2 * Number(sizes[0]), `bytes in each round: ${sizes}`);
});

test('an instance looks once a second for what others have stored', async () => {
  const url = await newShopDatabase();
  let looks = 0;
  const idle = open(url);
  await idle.inbox.stats();
  idle.pool.on('acquire', () => looks++);
  const beganAt = performance.now();
  while (looks < 4) await wait(50);
  const passedMs = performance.now() - beganAt;
  assert.ok(passedMs > 2500 && passedMs < 15_000, `four looks within ${passedMs} ms`);
  await open(url, { work: false }).post('ord_1');
  await waitUntilDone(idle);
});

test('drain() works off due deliveries if no worker runs', async () => {
  const url = await newShopDatabase();
  const done: string[] = [];
  const shop = open(url, { work: false, on: { 'order.paid': ({ data }) => void done.push(data.order_id) } });
  for (let number = 0; number < 10; number++) await shop.post(`ord_${number}`);
  await wait(50);
  assert.equal(done.length, 0);
  await shop.inbox.drain({ forMs: '5s' });
  assert.equal(done.length, 10);
});

test('node:sqlite is not loaded', async () => {
  const loaded = process.getBuiltinModule;
  const asked: string[] = [];
  process.getBuiltinModule = (id: string) => {
    asked.push(id);
    return loaded(id);
  };
  const url = await newShopDatabase();
  const shop = open(url);
  await shop.post('ord_1');
  await shop.inbox.idle();
  process.getBuiltinModule = loaded;
  assert.ok(!asked.includes('node:sqlite'));
});
