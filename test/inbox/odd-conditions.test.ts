import { once } from 'node:events';
import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, vi } from 'vitest';
import {
  connect,
  deferCleanup,
  openSqlite,
  orderPaid,
  received,
  temporaryFile,
  withResolvers,
} from './inboxes.js';

const beatMs = 5;

/** Counts beats in a thread that no lock holds up: where the machine stands still, both do. */
async function beatsOfAnotherThread(): Promise<() => number> {
  const counted = new Int32Array(new SharedArrayBuffer(4));
  const program = `const { parentPort, workerData } = require('node:worker_threads');
    setInterval(() => Atomics.add(workerData, 0, 1), ${beatMs});
    parentPort.postMessage('begun');`;
  const worker = new Worker(program, { eval: true, workerData: counted });
  deferCleanup(() => worker.terminate());
  await once(worker, 'message');
  return () => Atomics.load(counted, 0);
}

describe('a lock that another connection holds', () => {
  it('for ten seconds delays no timer of the process, neither for deliveries nor for what people ask, nor for commit()', {
    timeout: 60_000,
  }, async () => {
    const file = temporaryFile();
    const shop = connect(file);
    shop.exec('PRAGMA journal_mode = DELETE; PRAGMA busy_timeout = 3000; CREATE TABLE orders (id TEXT)');
    const exec = vi.spyOn(shop, 'exec');
    const { promise, resolve } = withResolvers();
    const { inbox, post } = openSqlite({
      database: shop,
      leaseMs: 1000,
      on: { 'order.paid': (_event, { commit }) => promise.then(() => commit(() => {})) },
    });
    for (const id of ['a', 'b', 'c', 'd']) await post(orderPaid(id));
    await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ running: 4 }));
    const other = connect(file);
    other.exec('BEGIN EXCLUSIVE');
    const beats = await beatsOfAnotherThread();
    let longest = 0;
    let last = beats();
    const timer = setInterval(() => {
      longest = Math.max(longest, beats() - last);
      last = beats();
    }, 5);
    deferCleanup(() => clearInterval(timer));
    const statuses = (ids: string[]) =>
      Promise.all(ids.map(async (id) => (await post(orderPaid(id))).status));
    const early = statuses(['e', 'f']);
    const asked = Promise.allSettled([inbox.stats(), inbox.list()]);
    resolve();
    await sleep(7000);
    const late = statuses(['g', 'h']);
    await sleep(3000);
    other.exec('ROLLBACK');
    // A delivery waits for five seconds.
    expect(await early).toEqual([500, 500]);
    expect((await asked).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await late).toEqual([200, 200]);
    // A second. A wait inside SQLite would take the whole of busy_timeout.
    expect(longest).toBeLessThan(1000 / beatMs);
    expect(beats()).toBeGreaterThan(1000 / beatMs);
    const waits = exec.mock.calls.flatMap(([sql]) => /busy_timeout = (\d+)/.exec(sql)?.[1] ?? []);
    expect(new Set(waits.map(Number))).toEqual(new Set([0, 20, 3000]));
    expect(shop.prepare('PRAGMA busy_timeout').get()).toEqual({ timeout: 3000 });
    await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ done: 6 }), { timeout: 30_000 });
  });

  it('that makes commit() fail uses up no retry', async () => {
    const file = temporaryFile();
    const other = connect(file);
    const { inbox, post, errors } = openSqlite({
      file,
      retries: [],
      on: {
        'order.paid': (_event, { attempt, commit }) => {
          if (attempt === 1) {
            other.exec('BEGIN IMMEDIATE');
            setTimeout(() => other.exec('ROLLBACK'), 100);
          }
          commit(() => {});
        },
      },
    });
    await post(orderPaid('ord_1'));
    await vi.waitFor(
      async () => expect(await inbox.get('order.paid:ord_1')).toMatchObject({ state: 'done', attempts: 2 }),
      { timeout: 15_000 },
    );
    expect(errors).toMatchObject([{ code: 'inbox_busy', message: expect.stringContaining('locked') }]);
  });
});

