import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { ConfigurationError, openInbox } from '../../src/inbox/index.js';
import { databaseClass } from '../../src/inbox/sqlite.js';
import { SqliteStore } from '../../src/inbox/sqlite-store.js';
import { sign } from '../../src/webhooks/index.js';
import { isWindows, permissions } from '../helpers/systems.js';
import {
  connect,
  deferCleanup,
  openSqlite,
  orderPaid,
  received,
  runTimers,
  secret,
  temporaryFile,
  temporaryFolder,
} from './inboxes.js';

const failed = { status: 500, body: { error: 'internal_error' } };

function open(file: string) {
  return () => openInbox({ file, secret, on: { 'order.paid': () => {} } });
}

describe('the file', () => {
  it('is created with mode 600, and so are the files that SQLite keeps beside it', async () => {
    const file = temporaryFile();
    const { post, inbox } = openSqlite({ file });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    const modes = readdirSync(dirname(file)).map((name) => [
      name,
      statSync(join(dirname(file), name)).mode & 0o777,
    ]);
    expect(modes).toEqual([
      ['inbox.sqlite', permissions(0o600)],
      ['inbox.sqlite-shm', permissions(0o600)],
      ['inbox.sqlite-wal', permissions(0o600)],
    ]);
  });

  it('holds body and headers, and never the secret', async () => {
    const file = temporaryFile();
    const { post, inbox } = openSqlite({
      file,
      on: { 'order.paid': () => Promise.reject(new Error(`${secret} did not work`)) },
    });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    const text = readdirSync(dirname(file))
      .map((name) => readFileSync(join(dirname(file), name), 'latin1'))
      .join();
    expect(text).toContain('ord_1');
    expect(text).toContain('x-service-signature');
    expect(text).toContain('did not work');
    expect(text).not.toContain(secret);
  });

  it('holds no bytes of purged deliveries: they are overwritten', async () => {
    const file = temporaryFile();
    const { inbox, post } = openSqlite({ file });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(readFileSync(`${file}-wal`, 'latin1')).toContain('19.90');
    expect(await inbox.purge({ olderThan: new Date(Date.now() + 1000) })).toBe(1);
    for (const name of readdirSync(dirname(file)))
      expect(readFileSync(join(dirname(file), name), 'latin1')).not.toContain('19.90');
  });

  it('holds no bytes of purged deliveries, even if another connection reads meanwhile', async () => {
    const file = temporaryFile();
    const { inbox, post } = openSqlite({ file });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    const other = connect(file);
    other.exec('BEGIN');
    other.prepare('SELECT * FROM payments_inbox').all();
    setTimeout(() => other.exec('COMMIT'), 150);
    expect(await inbox.purge({ olderThan: new Date(Date.now() + 1000) })).toBe(1);
    for (const name of readdirSync(dirname(file)))
      expect(readFileSync(join(dirname(file), name), 'latin1')).not.toContain('19.90');
  });

  it('that may only be read is refused', async () => {
    const file = temporaryFile();
    await openSqlite({ file }).inbox.close();
    const database = Reflect.construct(databaseClass(), [file, { readOnly: true }]);
    deferCleanup(() => database.close());
    expect(() => openInbox({ database, secret, on: { 'order.paid': () => {} } })).toThrow(
      ' cannot be used as an inbox: attempt to write a readonly database.',
    );
  });

  it('is written before the response: FULL synchronization with a write-ahead log', async () => {
    const file = temporaryFile();
    const levels: unknown[] = [];
    const { inbox, post } = openSqlite({
      file,
      on: {
        'order.paid': (_event, { commit }) =>
          commit((db) =>
            levels.push(db.prepare('PRAGMA synchronous').get(), db.prepare('PRAGMA journal_mode').get()),
          ),
      },
    });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(levels).toEqual([{ synchronous: 2 }, { journal_mode: 'wal' }]);
  });

  it('may be empty, or hold tables of yours', async () => {
    const empty = temporaryFile();
    writeFileSync(empty, '');
    openSqlite({ file: empty });
    const own = temporaryFile();
    connect(own).exec("CREATE TABLE orders (id TEXT); INSERT INTO orders VALUES ('ord_1')");
    const { inbox, post } = openSqlite({
      file: own,
      on: { 'order.paid': (_event, { commit }) => commit((db) => db.exec("UPDATE orders SET id = 'paid'")) },
    });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(connect(own).prepare('SELECT id FROM orders').all()).toEqual([{ id: 'paid' }]);
  });

  it.each<[string, string | Buffer]>([
    ['text', 'This is no database, and it is longer than the header of one. '.repeat(20)],
    ['a picture', Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(2000, 7)])],
  ])('that is %s is refused and left as it was', (_form, content) => {
    const file = temporaryFile();
    writeFileSync(file, content, { mode: 0o644 });
    const before = readFileSync(file);
    expect(open(file)).toThrow(ConfigurationError);
    expect(open(file)).toThrow(
      /cannot be used as an inbox: file is not a database\. Pass the SQLite file of the inbox, or the name of a new one\.$/,
    );
    expect(readFileSync(file)).toEqual(before);
    expect(statSync(file).mode & 0o777).toBe(permissions(0o644));
    expect(readdirSync(dirname(file))).toEqual(['inbox.sqlite']);
  });

  it('of a later version that breaks this one is refused and left as it was', async () => {
    const file = temporaryFile();
    const { inbox, post } = openSqlite({ file });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    await inbox.close();
    const database = connect(file);
    database.exec(
      'INSERT INTO payments_inbox_version VALUES (2, true), (3, false); PRAGMA journal_mode = DELETE',
    );
    database.close();
    const before = readFileSync(file);
    expect(open(file)).toThrow(ConfigurationError);
    expect(open(file)).toThrow(
      /^"[^"]+" holds an inbox of version 3, and this package reads version 1: version 2 breaks it\. Update merchant-payments\. Nothing was changed\.$/,
    );
    expect(readFileSync(file)).toEqual(before);
  });

  it.each([
    ['CREATE TABLE payments_inbox (id INTEGER)', 'no such column: due_at'],
    ['CREATE TABLE payments_inbox_refused (id INTEGER)', 'no such column: code'],
    ['ALTER TABLE payments_inbox RENAME last_error TO failure', 'no such column: last_error'],
    ['ALTER TABLE payments_inbox_content DROP encoding', 'no such column: encoding'],
    ['DROP TABLE payments_inbox_refused', 'no such table: payments_inbox_refused'],
  ])('with tables of another program, or with other columns, is refused at once: %s', async (sql, reason) => {
    const file = temporaryFile();
    if (!sql.startsWith('CREATE')) await openSqlite({ file }).inbox.close();
    const database = connect(file);
    database.exec(sql);
    const tables = () => database.prepare('SELECT name FROM sqlite_schema ORDER BY 1').all();
    const before = tables();
    const message = ` has tables named payments_inbox that are not of this package: ${reason}. Rename them, or use another`;
    expect(open(file)).toThrow(new ConfigurationError(`${JSON.stringify(file)}${message} file.`));
    expect(() => openSqlite({ database })).toThrow(
      new ConfigurationError(`${JSON.stringify(file)}${message} database.`),
    );
    expect(tables()).toEqual(before);
  });

  it.each([
    [
      'with what a later version added',
      'ALTER TABLE payments_inbox ADD note text; INSERT INTO payments_inbox_version VALUES (2, false)',
    ],
    ['whose version was not copied, as in a dump of its tables', 'DELETE FROM payments_inbox_version'],
  ])('%s is used', async (_file, change) => {
    const file = temporaryFile();
    await openSqlite({ file }).inbox.close();
    connect(file).exec(change);
    const { inbox, post } = openSqlite({ file });
    expect(await post(orderPaid('ord_1'))).toEqual(received);
    await inbox.idle();
    expect(await inbox.stats()).toMatchObject({ done: 1 });
  });

  it('is opened while another program writes into it', async () => {
    const file = temporaryFile();
    await openSqlite({ file }).inbox.close();
    const other = connect(file);
    other.exec('BEGIN IMMEDIATE');
    expect(await openSqlite({ file, work: false }).inbox.stats()).toMatchObject({ pending: 0 });
    other.exec('ROLLBACK');
  });

  it('in a folder that does not exist is refused', () => {
    const file = join(temporaryFolder(), 'missing', 'inbox.sqlite');
    expect(open(file)).toThrow(/cannot be used as an inbox: ENOENT.* in a folder that exists/);
    expect(existsSync(dirname(file))).toBe(false);
  });

  it('must not be a folder', () => {
    const folder = join(temporaryFolder(), 'inbox.sqlite');
    mkdirSync(folder);
    expect(open(folder)).toThrow(ConfigurationError);
  });

  it('is a path, whatever characters it has', () => {
    const folder = temporaryFolder();
    // Windows knows no question mark in a name.
    const file = join(folder, isWindows ? 'a&mode=memory #%20.sqlite' : 'a?mode=memory #%20.sqlite');
    openSqlite({ file });
    expect(existsSync(file)).toBe(true);
  });

  // Nor a colon.
  it.skipIf(isWindows)('is a path also where it looks like a URL of SQLite', () => {
    const file = `file:inbox-${process.pid}.sqlite?mode=memory`;
    deferCleanup(() => rmSync(resolve(file), { force: true }));
    const store = new SqliteStore({ file });
    deferCleanup(() => store.close());
    expect(existsSync(resolve(file))).toBe(true);
  });

  it('is not created for an inbox in memory', async () => {
    rmSync(':memory:', { force: true });
    await new SqliteStore({ file: ':memory:' }).close();
    expect(existsSync(':memory:')).toBe(false);
  });
});

