import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import type {
  DatabaseInboxOptions,
  FileInboxOptions,
  SqliteDatabase,
  SqliteValue,
} from '../../src/inbox/index.js';
import { Connection } from '../../src/inbox/sqlite.js';
import { SqliteStore } from '../../src/inbox/sqlite-store.js';
import { hasMethods } from '../../src/input/functions.js';
import { connect, openSqlite, orderPaid, received, runTimers, temporaryFile } from './inboxes.js';

/** Returns the database as Node 22.13 to 22.15 have it, without `isTransaction`. */
function withoutNewMethods(database: SqliteDatabase): SqliteDatabase {
  return {
    exec: (sql) => database.exec(sql),
    prepare: (sql) => database.prepare(sql),
    close: () => database.close(),
  };
}

/** An inbox in a database of the shop's, whose function executes these statements in commit(). */
function inboxThatCommits(statements: string) {
  const database = connect(temporaryFile());
  database.exec('CREATE TABLE orders (id TEXT)');
  const on: FileInboxOptions['on'] = {
    'order.paid': (_event, { commit }) => commit((db) => db.exec(statements)),
  };
  return { database, ...openSqlite({ database, retries: [], on }) };
}

/** The type of `DatabaseSync` in @types/node, in short: in 22.13.0 rows are `unknown`. */
interface DatabaseSync<Row, Value> {
  close(): void;
  exec(sql: string): void;
  prepare(sql: string): {
    all(...values: Value[]): Row[];
    get(...values: Value[]): Row | undefined;
    run(...values: Value[]): { changes: number | bigint; lastInsertRowid: number | bigint };
    setReadBigInts(enabled: boolean): void;
  };
}
type OfNode22 = DatabaseSync<unknown, null | number | bigint | string | Uint8Array>;
interface OfNode26 extends DatabaseSync<Record<string, SqliteValue>, SqliteValue | NodeJS.ArrayBufferView> {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
}

it('the option `database` takes a DatabaseSync of the oldest and of the newest types, and no other driver', () => {
  type Given = DatabaseInboxOptions['database'];
  expectTypeOf<OfNode22>().toExtend<Given>();
  expectTypeOf<OfNode26>().toExtend<Given>();
  expectTypeOf<OfNode26>().toExtend<SqliteDatabase>();
  // The type of better-sqlite3 has no setReadBigInts(), and its rows are unknown.
  type OtherStatement = Omit<ReturnType<OfNode22['prepare']>, 'setReadBigInts'>;
  expectTypeOf<{ exec(): void; close(): void; prepare(): OtherStatement }>().not.toExtend<Given>();
});