describe('a clock that was a year ahead for a while', () => {
  const yearMs = 365 * 86_400_000;

  function setClock(aheadMs: number) {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + aheadMs });
    deferCleanup(() => vi.useRealTimers());
  }

  it('does not strand a delivery that was stored or that failed then', async () => {
    const file = temporaryFile();
    setClock(yearMs);
    const ahead = openSqlite({
      file,
      retries: ['1h'],
      on: { 'order.paid': () => Promise.reject(new Error('down')) },
    });
    await ahead.post(orderPaid('failed'), undefined);
    await ahead.inbox.idle();
    await ahead.inbox.close();
    const storing = openSqlite({ file, work: false });
    await storing.post(orderPaid('stored'));
    vi.useRealTimers();
    const { inbox, calls } = openSqlite({ file });
    await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ done: 2 }));
    expect(calls.map(([id]) => id).sort()).toEqual(['failed', 'stored']);
  });

  it('does not strand what a process held that died: another one takes it up after its lease', async () => {
    const file = temporaryFile();
    setClock(yearMs);
    const database = connect(file);
    const dead = openSqlite({ database, on: { 'order.paid': () => withResolvers().promise } });
    await dead.post(orderPaid('held'));
    await vi.waitFor(async () => expect(await dead.inbox.stats()).toMatchObject({ running: 1 }));
    // Without it, the inbox can neither look for work nor renew its lease.
    database.close();
    vi.useRealTimers();
    const { calls } = openSqlite({ file, leaseMs: 200 });
    await vi.waitFor(() => expect(calls).toEqual([['held', 2]]), { timeout: 15_000 });
  });
});

describe('a database in another journal mode than WAL', () => {
  it.each(['DELETE', 'TRUNCATE', 'PERSIST'])(
    '%s: a delivery is stored with synchronous = EXTRA, and the setting is kept',
    async (mode) => {
      const database = connect(temporaryFile());
      database.exec(`PRAGMA journal_mode = ${mode}; PRAGMA synchronous = NORMAL`);
      const levels: unknown[] = [];
      const { post } = openSqlite({
        work: false,
        database: {
          prepare: (sql) => database.prepare(sql),
          close: () => database.close(),
          exec(sql) {
            if (sql === 'COMMIT') levels.push(database.prepare('PRAGMA synchronous').get()?.synchronous);
            database.exec(sql);
          },
        },
      });
      expect(await post(orderPaid('ord_1'))).toEqual(received);
      expect(new Set(levels)).toEqual(new Set([3]));
      expect(database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: 1 });
    },
  );

  it.each(['MEMORY', 'OFF'])(
    '%s is refused: when the inbox is opened, and for each delivery',
    async (mode) => {
      const database = connect(temporaryFile());
      const { post, errors } = openSqlite({ database, work: false });
      // From Node 24 on, a connection is defensive unless told otherwise, and SQLite then ignores OFF itself.
      const defend: unknown = Reflect.get(database, 'enableDefensive');
      if (typeof defend === 'function') defend.call(database, false);
      database.exec(`PRAGMA journal_mode = ${mode}`);
      expect(() => openSqlite({ database })).toThrow(`journal mode ${mode}`);
      expect(await post(orderPaid('ord_1'))).toMatchObject({ status: 500 });
      expect(errors).toMatchObject([{ name: 'ConfigurationError' }]);
    },
  );
});

it('claims wait for no disk in WAL mode, and what a 200 rests on does', async () => {
  const database = connect(temporaryFile());
  database.exec('PRAGMA journal_mode = WAL');
  const levels: unknown[] = [];
  const { inbox, post } = openSqlite({
    database: {
      prepare: (sql) => database.prepare(sql),
      close: () => database.close(),
      exec(sql) {
        if (sql === 'COMMIT') levels.push(database.prepare('PRAGMA synchronous').get()?.synchronous);
        database.exec(sql);
      },
    },
  });
  levels.length = 0;
  await post(orderPaid('ord_1'));
  await inbox.idle();
  // Stored, claimed, done.
  expect(levels).toEqual([2, 1, 2]);
});

it('the space of what was purged is used again: 20 rounds take at most twice that of one', async () => {
  const file = temporaryFile();
  const { inbox } = openSqlite({ file });
  const sizes: number[] = [];
  for (let round = 0; round < 20; round++) {
    for (let number = 0; number < 40; number++) {
      const data = {
        order_id: `${round}-${number}`,
        amount: '1.00',
        currency: 'USD',
        note: 'x'.repeat(4000),
      };
      await inbox.accept({
        key: `order.paid:${data.order_id}`,
        event: { type: 'order.paid', data },
        rawBody: JSON.stringify({ type: 'order.paid', data }),
        headers: {},
        receivedAt: new Date().toISOString(),
      });
    }
    await inbox.idle();
    expect(await inbox.purge({ olderThan: new Date(Date.now() + 1000) })).toBe(40);
    sizes.push(statSync(file).size + statSync(`${file}-wal`).size);
  }
  expect(sizes.at(-1)).toBeLessThanOrEqual(2 * Number(sizes[0]));
});