describe('a quarantine that two programs recover at once', () => {
  it('keeps what took the place of an entry that the other one has recovered', async () => {
    const file = temporaryFile();
    const { inbox, post } = openSqlite({ file, work: false });
    await post(orderPaid('ord_1'), sign({ rawBody: orderPaid('ord_1'), secret: 'whsec_another' }));
    // SQLite gives the id of the newest entry to the next one once that is deleted.
    const other = connect(file);
    const verify = () => {
      other.exec(`DELETE FROM payments_inbox_refused;
        INSERT INTO payments_inbox_refused (code, received_at, bytes, headers, raw_body)
        VALUES ('signature_mismatch', 1000, 1, '{}', 'ord_2')`);
      return true;
    };
    await inbox.recover({ scheme: { verify } });
    expect(await inbox.refused()).toMatchObject([{ id: 1, rawBody: 'ord_2' }]);
  });
});

describe('a disk that is full', () => {
  it('gives 500 and calls onError, keeps stored deliveries, and stores again once there is room', async () => {
    const file = temporaryFile();
    const database = connect(file);
    const { inbox, post, errors, hookCalls, calls } = openSqlite({ database });
    expect(await post(orderPaid('ord_1'))).toEqual(received);
    await inbox.idle();
    const pages = Number(database.prepare('PRAGMA page_count').get()?.page_count);
    database.exec(`PRAGMA max_page_count = ${pages}`);
    const long = JSON.stringify({
      type: 'order.paid',
      data: { order_id: 'ord_2', amount: '1.00', currency: 'USD', note: 'x'.repeat(100_000) },
    });
    expect(await post(long)).toEqual(failed);
    expect(errors).toMatchObject([{ message: expect.stringContaining('full') }]);
    expect(hookCalls.at(-1)).toEqual(['refused', { status: 500, code: 'internal_error' }]);
    expect(await inbox.stats()).toMatchObject({ done: 1, pending: 0 });
    database.exec('PRAGMA max_page_count = 100000');
    expect(await post(long)).toEqual(received);
    await inbox.idle();
    expect(calls.map(([id]) => id)).toEqual(['ord_1', 'ord_2']);
  });
});

