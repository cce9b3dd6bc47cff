import { describe, expect, it, vi } from 'vitest';
import type { Duration, InboxDelivery, SqliteDatabase } from '../../src/inbox/index.js';
import { connect, opened, orderPaid, temporaryFile, withResolvers } from './inboxes.js';

/** An inbox whose function does as it is told, in a file with a table of the shop's. */
function shop(fulfil: (delivery: InboxDelivery) => unknown, retries: Duration[] = ['1ms']) {
  const file = temporaryFile();
  const database = connect(file);
  database.exec('CREATE TABLE paid (order_id TEXT)');
  const all = opened({
    file,
    retries,
    on: { 'order.paid': (_event, delivery) => fulfil(delivery) },
  });
  const paid = () =>
    database
      .prepare('SELECT order_id FROM paid')
      .all()
      .map((row) => row.order_id);
  const state = () => all.inbox.get('order.paid:ord_1');
  return { ...all, paid, state, database };
}

const insert = (db: SqliteDatabase) => db.prepare("INSERT INTO paid VALUES ('ord_1')").run();

describe('commit(fn)', () => {
  it('writes into the same database and marks the delivery done, in one transaction', async () => {
    let seenInside: unknown;
    const { inbox, post, paid, state, database } = shop(({ commit, key }) =>
      commit((db) => {
        insert(db);
        // Another connection sees neither of the two before the transaction ends.
        seenInside = [
          paid(),
          database.prepare('SELECT state FROM payments_inbox WHERE key = ?').get(key)?.state,
        ];
      }),
    );
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(seenInside).toEqual([[], 'running']);
    expect(paid()).toEqual(['ord_1']);
    expect(await state()).toMatchObject({ state: 'done', attempts: 1 });
  });

  it.each([1, null, undefined])('returns what fn returned, such as %j', async (result) => {
    const results: unknown[] = [];
    const { inbox, post } = shop(({ commit }) => results.push(commit(() => result)));
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(results).toEqual([result]);
  });

  it('is done at once, while the function still runs', async () => {
    const { promise, resolve } = withResolvers();
    const { inbox, post, state } = shop(({ commit }) => {
      commit(insert);
      return promise;
    });
    await post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect(await state()).toMatchObject({ state: 'done' }));
    const idle = vi.fn();
    const waiting = inbox.idle().then(idle);
    await new Promise((done) => setTimeout(done, 30));
    expect(idle).not.toHaveBeenCalled();
    resolve();
    await waiting;
  });

  it('stays done when the function fails afterwards; onError gets the error', async () => {
    const { inbox, post, paid, state, errors, told } = shop(({ commit }) => {
      commit(insert);
      throw new Error('no mail');
    });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect([paid(), (await state())?.state, errors]).toEqual([['ord_1'], 'done', [new Error('no mail')]]);
    expect(told.map(([name]) => name)).toEqual(['received', 'started', 'done']);
    expect(told[2]?.[1]).toEqual({
      key: 'order.paid:ord_1',
      type: 'order.paid',
      attempt: 1,
      durationMs: expect.any(Number),
    });
  });

  it('rolls back what fn wrote when fn throws, and the attempt has failed', async () => {
    const { inbox, post, paid, state } = shop(({ commit, attempt }) =>
      commit((db) => {
        insert(db);
        if (attempt === 1) throw new Error('constraint');
      }),
    );
    await post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect(await state()).toMatchObject({ state: 'done', attempts: 2 }));
    await inbox.idle();
    expect(paid()).toEqual(['ord_1']);
  });

  it('that failed is not forgotten when the function catches its error: the attempt has failed', async () => {
    const { inbox, post, paid, state } = shop(({ commit }) => {
      try {
        commit(() => {
          throw new Error('constraint');
        });
      } catch {}
    }, []);
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect([paid(), await state()]).toMatchObject([[], { state: 'parked', lastError: 'Error: constraint' }]);
  });

  it.each<[string, (commit: InboxDelivery['commit']) => unknown]>([
    ['an async function', (commit) => commit(async (db) => insert(db))],
    ['a function that returns a promise', (commit) => commit((db) => Promise.resolve(insert(db)))],
    [
      'a function that returns a promise that rejects',
      (commit) => commit((db) => Promise.reject(new Error(`${insert(db).changes}`))),
    ],
  ])('refuses %s, and rolls back', async (_form, use) => {
    const { inbox, post, paid, state } = shop(({ commit }) => use(commit), []);
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(paid()).toEqual([]);
    expect(await state()).toMatchObject({
      state: 'parked',
      lastError:
        'PaymentsError: commit() takes a synchronous function, because a transaction cannot wait: nothing was written. ' +
        'Await what is needed first, then call commit().',
    });
  });

  it('does not even call an async function', async () => {
    const called = vi.fn();
    const { inbox, post } = shop(({ commit }) => commit(async () => called()), []);
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(called).not.toHaveBeenCalled();
  });

  it('refuses what is no function', async () => {
    const { inbox, post, state } = shop(({ commit }) => Reflect.apply(commit, undefined, ['UPDATE']), []);
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(await state()).toMatchObject({
      state: 'parked',
      lastError: expect.stringContaining('commit() takes a function.'),
    });
  });

  it('can be called once per attempt', async () => {
    const second = vi.fn();
    const { inbox, post, paid, state, errors } = shop(({ commit }) => {
      commit(insert);
      commit(second);
    });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(second).not.toHaveBeenCalled();
    expect([paid(), (await state())?.state]).toEqual([['ord_1'], 'done']);
    expect(errors).toMatchObject([
      { code: 'inbox_commit', message: expect.stringContaining('once per attempt') },
    ]);
  });

  it('cannot be called inside itself', async () => {
    const { inbox, post, paid, state } = shop(({ commit }) => commit(() => commit(insert)), []);
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect([paid(), (await state())?.state]).toEqual([[], 'parked']);
  });

  it('is refused once the attempt has ended', async () => {
    const kept: InboxDelivery[] = [];
    const { inbox, post, paid } = shop((delivery) => kept.push(delivery));
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(() => kept[0]?.commit(insert)).toThrow('after the attempt had ended');
    expect(paid()).toEqual([]);
  });

  it('does not repeat what fn wrote even if fn ends the transaction by itself', async () => {
    const { inbox, post, paid, state, errors } = shop(({ commit }) =>
      commit((db) => {
        insert(db);
        db.exec('COMMIT');
      }),
    );
    await post(orderPaid('ord_1'));
    await vi.waitFor(() => expect(errors).not.toEqual([]));
    await inbox.idle();
    expect(paid()).toEqual(['ord_1']);
    expect(await state()).toMatchObject({ state: 'done', attempts: 1 });
  });
});

describe('a function that returns without commit', () => {
  it('is marked done by itself', async () => {
    const { inbox, post, state } = shop(() => 'ignored');
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(await state()).toMatchObject({ state: 'done', attempts: 1 });
  });
});
