import { beforeEach, describe, expect, it, vi } from 'vitest';
import { connect, deferCleanup, openSqlite, orderPaid, temporaryFile, withResolvers } from './inboxes.js';

beforeEach(() => {
  vi.useFakeTimers();
  deferCleanup(() => vi.useRealTimers());
});

describe('a delivery', () => {
  it('is worked on at once, even after a long idle time, and so is the delivery that waits behind it', async () => {
    const { post, calls } = openSqlite({ concurrency: 1 });
    for (const id of ['a', 'b', 'c']) {
      await post(orderPaid(id));
      await post(orderPaid(`${id}2`));
      await vi.advanceTimersByTimeAsync(2);
      expect(calls.slice(-2).map(([order]) => order)).toEqual([id, `${id}2`]);
      await vi.advanceTimersByTimeAsync(1000);
    }
  });

  it('that failed is worked on when its wait is over, not only when rows are looked for', async () => {
    const attempts: number[] = [];
    const { post } = openSqlite({
      retries: [20],
      on: {
        'order.paid': (_event, { attempt }) => {
          attempts.push(attempt);
          throw new Error('down');
        },
      },
    });
    await post(orderPaid('a'));
    await vi.advanceTimersByTimeAsync(10);
    expect(attempts).toEqual([1]);
    await vi.advanceTimersByTimeAsync(20);
    expect(attempts).toEqual([1, 2]);
  });

  it('that another process stores is taken up within a second', async () => {
    const file = temporaryFile();
    const { calls } = openSqlite({ file });
    const web = openSqlite({ file, work: false });
    await vi.advanceTimersByTimeAsync(1010);
    await web.post(orderPaid('a'));
    await vi.advanceTimersByTimeAsync(1000);
    expect(calls).toEqual([['a', 1]]);
  });

  it('keeps its lease for as long as its function runs, however short it is', async () => {
    const file = temporaryFile();
    const { promise, resolve } = withResolvers();
    const { inbox, post } = openSqlite({ file, leaseMs: 100, on: { 'order.paid': () => promise } });
    await post(orderPaid('a'));
    const row = connect(file).prepare('SELECT due_at FROM payments_inbox');
    for (let passedMs = 0; passedMs < 2000; passedMs += 10) {
      await vi.advanceTimersByTimeAsync(10);
      expect(Number(row.get()?.due_at)).toBeGreaterThan(Date.now() + 20);
    }
    expect(await inbox.get('order.paid:a')).toMatchObject({ state: 'running', attempts: 1 });
    resolve();
  });

  it('whose function goes on after commit() needs no lease: its signal is not aborted', async () => {
    const { promise, resolve } = withResolvers();
    const signals: AbortSignal[] = [];
    const { post } = openSqlite({
      leaseMs: 100,
      on: {
        'order.paid': (_event, { commit, signal }) => {
          commit(() => {});
          signals.push(signal);
          return promise;
        },
      },
    });
    await post(orderPaid('a'));
    await vi.advanceTimersByTimeAsync(1000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    resolve();
  });
});

describe('an inbox that is being closed', () => {
  it('takes up nothing that another process stores, and has no timer left', async () => {
    const file = temporaryFile();
    const { promise, resolve } = withResolvers();
    const taken: string[] = [];
    const { inbox, post } = openSqlite({
      file,
      graceMs: 10_000,
      on: { 'order.paid': (event) => taken.push(event.data.order_id) && promise },
    });
    const web = openSqlite({ file, work: false });
    await post(orderPaid('a'));
    await vi.advanceTimersByTimeAsync(10);
    const closing = inbox.close();
    await web.post(orderPaid('b'));
    await vi.advanceTimersByTimeAsync(1000);
    resolve();
    await closing;
    await vi.advanceTimersByTimeAsync(1000);
    expect(taken).toEqual(['a']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('has no timer left when a function ends after it was closed', async () => {
    const { promise, resolve } = withResolvers();
    const { inbox, post, errors } = openSqlite({ on: { 'order.paid': () => promise } });
    await post(orderPaid('a'));
    await vi.advanceTimersByTimeAsync(10);
    await inbox.close();
    resolve();
    await vi.advanceTimersByTimeAsync(1000);
    expect([vi.getTimerCount(), errors]).toEqual([0, []]);
  });
});