describe('a file that another program has locked', () => {
  it('gives 200 once it is free', async () => {
    const file = temporaryFile();
    const { inbox, post, calls } = openSqlite({ file });
    const other = connect(file);
    other.exec('BEGIN IMMEDIATE');
    const response = post(orderPaid('ord_1'));
    const responded = vi.fn();
    void response.then(responded);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(responded).not.toHaveBeenCalled();
    other.exec('ROLLBACK');
    expect(await response).toEqual(received);
    await inbox.idle();
    expect(calls).toEqual([['ord_1', 1]]);
  });

  it('gives 500 and onError if it stays locked, and the server goes on', async () => {
    const file = temporaryFile();
    const { inbox, post, errors, calls } = openSqlite({ file });
    const other = connect(file);
    other.exec('BEGIN IMMEDIATE');
    expect(await runTimers(post(orderPaid('ord_1')))).toEqual(failed);
    expect(errors).toMatchObject([{ message: expect.stringContaining('locked') }]);
    other.exec('ROLLBACK');
    expect(await post(orderPaid('ord_1'))).toEqual(received);
    await inbox.idle();
    expect(calls).toEqual([['ord_1', 1]]);
  });
});

describe('a file that is damaged while it is open', () => {
  it('gives 500 and onError, never 200, and does not end the process', async () => {
    const file = temporaryFile();
    const { inbox, post, errors } = openSqlite({ file });
    expect(await post(orderPaid('ord_1'))).toEqual(received);
    await inbox.idle();
    connect(file).exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const noise = Buffer.alloc(statSync(file).size, 0xa5);
    writeFileSync(file, noise);
    // Another connection has to notice that the pages it remembers are old.
    writeFileSync(`${file}-wal`, '');
    const statuses = [];
    for (const id of ['ord_2', 'ord_3']) statuses.push((await post(orderPaid(id))).status);
    expect(statuses).toEqual([500, 500]);
    expect(errors.length).toBeGreaterThanOrEqual(2);
  });

  it('is reported less and less often while nothing arrives', async () => {
    vi.useFakeTimers();
    try {
      const file = temporaryFile();
      const database = connect(file);
      const { errors } = openSqlite({ database });
      await vi.advanceTimersByTimeAsync(1000);
      database.exec('DROP TABLE payments_inbox');
      await vi.advanceTimersByTimeAsync(60_000);
      expect(errors.length).toBeGreaterThan(3);
      expect(errors.length).toBeLessThan(12);
    } finally {
      vi.useRealTimers();
    }
  });
});

