import { describe, expect, it, vi } from 'vitest';
import type { Duration } from '../../../src/inbox/index.js';
import { orderPaid, withResolvers } from '../inboxes.js';
import { type ContractDelivery, isPostgres, newPlace, openAt, type Place } from './places.js';

/** An inbox whose function does as it is told, beside a table of the shop's. */
function shop(fulfil: (delivery: ContractDelivery, place: Place) => unknown, retries: Duration[] = ['1ms']) {
  const place = newPlace();
  const all = openAt({
    place,
    retries,
    on: { 'order.paid': (_event, delivery) => fulfil(delivery, place) },
  });
  const listPaid = async () => (await place.run('SELECT order_id FROM $paid')).map((row) => row.order_id);
  const state = () => all.inbox.get('order.paid:ord_1');
  return { ...all, listPaid, state, place };
}

/** On PostgreSQL the transaction waits; on SQLite it cannot, and what was written is written. */
function runAfter(written: unknown, next: () => unknown): unknown {
  if (isPostgres()) return Promise.resolve(written).then(next);
  next();
}

describe('commit(fn)', () => {
  it('writes into the same database and marks the delivery done, in one transaction', async () => {
    let seenInside: Promise<unknown[]> | undefined;
    const { inbox, post, listPaid, state } = shop(({ commit }, { pay, run }) => {
      // Another connection sees neither of the two before the transaction ends.
      const look = () => {
        seenInside = Promise.all([run('SELECT * FROM $paid'), run('SELECT state FROM $inbox')]);
        return seenInside;
      };
      return commit((db) => runAfter(pay(db), look));
    });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(await seenInside).toEqual([[], [{ state: 'running' }]]);
    expect(await listPaid()).toEqual(['ord_1']);
    expect(await state()).toMatchObject({ state: 'done', attempts: 1 });
  });

  it.each([1, null, undefined])('returns what fn returned, such as %j', async (result) => {
    const results: unknown[] = [];
    const { inbox, post } = shop(async ({ commit }) => results.push(await commit(() => result)));
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(results).toEqual([result]);
  });

  it('is done at once, while the function still runs', async () => {
    const { promise, resolve } = withResolvers();
    const { inbox, post, state } = shop(async ({ commit }, { pay }) => {
      await commit(pay);
      await promise;
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
    const { inbox, post, listPaid, state, errors, hookCalls } = shop(async ({ commit }, { pay }) => {
      await commit(pay);
      throw new Error('no mail');
    });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect([await listPaid(), (await state())?.state, errors]).toEqual([
      ['ord_1'],
      'done',
      [new Error('no mail')],
    ]);
    expect(hookCalls.map(([name]) => name)).toEqual(['received', 'started', 'done']);
    expect(hookCalls[2]?.[1]).toEqual({
      key: 'order.paid:ord_1',
      type: 'order.paid',
      attempt: 1,
      durationMs: expect.any(Number),
    });
  });

  it('is waited for although nobody awaits it', async () => {
    const { inbox, post, listPaid, state } = shop(({ commit }, { pay }) => {
      commit(pay);
    });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect([await listPaid(), await state()]).toMatchObject([['ord_1'], { state: 'done', attempts: 1 }]);
  });

  it('rolls back what fn wrote when fn throws, and the attempt has failed', async () => {
    const { inbox, post, listPaid, state } = shop(({ commit, attempt }, { pay }) =>
      commit((db) => {
        const fail = () => {
          if (attempt === 1) throw new Error('constraint');
        };
        return runAfter(pay(db), fail);
      }),
    );
    await post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect(await state()).toMatchObject({ state: 'done', attempts: 2 }));
    await inbox.idle();
    expect(await listPaid()).toEqual(['ord_1']);
  });

  it('that failed is not forgotten when the function catches its error: the attempt has failed', async () => {
    const { inbox, post, listPaid, state } = shop(async ({ commit }) => {
      try {
        await commit(() => {
          throw new Error('constraint');
        });
      } catch {}
    }, []);
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect([await listPaid(), await state()]).toMatchObject([
      [],
      { state: 'parked', lastError: 'Error: constraint' },
    ]);
  });

  it('refuses an argument that is no function', async () => {
    const { inbox, post, state } = shop(({ commit }) => Reflect.apply(commit, undefined, ['UPDATE']), []);
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(await state()).toMatchObject({
      state: 'parked',
      lastError: expect.stringContaining('commit() takes a function, not a generator.'),
    });
  });

  it('refuses a generator, which would run nothing', async () => {
    const { inbox, post, listPaid, state } = shop(async ({ commit }, { pay }) => {
      await commit(function* (tx) {
        yield pay(tx);
      });
    }, []);
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect([await listPaid(), await state()]).toMatchObject([
      [],
      { state: 'parked', lastError: expect.stringContaining('commit() takes a function, not a generator.') },
    ]);
  });

  it('can be called once per attempt', async () => {
    const second = vi.fn();
    const { inbox, post, listPaid, state, errors } = shop(async ({ commit }, { pay }) => {
      await commit(pay);
      await commit(second);
    });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(second).not.toHaveBeenCalled();
    expect([await listPaid(), (await state())?.state]).toEqual([['ord_1'], 'done']);
    expect(errors).toMatchObject([
      { code: 'inbox_commit', message: expect.stringContaining('once per attempt') },
    ]);
  });

  it('cannot be called inside itself', async () => {
    const { inbox, post, listPaid, state } = shop(({ commit }, { pay }) => commit(() => commit(pay)), []);
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect([await listPaid(), (await state())?.state]).toEqual([[], 'parked']);
  });

  it('after the function has returned parks the delivery, as it shows that the work had not been done', async () => {
    const kept: ContractDelivery[] = [];
    const { inbox, post, listPaid, state, errors, hookCalls, place } = shop(
      (delivery) => void (kept.length < 2 && kept.push(delivery)),
    );
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(await state()).toMatchObject({ state: 'done' });
    const lastError =
      'commit() came after the attempt had ended. Nothing was written. Return or await what your function starts.';
    const commitLate = async () => kept[0]?.commit(place.pay);
    await expect(commitLate).rejects.toMatchObject({ code: 'inbox_commit', message: lastError });
    await vi.waitFor(async () => expect(await state()).toMatchObject({ state: 'parked', lastError }));
    await expect(commitLate).rejects.toThrow('after the attempt had ended');
    expect(await listPaid()).toEqual([]);
    await vi.waitFor(() => expect(errors).toMatchObject([{ code: 'inbox_commit', message: lastError }]));
    expect(hookCalls.map(([name]) => name)).toEqual(['received', 'started', 'done', 'parked']);
    // It is found and tried again, and what the earlier attempt kept can no longer park it.
    expect(await inbox.retry('order.paid:ord_1')).toBe(true);
    await inbox.idle();
    await expect(commitLate).rejects.toThrow('after the attempt had ended');
    await inbox.stats();
    expect(await state()).toMatchObject({ state: 'done', attempts: 2 });
  });

  it('after the attempt has failed, or was committed, changes nothing', async () => {
    const kept: ContractDelivery[] = [];
    const { inbox, post, listPaid, state, errors } = shop(async (delivery, { pay }) => {
      kept.push(delivery);
      if (kept.length === 1) throw new Error('no stock');
      await delivery.commit(pay);
    });
    await post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect(await state()).toMatchObject({ state: 'done', attempts: 2 }));
    await inbox.idle();
    for (const { commit } of kept)
      await expect(async () => commit(() => {})).rejects.toThrow(/ended\. Nothing was written\.$/);
    await inbox.stats();
    expect([await listPaid(), (await state())?.state]).toEqual([['ord_1'], 'done']);
    expect(errors).toEqual([new Error('no stock')]);
  });

  const builder = { execute: () => expect.unreachable() };
  it.each<[string, () => unknown]>([
    ['a function', () => () => {}],
    ['a generator', () => (function* () {})()],
    ['a query builder', () => builder],
    ['promises in an array', () => [1].map(async () => {})],
    ['a rejected promise in an array', () => [1].map(() => Promise.reject(new Error('constraint')))],
  ])('is rolled back if fn returns %s, which may not have run', async (_what, result) => {
    const { inbox, post, listPaid, state } = shop(
      ({ commit }, { pay }) =>
        commit((db) => {
          const written = pay(db);
          return isPostgres() ? Promise.resolve(written).then(result) : result();
        }),
      [],
    );
    await post(orderPaid('ord_1'));
    await inbox.idle();
    const lastError = expect.stringContaining(
      'The function passed to commit() returned a function, a generator, a query, a statement or promises in an array',
    );
    expect([await listPaid(), await state()]).toMatchObject([[], { state: 'parked', lastError }]);
  });

  it('does not repeat what fn wrote even if fn commits the transaction by itself: SQLite tells onError', async () => {
    const { inbox, post, listPaid, state, errors } = shop(({ commit }, { pay }) =>
      commit((db) => {
        const written = pay(db);
        if ('exec' in db) return db.exec('COMMIT');
        return Promise.all([written, db.query('COMMIT')]);
      }),
    );
    await post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect(await state()).toMatchObject({ state: 'done', attempts: 1 }));
    await inbox.idle();
    expect(await listPaid()).toEqual(['ord_1']);
    expect(errors).toHaveLength(isPostgres() ? 0 : 1);
  });

  it('fails if fn rolls the transaction back by itself, and the next attempt writes once', async () => {
    const { post, listPaid, state, errors } = shop(
      ({ commit, attempt }, { pay }) =>
        commit((db) => {
          const written = pay(db);
          if (attempt > 1) return written;
          if ('exec' in db) return db.exec('ROLLBACK');
          return Promise.all([written, db.query('ROLLBACK')]);
        }),
      ['20ms'],
    );
    await post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect(await state()).toMatchObject({ state: 'done', attempts: 2 }));
    expect(await listPaid()).toEqual(['ord_1']);
    const ended = { code: 'inbox_commit', message: 'The function passed to commit() ended its transaction.' };
    expect(errors[0]).toMatchObject(
      isPostgres() ? ended : { message: expect.stringContaining('no transaction is active') },
    );
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
