import { rmSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import type { SqliteDatabase } from '../../src/inbox/index.js';
import { connect, openSqlite, orderPaid, temporaryFile } from './inboxes.js';

const insert = (db: SqliteDatabase) => db.prepare("INSERT INTO paid VALUES ('ord_1')").run();

/** The type that JavaScript sees, and TypeScript if the result of the function is not known. */
type Commit = (fn: (db: SqliteDatabase) => unknown) => unknown;

/** The tests of commit() on both stores are in contract/. */
describe('commit(fn) on SQLite, where a transaction cannot wait', () => {
  const called = 'what the function wrote was rolled back, but not what it writes after an await';
  it.each<[string, (commit: Commit) => unknown, string]>([
    ['an async function', (commit) => commit(async (db) => insert(db)), 'the function was not called'],
    ['a function that returns a promise', (commit) => commit((db) => Promise.resolve(insert(db))), called],
    [
      'a function that returns a promise that rejects',
      (commit) => commit((db) => Promise.reject(new Error(`${insert(db).changes}`))),
      called,
    ],
  ])('refuses %s, and rolls back', async (_form, use, fate) => {
    const file = temporaryFile();
    const database = connect(file);
    database.exec('CREATE TABLE paid (order_id TEXT)');
    const { inbox, post } = openSqlite({
      file,
      retries: [],
      on: { 'order.paid': (_event, { commit }) => use(commit) },
    });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(database.prepare('SELECT * FROM paid').all()).toEqual([]);
    expect(await inbox.get('order.paid:ord_1')).toMatchObject({
      state: 'parked',
      lastError:
        `PaymentsError: commit() takes a synchronous function, because a transaction cannot wait: ${fate}. Await ` +
        'what is needed first, then call commit(); end a query builder with what runs it at once, such as .run().',
    });
  });

  it('says that what a function writes after an await is not rolled back', async () => {
    const file = temporaryFile();
    const database = connect(file);
    database.exec('CREATE TABLE paid (order_id TEXT)');
    const writeAroundAwait = async (db: SqliteDatabase) => {
      db.exec("INSERT INTO paid VALUES ('before')");
      await Promise.resolve();
      db.exec("INSERT INTO paid VALUES ('after')");
    };
    const on = {
      'order.paid': (_event: unknown, { commit }: { commit: Commit }) => commit((db) => writeAroundAwait(db)),
    };
    const { inbox, post } = openSqlite({ file, retries: [], on });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(database.prepare('SELECT * FROM paid').all()).toEqual([{ order_id: 'after' }]);
    expect(await inbox.list()).toMatchObject([
      { state: 'parked', lastError: expect.stringContaining(called) },
    ]);
  });

  it('refuses a statement that was compiled and not executed, which would have written nothing', async () => {
    const database = connect(temporaryFile());
    database.exec('CREATE TABLE paid (order_id TEXT)');
    const compile = (db: SqliteDatabase) => db.prepare("INSERT INTO paid VALUES ('ord_1')");
    const { inbox, post } = openSqlite({
      ...{ file: undefined, database, retries: [] },
      on: { 'order.paid': (_event, { commit }) => commit(compile) },
    });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(await inbox.list()).toMatchObject([
      {
        state: 'parked',
        lastError: expect.stringContaining('The function passed to commit() returned a function, a'),
      },
    ]);
  });

  it('does not run a query builder, which runs when it is awaited', async () => {
    // biome-ignore lint/suspicious/noThenProperty: as those of Drizzle and Knex are
    const builder = { then: vi.fn() };
    const lazyPromise = new Promise(() => {});
    const runs = vi.spyOn(lazyPromise, 'then');
    for (const lazy of [builder, lazyPromise]) {
      const { inbox, post } = openSqlite({
        retries: [],
        on: { 'order.paid': (_event, { commit }: { commit: Commit }) => commit(() => lazy) },
      });
      await post(orderPaid('ord_1'));
      await inbox.idle();
      expect(await inbox.stats()).toMatchObject({ parked: 1 });
    }
    expect(builder.then).not.toHaveBeenCalled();
    expect(runs).not.toHaveBeenCalled();
  });

  it('has a type that takes no promise', () => {
    const { inbox } = openSqlite({
      on: {
        'order.paid': (_event, { commit }) => {
          // @ts-expect-error: a promise cannot be a part of the transaction
          commit((db) => Promise.resolve(insert(db)));
          const changes: number | bigint = commit((db) => insert(db)).changes;
          return changes;
        },
      },
    });
    expect(inbox.stats).toBeDefined();
  });

  it.each([
    ['a lock of another database', Object.assign(new Error('database is locked'), { errcode: 5 })],
    ['a text that reads like one of SQLite', new Error('order 7 is within a transaction of the wallet')],
  ])('passes on %s that its function throws, as any failure', async (_what, thrown) => {
    const { inbox, post, errors } = openSqlite({
      retries: ['1ms'],
      on: {
        'order.paid': (_event, { commit }) => {
          commit(() => {
            throw thrown;
          });
        },
      },
    });
    await post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ parked: 1 }));
    expect(errors).toEqual([thrown, thrown]);
  });

  it('writes nothing into a file that was deleted', async () => {
    const file = temporaryFile();
    const { inbox, post, errors } = openSqlite({
      file,
      retries: [],
      on: {
        'order.paid': (_event, { commit }) => {
          for (const each of [file, `${file}-wal`, `${file}-shm`]) rmSync(each);
          commit(() => {});
        },
      },
    });
    await post(orderPaid('ord_1'));
    await vi.waitFor(() =>
      expect(errors[0]).toMatchObject({ message: expect.stringContaining('was deleted or replaced') }),
    );
    await inbox.close();
  });

  it('does not even call an async function', async () => {
    const called = vi.fn();
    const { inbox, post } = openSqlite({
      retries: [],
      on: { 'order.paid': (_event, { commit }: { commit: Commit }) => commit(async () => called()) },
    });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(called).not.toHaveBeenCalled();
  });
});

it('is taken by force from a function that locks the database until its signal is aborted', async () => {
  const file = temporaryFile();
  let locks = 0;
  const { inbox, post } = openSqlite({
    database: connect(file),
    on: {
      'order.paid': async (_event, { signal, attempt }) => {
        if (attempt > 1) return;
        const other = connect(file);
        other.exec('BEGIN EXCLUSIVE');
        locks++;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        other.exec('ROLLBACK');
      },
    },
  });
  await post(orderPaid('ord_1'));
  await vi.waitFor(() => expect(locks).toBe(1));
  expect(await inbox.retry('order.paid:ord_1', { force: true })).toBe(true);
  await inbox.idle();
  expect(await inbox.get('order.paid:ord_1')).toMatchObject({ state: 'done', attempts: 2 });
});
