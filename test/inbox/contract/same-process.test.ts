import { describe, expect, it, vi } from 'vitest';
import { orderPaid, withResolvers } from '../inboxes.js';
import { newPlace, openAt } from './places.js';

const sameProcess = { sameProcess: true };

describe('an inbox that is open in this process already', () => {
  it('is worked on by the inbox opened last, with one line of warning', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const place = newPlace();
    const old = openAt({ place });
    expect(warn).not.toHaveBeenCalled();
    const fresh = openAt({ place }, sameProcess);
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/^merchant-payments: this inbox is open in this process already[^\n]*$/)],
    ]);
    // A delivery that the first inbox was claiming at that moment is its own.
    await old.inbox.idle();
    // The earlier one goes on storing.
    await old.post(orderPaid('ord_1'));
    await fresh.post(orderPaid('ord_2'));
    await fresh.inbox.idle();
    expect([old.calls, fresh.calls.sort()]).toEqual([
      [],
      [
        ['ord_1', 1],
        ['ord_2', 1],
      ],
    ]);
  });

  it('goes back to the earlier inbox when the last one is closed', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    const place = newPlace();
    const old = openAt({ place });
    await openAt({ place }, sameProcess).inbox.close();
    await old.post(orderPaid('ord_1'));
    await old.inbox.idle();
    expect(old.calls).toEqual([['ord_1', 1]]);
  });

  it('is still worked on by the first if the second only stores', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const place = newPlace();
    const first = openAt({ place });
    const web = openAt({ place, work: false }, sameProcess);
    await web.post(orderPaid('ord_1'));
    await first.inbox.idle();
    expect([first.calls, warn.mock.calls]).toEqual([[['ord_1', 1]], []]);
  });

  it('begins nothing whose function still runs in the earlier inbox, and takes it by force at once', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    const place = newPlace();
    let stuck: AbortSignal | undefined;
    const old = openAt({
      place,
      on: {
        'order.paid': (_, { signal }) => {
          stuck = signal;
          return withResolvers().promise;
        },
      },
    });
    await old.post(orderPaid('ord_1'));
    await vi.waitFor(() => expect(stuck).toBeDefined());
    const fresh = openAt({ place }, sameProcess);
    await place.run('UPDATE $inbox SET due_at = $past');
    await fresh.post(orderPaid('ord_2'));
    await vi.waitFor(() => expect(fresh.calls).toEqual([['ord_2', 1]]));
    expect(await fresh.inbox.retry('order.paid:ord_1', { force: true })).toBe(true);
    expect(stuck?.aborted).toBe(true);
    await fresh.inbox.idle();
    expect(fresh.calls).toEqual([
      ['ord_2', 1],
      ['ord_1', 2],
    ]);
  });

  it('lets a function finish that runs when the next inbox is opened', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    const place = newPlace();
    const { promise, resolve } = withResolvers();
    const old = openAt({ place, leaseMs: 1000, on: { 'order.paid': () => promise } });
    await old.post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect(await old.inbox.stats()).toMatchObject({ running: 1 }));
    const fresh = openAt({ place, leaseMs: 1000 }, sameProcess);
    await new Promise((done) => setTimeout(done, 1500));
    resolve();
    await fresh.inbox.idle();
    expect(fresh.calls).toEqual([]);
    expect(await fresh.inbox.get('order.paid:ord_1')).toMatchObject({ state: 'done', attempts: 1 });
  });
});