// Windows lets nobody delete or replace a file that is open.
describe.skipIf(isWindows)('a file that is no longer in its place', () => {
  it.each<[string, (file: string) => void]>([
    ['was deleted', (file) => rmSync(file)],
    ['was replaced', (file) => renameSync(temporaryCopy(file), file)],
    ['lost its write-ahead log', (file) => rmSync(`${file}-wal`)],
  ])('because it %s gives 500 and onError, as its rows would be lost with the process', async (_, remove) => {
    const file = temporaryFile();
    const { post, errors } = openSqlite({ file });
    expect(await post(orderPaid('ord_1'))).toEqual(received);
    remove(file);
    expect(await post(orderPaid('ord_2'))).toEqual(failed);
    const message = `${JSON.stringify(file)} was deleted or replaced while an inbox was open, so what is stored would be lost. Restore the file with its -wal, or restart the process on a new one.`;
    expect(errors).toMatchObject([{ name: 'ConfigurationError', message }]);
  });

  it('does not exist for an inbox in memory, which is taken as it is', async () => {
    expect(await openSqlite({ file: ':memory:' }).post(orderPaid('ord_1'))).toEqual(received);
  });
});

function temporaryCopy(file: string): string {
  copyFileSync(file, `${file}.copy`);
  return `${file}.copy`;
}
