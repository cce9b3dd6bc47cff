import { describe, expect, it, vi } from 'vitest';
import type { InboxDelivery, SqliteDatabase } from '../../src/inbox/index.js';
import { connect, opened, orderPaid, temporaryFile } from './inboxes.js';

const insert = (db: SqliteDatabase) => db.prepare("INSERT INTO paid VALUES ('ord_1')").run();

/** What commit() does on both stores is in contract/. */
describe('commit(fn) on SQLite, where a transaction cannot wait', () => {
  it.each<[string, (commit: InboxDelivery['commit']) => unknown]>([
    ['an async function', (commit) => commit(async (db) => insert(db))],
    ['a function that returns a promise', (commit) => commit((db) => Promise.resolve(insert(db)))],
    [
      'a function that returns a promise that rejects',
      (commit) => commit((db) => Promise.reject(new Error(`${insert(db).changes}`))),
    ],
  ])('refuses %s, and rolls back', async (_form, use) => {
    const file = temporaryFile();
    const database = connect(file);
    database.exec('CREATE TABLE paid (order_id TEXT)');
    const { inbox, post } = opened({
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
        'PaymentsError: commit() takes a synchronous function, because a transaction cannot wait: nothing was written. ' +
        'Await what is needed first, then call commit().',
    });
  });

  it('does not even call an async function', async () => {
    const called = vi.fn();
    const { inbox, post } = opened({
      retries: [],
      on: { 'order.paid': (_event, { commit }) => commit(async () => called()) },
    });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(called).not.toHaveBeenCalled();
  });
});

it('is taken by force from a function that locks the database until its signal is aborted', async () => {
  const file = temporaryFile();
  let locks = 0;
  const { inbox, post } = opened({
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
