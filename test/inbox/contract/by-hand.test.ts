import { describe, expect, it, vi } from 'vitest';
import { orderPaid, withResolvers } from '../inboxes.js';
import { openAt, waitForStates } from './places.js';

const none = {
  ...{ pending: 0, running: 0, done: 0, parked: 0, refused: 0, dropped: 0 },
  ...{ oldestPendingMs: null, oldestRunningMs: null },
};

describe('retry(), retryParked() and discard()', () => {
  async function openWithParked() {
    const fn = vi.fn().mockRejectedValue(new Error('down'));
    const all = openAt({ retries: ['1ms'], on: { 'order.paid': fn } });
    for (const id of ['a', 'b']) await all.post(orderPaid(id));
    await waitForStates(all.inbox, ['parked']);
    return { ...all, fn };
  }

  it('retry a parked delivery, with all its retries', async () => {
    const { inbox, fn } = await openWithParked();
    expect(await inbox.retry('order.paid:a')).toBe(true);
    await waitForStates(inbox, ['parked']);
    expect(fn).toHaveBeenCalledTimes(6);
    expect(await inbox.get('order.paid:a')).toMatchObject({ attempts: 4 });
    expect(await inbox.get('order.paid:b')).toMatchObject({ attempts: 2 });
  });

  it('retry every parked delivery, and say how many', async () => {
    const { inbox, fn } = await openWithParked();
    fn.mockResolvedValue(undefined);
    expect(await inbox.retryParked()).toBe(2);
    await waitForStates(inbox, ['done']);
    expect(await inbox.retryParked()).toBe(0);
  });

  it.each(['ord_1', 'a\0b', 'a%b_', '#'])(
    'leave another content under the known key %j to a person',
    async (id) => {
      const { inbox, post, calls, hookCalls } = openAt();
      for (const amount of ['10.00', '90.00'])
        await post(JSON.stringify({ type: 'order.paid', data: { order_id: id, amount, currency: 'USD' } }));
      await inbox.idle();
      expect(await inbox.retryParked()).toBe(0);
      expect(calls).toEqual([[id, 1]]);
      const [, conflict] = hookCalls.find(([name]) => name === 'parked') ?? [];
      expect(await inbox.retry(Reflect.get(conflict ?? {}, 'key'))).toBe(true);
    },
  );

  it('retry what waits for its next attempt at once', async () => {
    const fn = vi.fn().mockRejectedValueOnce(new Error('down'));
    const { inbox, post } = openAt({ retries: ['12h'], on: { 'order.paid': fn } });
    await post(orderPaid('a'));
    await inbox.idle();
    expect(await inbox.retry('order.paid:a')).toBe(true);
    await waitForStates(inbox, ['done']);
  });

  it('discard a delivery for good: its duplicates are known, and it is not retried', async () => {
    const { inbox, post, hookCalls, fn } = await openWithParked();
    expect(await inbox.discard('order.paid:a')).toBe(true);
    expect(await inbox.get('order.paid:a')).toMatchObject({ state: 'discarded', lastError: 'Error: down' });
    await post(orderPaid('a'));
    expect(hookCalls.at(-1)?.[0]).toBe('duplicate');
    expect([
      await inbox.retry('order.paid:a'),
      await inbox.discard('order.paid:a'),
      await inbox.retryParked(),
    ]).toEqual([false, false, 1]);
    await waitForStates(inbox, ['discarded', 'parked']);
    expect(fn).toHaveBeenCalledTimes(6);
  });

  it('leave deliveries alone that are running, done or unknown', async () => {
    const { promise, resolve } = withResolvers();
    const { inbox, post } = openAt({ on: { 'order.paid': () => promise } });
    await post(orderPaid('a'));
    await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ running: 1 }));
    expect([await inbox.retry('order.paid:a'), await inbox.discard('order.paid:a')]).toEqual([false, false]);
    resolve();
    await inbox.idle();
    expect([await inbox.retry('order.paid:a'), await inbox.discard('order.paid:a')]).toEqual([false, false]);
    expect([await inbox.retry('nope'), await inbox.discard('nope')]).toEqual([false, false]);
  });

  it('refuse an invalid key', async () => {
    const { inbox } = openAt();
    const { retry, discard, get } = inbox;
    for (const [name, method] of Object.entries({ retry, discard, get })) {
      for (const key of [undefined, '', 7, null])
        await expect(Reflect.apply(method, undefined, [key])).rejects.toThrow(
          `inbox.${name}: key must be the key of a delivery`,
        );
    }
  });

  it('work with work: false, for the process that works', async () => {
    const { inbox, post } = openAt({ work: false });
    await post(orderPaid('a'));
    expect([
      await inbox.retry('order.paid:a'),
      await inbox.retryParked(),
      await inbox.discard('order.paid:a'),
    ]).toEqual([true, 0, true]);
  });
});