describe('a database of the shop', () => {
  it('that was closed gets 500, not 400, for what can be neither verified nor kept', async () => {
    const database = connect(temporaryFile());
    const { inbox, post } = openSqlite({ database, on: { 'order.paid': () => {} } });
    await inbox.stats();
    database.close();
    const forged = {
      'x-service-signature': 'f'.repeat(64),
      'x-service-timestamp': `${Math.floor(Date.now() / 1000)}`,
    };
    expect(await post(orderPaid('ord_1'), forged)).toEqual({
      status: 500,
      body: { error: 'internal_error' },
    });
  });

  it('in which commit() was rolled back and another transaction begun is not fulfilled again and again', async () => {
    const { database, inbox, post, errors } = inboxThatCommits(
      "ROLLBACK; BEGIN; INSERT INTO orders VALUES ('x')",
    );
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(await inbox.get('order.paid:ord_1')).toMatchObject({ state: 'parked', attempts: 1 });
    expect(database.prepare('SELECT * FROM orders').all()).toEqual([]);
    expect(String(errors[0])).toContain('ended its transaction and began another');
  });

  it('gets the tables, is written in one transaction with the shop’s own, and stays open', async () => {
    const database = connect(temporaryFile());
    database.exec('CREATE TABLE orders (id TEXT, state TEXT)');
    const { inbox, post } = openSqlite({
      database,
      on: {
        'order.paid': (event, { commit }) =>
          commit(() => database.prepare("INSERT INTO orders VALUES (?, 'paid')").run(event.data.order_id)),
      },
    });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    await inbox.close();
    expect(database.prepare('SELECT * FROM orders').all()).toEqual([{ id: 'ord_1', state: 'paid' }]);
    const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
    expect(names.map(({ name }) => name)).toEqual([
      'orders',
      'payments_inbox',
      'payments_inbox_content',
      'payments_inbox_refused',
      'payments_inbox_version',
    ]);
    const again = openSqlite({ database });
    expect(await again.post(orderPaid('ord_1'))).toEqual(received);
    expect(await again.inbox.stats()).toMatchObject({ done: 1 });
  });

  it.each([
    ['OFF', 0, 2],
    ['NORMAL', 1, 2],
    ['EXTRA', 3, 3],
  ])('keeps synchronous = %s, and a delivery is on the disk before the response', async (name, own, used) => {
    const database = connect(temporaryFile());
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${name}`);
    const levels: unknown[] = [];
    const spied: SqliteDatabase = {
      ...withoutNewMethods(database),
      exec(sql) {
        if (sql === 'COMMIT') levels.push(database.prepare('PRAGMA synchronous').get()?.synchronous);
        database.exec(sql);
      },
    };
    const { inbox } = openSqlite({ database: spied, work: false });
    levels.length = 0;
    await inbox.accept({
      key: 'order.paid:ord_1',
      event: { type: 'order.paid', data: { order_id: 'ord_1', amount: '1.00', currency: 'USD' } },
      rawBody: '{}',
      headers: {},
      receivedAt: new Date().toISOString(),
    });
    expect(levels).toEqual([used]);
    expect(database.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: own });
  });

  it('is purged once the transaction is over that is open: a rollback does not undo it', async () => {
    const database = connect(temporaryFile());
    database.exec('PRAGMA journal_mode = WAL');
    const { inbox, post } = openSqlite({ database });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    database.exec('BEGIN');
    const purging = inbox.purge({ olderThan: new Date(Date.now() + 1000) });
    database.exec('ROLLBACK');
    expect(await purging).toBe(1);
    expect(await inbox.get('order.paid:ord_1')).toMatchObject({ event: null });
  });

  it('stores deliveries while purge() waits for a statement of the shop that is being read', async () => {
    const database = connect(temporaryFile());
    database.exec(
      'PRAGMA journal_mode = WAL; CREATE TABLE orders (id TEXT); INSERT INTO orders VALUES (1), (2)',
    );
    const { inbox, post } = openSqlite({ database });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    const statement = database.prepare('SELECT id FROM orders');
    if (!hasMethods<{ iterate(): Iterator<unknown> }>(statement, 'iterate')) throw new Error('No iterate().');
    const reading = statement.iterate();
    reading.next();
    let isPurged = false;
    const purging = inbox.purge({ olderThan: new Date(Date.now() + 1000) }).finally(() => {
      isPurged = true;
    });
    expect(await post(orderPaid('ord_2'))).toMatchObject({ status: 200 });
    expect(isPurged).toBe(false);
    reading.return?.();
    expect(await purging).toBe(1);
  });

  it('is purged page by page, however much it holds', async () => {
    const database = connect(temporaryFile());
    database.exec('PRAGMA journal_mode = WAL');
    const { inbox, post } = openSqlite({ database, work: false });
    for (let number = 0; number < 1100; number++) await post(orderPaid(`ord_${number}`));
    database.exec("UPDATE payments_inbox SET state = 'done', due_at = NULL, finished_at = 1 WHERE id <> 600");
    expect(await inbox.purge({ olderThan: '1d' })).toBe(1099);
    expect(database.prepare('SELECT id FROM payments_inbox_content').all()).toEqual([{ id: 600 }]);
  });

  it('compiles each statement once', async () => {
    const database = connect(':memory:');
    const compiled: string[] = [];
    const { inbox, post } = openSqlite({
      database: {
        ...withoutNewMethods(database),
        prepare(sql) {
          compiled.push(sql);
          return database.prepare(sql);
        },
      },
    });
    const countCompiled = () => compiled.filter((sql) => sql.includes('payments_inbox ')).length;
    await post(orderPaid('ord_1'));
    await inbox.idle();
    const before = countCompiled();
    await post(orderPaid('ord_2'));
    await inbox.idle();
    expect(countCompiled()).toBe(before);
  });

  it.each([['readBigInts'], ['returnArrays']])('may have been opened with %s', async (option) => {
    const database = connect(':memory:');
    const setter = option === 'readBigInts' ? 'setReadBigInts' : 'setReturnArrays';
    const { inbox, post, calls } = openSqlite({
      database: {
        ...withoutNewMethods(database),
        prepare(sql) {
          const statement = database.prepare(sql);
          statement[setter]?.(true);
          return statement;
        },
      },
    });
    expect(await post(orderPaid('ord_1'))).toEqual(received);
    await inbox.idle();
    expect([calls, (await inbox.stats()).done]).toEqual([[['ord_1', 1]], 1]);
  });

  it('may get its tables from another process at the same moment', async () => {
    const file = temporaryFile();
    const database = connect(file);
    const { post } = openSqlite({
      database: {
        ...withoutNewMethods(database),
        exec(sql) {
          if (sql === 'BEGIN IMMEDIATE') void new SqliteStore({ file }).close();
          database.exec(sql);
        },
      },
    });
    expect(await post(orderPaid('ord_1'))).toEqual(received);
  });

  describe('that another process has locked when the inbox is opened', () => {
    it('is waited for once in a turn of the event loop, however many inboxes are opened', async () => {
      const files = Array.from({ length: 3 }, temporaryFile);
      for (const file of files) connect(file).exec('CREATE TABLE orders (id TEXT); BEGIN IMMEDIATE');
      const waits: string[] = [];
      await new Promise((resolve) => setImmediate(resolve));
      for (const file of files) {
        const database = connect(file);
        const exec = (sql: string) => {
          if (/busy_timeout = [1-9]/.test(sql)) waits.push(sql);
          database.exec(sql);
        };
        openSqlite({ database: { ...withoutNewMethods(database), exec }, work: false });
      }
      expect(waits).toEqual(['PRAGMA busy_timeout = 20']);
    });

    it('gets its tables once it is free, and opening it blocks nobody', async () => {
      const file = temporaryFile();
      const other = connect(file);
      other.exec('CREATE TABLE orders (id TEXT); BEGIN IMMEDIATE');
      const begun = performance.now();
      const { post, calls, inbox } = openSqlite({ database: connect(file) });
      expect(performance.now() - begun).toBeLessThan(500);
      const response = post(orderPaid('ord_1'));
      await new Promise((resolve) => setTimeout(resolve, 100));
      other.exec('ROLLBACK');
      expect(await response).toEqual(received);
      await inbox.idle();
      expect(calls).toEqual([['ord_1', 1]]);
    });

    it('gives 500 and onError while it stays locked', async () => {
      const file = temporaryFile();
      const other = connect(file);
      other.exec('CREATE TABLE orders (id TEXT); BEGIN IMMEDIATE');
      const { post, errors } = openSqlite({ database: connect(file), work: false });
      expect(await runTimers(post(orderPaid('ord_1')))).toMatchObject({ status: 500 });
      expect(errors).toMatchObject([{ message: expect.stringContaining('locked') }]);
      other.exec('ROLLBACK');
      expect(await post(orderPaid('ord_1'))).toEqual(received);
    });
  });

  it('in which a transaction is open when the inbox is opened gets its tables after it', async () => {
    const database = connect(':memory:');
    database.exec('BEGIN');
    const { post } = openSqlite({ database });
    const response = post(orderPaid('ord_1'));
    database.exec('ROLLBACK');
    expect(await response).toEqual(received);
  });

  it.each<[string, (database: SqliteDatabase) => SqliteDatabase]>([
    ['with isTransaction', (database) => database],
    ['without isTransaction', withoutNewMethods],
  ])('%s tells whether a transaction is open', (_form, form) => {
    const database = connect(':memory:');
    expect(new Connection(form(database)).hasTransaction()).toBe(false);
    database.exec('BEGIN');
    expect(new Connection(form(database)).hasTransaction()).toBe(true);
    database.exec('COMMIT');
    expect(new Connection(form(database)).hasTransaction()).toBe(false);
    database.exec('SAVEPOINT a');
    expect(new Connection(form(database)).hasTransaction()).toBe(true);
  });
});

it('a database that was closed before the inbox keeps close() from nothing; onError gets what could not be given back', async () => {
  const database = connect(temporaryFile());
  const { inbox, post, calls, errors } = openSqlite({
    database,
    on: { 'order.paid': ({ data }) => new Promise(() => calls.push([data.order_id, 1])) },
  });
  await post(orderPaid('ord_1'));
  await vi.waitFor(() => expect(calls).toHaveLength(1));
  database.close();
  await inbox.close();
  expect(String(errors.at(-1))).toContain('database is not open');
});

it('a closed database is not reported to have an open transaction', () => {
  const database = connect(':memory:');
  const connection = new Connection(withoutNewMethods(database));
  database.close();
  expect(() => connection.hasTransaction()).toThrow('database is not open');
});

describe.each<[string, (database: SqliteDatabase) => SqliteDatabase]>([
  ['with isTransaction', (database) => database],
  ['without isTransaction', withoutNewMethods],
])('a delivery that arrives while the shop has a transaction open, on a database %s', (_form, form) => {
  function shop() {
    const database = connect(temporaryFile());
    const all = openSqlite({ database: form(database) });
    const responded = vi.fn();
    const arrive = () => {
      const response = all.post(orderPaid('ord_1'));
      void response.then(responded);
      return response;
    };
    return { ...all, database, responded, arrive };
  }

  it.each(['COMMIT', 'ROLLBACK'])('gets no response before the %s, and is not part of it', async (end) => {
    const { inbox, database, responded, arrive, calls } = shop();
    database.exec('BEGIN');
    const response = arrive();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(responded).not.toHaveBeenCalled();
    database.exec(end);
    expect(await response).toEqual(received);
    expect(await inbox.get('order.paid:ord_1')).toBeDefined();
    await inbox.idle();
    expect(calls).toEqual([['ord_1', 1]]);
  });

  it('gets 500, and is not stored, if the transaction stays open', async () => {
    const { inbox, database, arrive, errors } = shop();
    database.exec('BEGIN');
    expect(await runTimers(arrive())).toEqual({ status: 500, body: { error: 'internal_error' } });
    expect(errors).toMatchObject([
      { message: expect.stringContaining('A transaction stayed open on the database') },
    ]);
    database.exec('ROLLBACK');
    expect(await inbox.list()).toEqual([]);
  });
});

describe('a transaction that the function passed to commit() begins', () => {
  it('is refused with an error that says what to do, and nothing is written', async () => {
    const { database, inbox, post, errors } = inboxThatCommits(
      "INSERT INTO orders VALUES ('x'); BEGIN; INSERT INTO orders VALUES ('y'); COMMIT",
    );
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(errors).toMatchObject([
      {
        code: 'inbox_commit',
        message:
          'The function passed to commit() began a transaction where one was open, so commit() was rolled back. In the database ' +
          'of the inbox it runs in one that also marks the delivery done: leave BEGIN and COMMIT out, or use SAVEPOINT and RELEASE.',
      },
    ]);
    expect(database.prepare('SELECT * FROM orders').all()).toEqual([]);
    expect(await inbox.stats()).toMatchObject({ parked: 1, done: 0 });
  });

  it('on another database, where one is open, is refused in words that hold there too', async () => {
    const other = connect(':memory:');
    other.exec('BEGIN');
    const { inbox, post, errors } = openSqlite({
      retries: [],
      on: { 'order.paid': (_event, { commit }) => commit(() => other.exec('BEGIN')) },
    });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    const message = expect.stringContaining(
      'began a transaction where one was open, so commit() was rolled back.',
    );
    expect(errors).toMatchObject([{ code: 'inbox_commit', message }]);
    expect(await inbox.stats()).toMatchObject({ parked: 1, done: 0 });
  });

  it('may be a savepoint', async () => {
    const { database, inbox, post } = inboxThatCommits(
      "SAVEPOINT a; INSERT INTO orders VALUES ('x'); RELEASE a",
    );
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(database.prepare('SELECT * FROM orders').all()).toEqual([{ id: 'x' }]);
  });
});

describe('a COMMIT that fails', () => {
  it.each([true, false])(
    'leaves nothing written, and nothing called done; its error is caught: %j',
    async (isCaught) => {
      const database = connect(temporaryFile());
      database.exec(`PRAGMA foreign_keys = ON; CREATE TABLE orders (id TEXT PRIMARY KEY);
      CREATE TABLE paid (id TEXT REFERENCES orders (id) DEFERRABLE INITIALLY DEFERRED)`);
      const after = vi.fn();
      const { inbox, post, hookCalls } = openSqlite({
        database,
        retries: [],
        on: {
          'order.paid': (_event, { commit }) => {
            try {
              commit((db) => db.prepare("INSERT INTO paid VALUES ('ord_1')").run());
              after();
            } catch (error) {
              if (!isCaught) throw error;
            }
          },
        },
      });
      await post(orderPaid('ord_1'));
      await inbox.idle();
      expect(after).not.toHaveBeenCalled();
      expect(database.prepare('SELECT * FROM paid').all()).toEqual([]);
      expect(await inbox.get('order.paid:ord_1')).toMatchObject({
        state: 'parked',
        lastError: expect.stringContaining('FOREIGN KEY constraint failed'),
      });
      expect(hookCalls.map(([name]) => name)).toEqual(['received', 'started', 'failed', 'parked']);
    },
  );
});

describe('a transaction of the shop that is open while a function ends', () => {
  it('keeps the delivery done if it is rolled back', async () => {
    const database = connect(temporaryFile());
    const { inbox, post } = openSqlite({
      database,
      on: {
        'order.paid': () => {
          database.exec('BEGIN');
          setTimeout(() => database.exec('ROLLBACK'), 60);
        },
      },
    });
    await post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ done: 1 }), { timeout: 15_000 });
    expect(new Connection(database).hasTransaction()).toBe(false);
  });

  it('delays the next delivery without an error', async () => {
    const database = connect(temporaryFile());
    const storing = openSqlite({ database, work: false });
    for (const id of ['ord_1', 'ord_2']) await storing.post(orderPaid(id));
    const handled: string[] = [];
    const { inbox, errors } = openSqlite({
      database,
      on: {
        'order.paid': (event) => {
          if (handled.push(event.data.order_id) > 1) return;
          database.exec('BEGIN');
          setTimeout(() => database.exec('ROLLBACK'), 60);
        },
      },
    });
    await inbox.idle();
    expect([handled, errors]).toEqual([['ord_1', 'ord_2'], []]);
  });

  it('makes commit() fail, and the delivery is tried again', async () => {
    const database = connect(temporaryFile());
    const { inbox, post, errors } = openSqlite({
      database,
      retries: ['1ms'],
      on: {
        'order.paid': (_event, { attempt, commit }) => {
          if (attempt === 1) {
            database.exec('BEGIN');
            setTimeout(() => database.exec('ROLLBACK'), 30);
          }
          commit(() => {});
        },
      },
    });
    await post(orderPaid('ord_1'));
    await vi.waitFor(
      async () => expect(await inbox.get('order.paid:ord_1')).toMatchObject({ state: 'done', attempts: 2 }),
      {
        timeout: 15_000,
      },
    );
    expect(errors).toMatchObject([
      {
        code: 'inbox_busy',
        message:
          'commit() could not write: A transaction stayed open on the database that was passed to openInbox(). Commit it ' +
          'without waiting for other work, and before commit(), which begins its own. Nothing was written; the delivery is ' +
          'tried again.',
      },
    ]);
  });
});
