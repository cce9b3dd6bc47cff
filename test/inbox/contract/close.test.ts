import { describe, expect, it, vi } from 'vitest';
import { orderPaid, withResolvers } from '../inboxes.js';
import { type ContractDelivery, newPlace, openAt, waitForStates } from './places.js';

describe('close()', () => {
  it('waits for functions that finish within graceMs', async () => {
    const { promise, resolve } = withResolvers();
    const place = newPlace();
    const signals: AbortSignal[] = [];
    const { inbox, post } = openAt({
      place,
      graceMs: 10_000,
      on: {
        'order.paid': (_event, { signal }) => {
          signals.push(signal);
          return promise;
        },
      },
    });
    await post(orderPaid('ord_1'));
    await vi.waitFor(() => expect(signals).toHaveLength(1));
    const closing = inbox.close();
    resolve();
    await closing;
    expect(signals[0]?.aborted).toBe(false);
    expect(await openAt({ place }).inbox.stats()).toMatchObject({ done: 1 });
  });

  it.each(['returns', 'throws'])(
    'aborts the signal after graceMs and gives the delivery back, whether its function then %s',
    async (end) => {
      const place = newPlace();
      let given: ContractDelivery | undefined;
      const { promise, resolve } = withResolvers();
      const first = openAt({
        place,
        retries: [],
        on: {
          'order.paid': async (_event, delivery) => {
            given = delivery;
            await promise;
            if (end === 'throws') throw delivery.signal.reason;
          },
        },
      });
      await first.post(orderPaid('ord_1'));
      await vi.waitFor(() => expect(given).toBeDefined());
      await first.inbox.close();
      expect(given?.signal.aborted).toBe(true);
      expect(String(given?.signal.reason)).toContain('The inbox was closed');
      await expect(async () => given?.commit(() => {})).rejects.toThrow('after the attempt had ended');
      resolve();
      const second = openAt({ place, retries: [] });
      await waitForStates(second.inbox, ['done']);
      expect(second.calls).toEqual([['ord_1', 2]]);
      expect([first.errors, first.hookCalls.map(([name]) => name)]).toEqual([[], ['received', 'started']]);
    },
  );

  it('takes up nothing more', async () => {
    const place = newPlace();
    const begun = withResolvers();
    const { promise, resolve } = withResolvers();
    const { inbox, post } = openAt({
      place,
      graceMs: 10_000,
      concurrency: 1,
      on: {
        'order.paid': () => {
          begun.resolve();
          return promise;
        },
      },
    });
    for (const id of ['a', 'b']) await post(orderPaid(id));
    await begun.promise;
    const closing = inbox.close();
    resolve();
    await closing;
    expect(await openAt({ place, work: false }).inbox.stats()).toMatchObject({ done: 1, pending: 1 });
  });

  it('that gives a delivery back uses up none of its retries', async () => {
    const place = newPlace();
    const { promise, resolve } = withResolvers();
    const first = openAt({ place, on: { 'order.paid': () => promise } });
    await first.post(orderPaid('ord_1'));
    // A delivery that was claimed and not begun would be given back as if it had not been claimed.
    await vi.waitFor(() => expect(first.hookCalls.map(([name]) => name)).toContain('started'));
    await first.inbox.close();
    resolve();
    expect(await openAt({ place, work: false }).inbox.stats()).toMatchObject({ pending: 1, running: 0 });
    const fail = () => Promise.reject(new Error('down'));
    const { inbox } = openAt({ place, retries: ['1h'], on: { 'order.paid': fail } });
    await inbox.idle();
    expect(await inbox.get('order.paid:ord_1')).toMatchObject({ state: 'pending', attempts: 2 });
  });

  it('aborts the signal of a function that has committed, whose delivery stays done', async () => {
    const place = newPlace();
    const { promise, resolve } = withResolvers();
    const signals: AbortSignal[] = [];
    const { inbox, post, hookCalls } = openAt({
      place,
      on: {
        'order.paid': (_event, { commit, signal }) => {
          signals.push(signal);
          commit(() => {});
          return promise;
        },
      },
    });
    await post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ done: 1 }));
    await inbox.close();
    expect(signals[0]?.aborted).toBe(true);
    expect(await openAt({ place, work: false }).inbox.stats()).toMatchObject({ done: 1, pending: 0 });
    resolve();
    await vi.waitFor(() => expect(hookCalls.at(-1)?.[0]).toBe('done'));
  });

  it('does not keep the process alive for graceMs once no function is running', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const { inbox } = openAt({ graceMs: 10_000 });
    await inbox.close();
    expect(timers()).toBe(before);
  });
});