describe('list()', () => {
  it('returns the newest first, page by page, of one state or of all', async () => {
    const { inbox, post } = openAt({
      retries: [],
      on: {
        'order.paid': (event) => {
          if (event.data.order_id.startsWith('bad')) throw new Error('bad');
        },
      },
    });
    for (const id of ['1', 'bad2', '3', 'bad4', '5']) await post(orderPaid(id));
    await inbox.idle();
    const keys = async (params: Parameters<typeof inbox.list>[0]) =>
      (await inbox.list(params)).map(({ key }) => key.slice(11));
    expect(await keys({})).toEqual(['5', 'bad4', '3', 'bad2', '1']);
    expect(await keys({ state: 'parked' })).toEqual(['bad4', 'bad2']);
    expect(await keys({ limit: 2 })).toEqual(['5', 'bad4']);
    expect(await keys({ limit: 2, after: 'order.paid:bad4' })).toEqual(['3', 'bad2']);
    expect(await keys({ state: 'done', after: 'order.paid:3' })).toEqual(['1']);
    expect(await keys({ after: 'order.paid:1' })).toEqual([]);
  });

  it.each<[object, string]>([
    [
      { state: 'failed' },
      'inbox.list: state must be "pending", "running", "done", "parked" or "discarded", got a string.',
    ],
    [{ limit: 0 }, 'inbox.list: limit must be an integer from 1 to 1000, got the number 0.'],
    [{ limit: 1001 }, 'inbox.list: limit'],
    [{ limit: 1.5 }, 'inbox.list: limit'],
    [{ after: '' }, 'inbox.list: after'],
  ])('refuses %o', async (params, message) => {
    const { inbox } = openAt();
    await expect(inbox.list(params)).rejects.toThrow(message);
    expect(await inbox.list({ limit: 1 })).toEqual([]);
    expect(await inbox.list({ limit: 1000 })).toEqual([]);
  });
});

describe('stats()', () => {
  it('has the age of the oldest delivery that is pending', async () => {
    const { inbox } = openAt({ work: false });
    expect(await inbox.stats()).toEqual(none);
    for (const [id, ageMs] of [
      ['a', 1000],
      ['b', 60_000],
      ['c', 5],
    ] as const) {
      const rawBody = orderPaid(id);
      await inbox.accept({
        key: `order.paid:${id}`,
        event: { type: 'order.paid', data: { order_id: id, amount: '1.00', currency: 'USD' } },
        rawBody,
        headers: {},
        receivedAt: new Date(Date.now() - ageMs).toISOString(),
      });
    }
    const { pending, oldestPendingMs } = await inbox.stats();
    expect(pending).toBe(3);
    expect(oldestPendingMs).toBeGreaterThanOrEqual(60_000);
    expect(oldestPendingMs).toBeLessThan(120_000);
  });
});

describe('purge()', () => {
  it('deletes event, body and headers of what was done before; late duplicates are still known', async () => {
    const { inbox, post, hookCalls, calls } = openAt();
    await post(orderPaid('ord_marker_in_body'));
    await inbox.idle();
    expect(await inbox.purge({ olderThan: '1h' })).toBe(0);
    expect(await inbox.purge({ olderThan: new Date(Date.now() - 3_600_000) })).toBe(0);
    expect(await inbox.purge({ olderThan: new Date(Date.now() + 1000) })).toBe(1);
    expect(await inbox.purge({ olderThan: new Date(Date.now() + 1000) })).toBe(0);
    expect(await inbox.get('order.paid:ord_marker_in_body')).toMatchObject({ state: 'done', event: null });
    await post(orderPaid('ord_marker_in_body'));
    await inbox.idle();
    expect(hookCalls.at(-1)?.[0]).toBe('duplicate');
    expect(calls).toHaveLength(1);
  });

  it('leaves alone what is pending or parked, and deletes what was discarded', async () => {
    const { inbox, post } = openAt({
      retries: [],
      on: { 'order.paid': () => Promise.reject(new Error('x')) },
    });
    for (const id of ['a', 'b']) await post(orderPaid(id));
    await inbox.idle();
    await inbox.discard('order.paid:a');
    expect(await inbox.purge({ olderThan: new Date(Date.now() + 1000) })).toBe(1);
    expect(await inbox.get('order.paid:a')).toMatchObject({ state: 'discarded', event: null });
    expect(await inbox.get('order.paid:b')).toMatchObject({ state: 'parked', event: { type: 'order.paid' } });
  });

  it.each(['90', '90w', -1, new Date(Number.NaN), undefined])('refuses %s', async (olderThan) => {
    const { inbox } = openAt();
    await expect(Reflect.apply(inbox.purge, undefined, [{ olderThan }])).rejects.toThrow(
      'inbox.purge: olderThan must be a duration such as "90d", or a valid Date.',
    );
  });

  it('and drain() name the missing parameter', async () => {
    const { inbox } = openAt();
    await expect(Reflect.apply(inbox.purge, undefined, [])).rejects.toThrow('inbox.purge: olderThan must be');
    await expect(Reflect.apply(inbox.drain, undefined, [])).rejects.toThrow('inbox.drain: forMs is missing');
  });
});
