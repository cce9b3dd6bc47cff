import { describe, expect, it, vi } from 'vitest';
import { connect, opened, orderPaid, temporaryFile, withResolvers } from './inboxes.js';

const sameProcess = { sameProcess: true };

describe('a file that is open in this process already', () => {
  it.each(['file', 'database'] as const)(
    'is worked on by the inbox opened last, with one line of warning: %s',
    async (place) => {
      const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
      const file = temporaryFile();
      const where = () => (place === 'file' ? { file } : { database: connect(file) });
      const old = opened(where());
      expect(warn).not.toHaveBeenCalled();
      const fresh = opened(where(), sameProcess);
      expect(warn.mock.calls).toEqual([
        [expect.stringMatching(/^merchant-payments: this inbox is open in this process already[^\n]*$/)],
      ]);
      // The earlier one goes on storing.
      await old.post(orderPaid('ord_1'));
      await fresh.post(orderPaid('ord_2'));
      await fresh.inbox.idle();
      expect([old.calls, fresh.calls]).toEqual([
        [],
        [
          ['ord_1', 1],
          ['ord_2', 1],
        ],
      ]);
    },
  );

  it('goes back to the earlier inbox when the last one is closed', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    const file = temporaryFile();
    const old = opened({ file });
    await opened({ file }, sameProcess).inbox.close();
    await old.post(orderPaid('ord_1'));
    await old.inbox.idle();
    expect(old.calls).toEqual([['ord_1', 1]]);
  });

  it('is still worked on by the first if the second only stores', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const file = temporaryFile();
    const first = opened({ file });
    const web = opened({ file, work: false }, sameProcess);
    await web.post(orderPaid('ord_1'));
    await first.inbox.idle();
    expect([first.calls, warn.mock.calls]).toEqual([[['ord_1', 1]], []]);
  });

  it('lets a function finish that runs when the next inbox is opened', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    const file = temporaryFile();
    const { promise, resolve } = withResolvers();
    const old = opened({ file, leaseMs: 100, on: { 'order.paid': () => promise } });
    await old.post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect(await old.inbox.stats()).toMatchObject({ running: 1 }));
    const fresh = opened({ file, leaseMs: 100 }, sameProcess);
    await new Promise((done) => setTimeout(done, 400));
    resolve();
    await fresh.inbox.idle();
    expect(fresh.calls).toEqual([]);
    expect(await fresh.inbox.get('order.paid:ord_1')).toMatchObject({ state: 'done', attempts: 1 });
  });
});

describe('while Next.js builds', () => {
  it('nothing is worked on, and no timer keeps the build alive; afterwards it is', async () => {
    const file = temporaryFile();
    await opened({ file, work: false }).post(orderPaid('ord_1'));
    vi.stubEnv('NEXT_PHASE', 'phase-production-build');
    vi.useFakeTimers();
    const building = opened({ file });
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
    await new Promise((done) => setTimeout(done, 100));
    expect(building.calls).toEqual([]);
    vi.stubEnv('NEXT_PHASE', 'phase-production-server');
    const serving = opened({ file });
    await serving.inbox.idle();
    expect(serving.calls).toEqual([['ord_1', 1]]);
  });
});

describe('drain()', () => {
  it('works off what is due and returns, beside work: false', async () => {
    const { inbox, post, calls } = opened({
      work: false,
      on: { 'order.paid': ({ data }) => void calls.push([data.order_id, 1]) },
    });
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await post(orderPaid(id));
    expect(calls).toEqual([]);
    await inbox.drain({ forMs: '10s' });
    expect(calls).toHaveLength(6);
    expect(await inbox.stats()).toMatchObject({ done: 6, pending: 0 });
  });

  it('claims nothing after forMs, and waits for what runs', async () => {
    const done: string[] = [];
    const { inbox, post } = opened({
      work: false,
      concurrency: 1,
      on: {
        'order.paid': async ({ data }) => {
          await new Promise((resolve) => setTimeout(resolve, 80));
          done.push(data.order_id);
        },
      },
    });
    for (const id of ['a', 'b', 'c']) await post(orderPaid(id));
    await inbox.drain({ forMs: 20 });
    expect(done).toEqual(['a']);
    expect(await inbox.stats()).toMatchObject({ pending: 2, running: 0 });
  });
});
