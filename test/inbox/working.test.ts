import { describe, expect, it, vi } from 'vitest';
import type { InboxDelivery } from '../../src/inbox/index.js';
import { opened, orderPaid, secret, temporaryFile, withResolvers } from './inboxes.js';

const none = {
  ...{ pending: 0, running: 0, done: 0, parked: 0, refused: 0 },
  ...{ oldestPendingMs: null, oldestRunningMs: null },
};

/** Until no attempt and no retry that is due within `ms` is left. */
async function settled(inbox: ReturnType<typeof opened>['inbox'], states: readonly string[]): Promise<void> {
  await vi.waitFor(
    async () => {
      for (const entry of await inbox.list()) expect(states).toContain(entry.state);
    },
    { timeout: 15_000, interval: 5 },
  );
  await inbox.idle();
}

describe('a function that fails', () => {
  it('is called again after each wait of retries, then its delivery is parked', async () => {
    const failure = new Error('no stock');
    const attempts: number[] = [];
    const { inbox, post, errors, told } = opened({
      retries: ['1ms', 2, '3ms'],
      on: {
        'order.paid': (_event, { attempt }) => {
          attempts.push(attempt);
          throw failure;
        },
      },
    });
    await post(orderPaid('ord_1'));
    await settled(inbox, ['parked']);
    expect(attempts).toEqual([1, 2, 3, 4]);
    expect(errors).toEqual([failure, failure, failure, failure]);
    expect(await inbox.get('order.paid:ord_1')).toMatchObject({
      state: 'parked',
      attempts: 4,
      lastError: 'Error: no stock',
      nextAttemptAt: null,
    });
    const failed = told.filter(([name]) => name === 'failed').map(([, facts]) => facts);
    expect(failed).toMatchObject([
      { attempt: 1 },
      { attempt: 2 },
      { attempt: 3 },
      { attempt: 4, delayMs: null, error: failure },
    ]);
    expect(told.at(-1)).toEqual([
      'parked',
      { key: 'order.paid:ord_1', type: 'order.paid', attempt: 4, lastError: 'Error: no stock' },
    ]);
  });

  it('waits as long as retries says, a tenth more or less', async () => {
    const waits: number[] = [];
    for (const random of [0, 0.5, 1]) {
      vi.spyOn(Math, 'random').mockReturnValue(random);
      const { inbox, post, told } = opened({
        retries: ['1h'],
        on: { 'order.paid': () => Promise.reject(new Error('x')) },
      });
      const before = Date.now();
      await post(orderPaid('ord_1'));
      await inbox.idle();
      const { state, nextAttemptAt, attempts } = (await inbox.get('order.paid:ord_1')) ?? {};
      expect([state, attempts]).toEqual(['pending', 1]);
      const [, facts] = told.find(([name]) => name === 'failed') ?? [];
      const delayMs = Number(facts && Reflect.get(facts, 'delayMs'));
      waits.push(Math.round(delayMs / 1000));
      expect(Date.parse(nextAttemptAt ?? '')).toBeGreaterThanOrEqual(before + delayMs - 1);
      await inbox.close();
    }
    expect(waits).toEqual([3240, 3600, 3960]);
  });

  it('has nine retries by default, from 5 seconds to 12 hours', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const { inbox, post, told } = opened({ on: { 'order.paid': () => Promise.reject(new Error('x')) } });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    const [, facts] = told.find(([name]) => name === 'failed') ?? [];
    expect(facts).toMatchObject({ delayMs: 5000 });
  });

  it.each([
    ['an error', new Error('x')],
    ['an empty string', ''],
  ])('with %s uses up a retry', async (_form, thrown) => {
    const fn = vi.fn().mockRejectedValue(thrown);
    const { inbox, post } = opened({ retries: ['1ms'], on: { 'order.paid': fn } });
    await post(orderPaid('ord_1'));
    await settled(inbox, ['parked']);
    expect(fn).toHaveBeenCalledTimes(2);
  });

  it('without retries is called once', async () => {
    const fn = vi.fn().mockRejectedValue(new Error('x'));
    const { inbox, post } = opened({ retries: [], on: { 'order.paid': fn } });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(fn).toHaveBeenCalledOnce();
    expect(await inbox.stats()).toEqual({ ...none, parked: 1 });
  });

  it('and then succeeds leaves no error behind', async () => {
    const fn = vi.fn().mockRejectedValueOnce(new Error('x')).mockResolvedValueOnce(undefined);
    const { inbox, post } = opened({ retries: ['1ms'], on: { 'order.paid': fn } });
    await post(orderPaid('ord_1'));
    await settled(inbox, ['done']);
    expect(await inbox.get('order.paid:ord_1')).toMatchObject({
      state: 'done',
      attempts: 2,
      lastError: null,
    });
  });

  it('holds up no other delivery, whatever the order in which they came', async () => {
    const handled: string[] = [];
    const { inbox, post } = opened({
      concurrency: 1,
      retries: ['1ms', '1ms', '1ms'],
      on: {
        'order.paid': (event) => {
          if (event.data.order_id === 'poison') throw new Error('poison');
          handled.push(event.data.order_id);
        },
      },
    });
    await post(orderPaid('poison'));
    for (const id of ['a', 'b', 'c']) await post(orderPaid(id));
    await settled(inbox, ['done', 'parked']);
    expect(handled.sort()).toEqual(['a', 'b', 'c']);
    expect(await inbox.stats()).toMatchObject({ done: 3, parked: 1 });
  });

  it('that never settles holds up no other delivery either', async () => {
    const { promise, resolve } = withResolvers();
    const handled: string[] = [];
    const { post } = opened({
      on: {
        'order.paid': (event) => {
          if (event.data.order_id === 'stuck') return promise;
          return handled.push(event.data.order_id);
        },
      },
    });
    for (const id of ['stuck', 'a', 'b']) await post(orderPaid(id));
    await vi.waitFor(() => expect(handled).toEqual(['a', 'b']));
    resolve();
  });
});

describe('lastError', () => {
  it.each([
    ['the webhook secret', `bad secret ${secret}!`, 'Error: bad secret [redacted]!'],
    [
      'what looks like an API key',
      'key service_live_4eC39HqLyjW and sk_test_abc123',
      'Error: key [redacted] and [redacted]',
    ],
    ['another webhook secret', 'got whsec_MfKQ9r8GKYqrTwjU/PD8+ILP=', 'Error: got [redacted]'],
    ['a bearer token', 'sent Bearer abc.def-ghi twice', 'Error: sent [redacted] twice'],
    [
      'a password in a URL',
      'postgres://shop:hunter2@db:5432/shop is down',
      'Error: postgres://[redacted]@db:5432/shop is down',
    ],
    ['the API key of the environment', 'refused the-key-of-the-shop', 'Error: refused [redacted]'],
  ])('does not hold %s', async (_what, message, text) => {
    vi.stubEnv('PAYMENTS_API_KEY', 'the-key-of-the-shop');
    const { inbox, post } = opened({
      retries: [],
      on: { 'order.paid': () => Promise.reject(new Error(message)) },
    });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect((await inbox.get('order.paid:ord_1'))?.lastError).toBe(text);
  });

  it.each<[string, () => unknown]>([
    ['a function', () => Promise.resolve(['whsec_next', 'secret-of-a-vault'])],
    ['bytes', () => Buffer.from('....secret-of-a-vault').subarray(4)],
  ])('does not hold a secret that was given as %s', async (_form, read) => {
    const given = read();
    const { inbox } = opened({
      secret: given instanceof Uint8Array ? given : () => 'secret-of-a-vault',
      retries: [],
      on: { 'order.paid': () => Promise.reject(new TypeError('it is secret-of-a-vault')) },
    });
    const { sign } = await import('../../src/webhooks/index.js');
    const body = orderPaid('ord_1');
    const headers = sign({ rawBody: body, secret: 'secret-of-a-vault' });
    await inbox.handler(new Request('https://shop.example', { method: 'POST', body, headers }));
    await inbox.idle();
    expect((await inbox.get('order.paid:ord_1'))?.lastError).toBe('TypeError: it is [redacted]');
  });

  it('is at most 500 characters, whatever was thrown', async () => {
    const thrown: unknown[] = ['x'.repeat(600), 7, { toString: () => Promise.reject }, undefined, ''];
    const { inbox, post } = opened({
      retries: [],
      on: { 'order.paid': () => Promise.reject(thrown.shift()) },
    });
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await post(orderPaid(id));
      await inbox.idle();
    }
    const texts = (await inbox.list()).map(({ lastError }) => lastError);
    expect(texts).toEqual(['', 'undefined', 'The error could not be read.', '7', 'x'.repeat(500)]);
  });
});

describe('concurrency', () => {
  it.each([
    [undefined, 4],
    [1, 1],
    [2, 2],
  ])('%s runs %d functions at a time', async (concurrency, most) => {
    let running = 0;
    const seen: number[] = [];
    const { promise, resolve } = withResolvers();
    const { inbox, post } = opened({
      concurrency,
      on: {
        'order.paid': async () => {
          seen.push(++running);
          await promise;
          running--;
        },
      },
    });
    await Promise.all(Array.from({ length: 9 }, (_, id) => post(orderPaid(`${id}`))));
    await vi.waitFor(() => expect(running).toBe(most));
    resolve();
    await inbox.idle();
    expect(Math.max(...seen)).toBe(most);
    expect(await inbox.stats()).toMatchObject({ done: 9 });
  });
});

describe('retry(), retryParked() and discard()', () => {
  async function withParked() {
    const fn = vi.fn().mockRejectedValue(new Error('down'));
    const all = opened({ retries: ['1ms'], on: { 'order.paid': fn } });
    for (const id of ['a', 'b']) await all.post(orderPaid(id));
    await settled(all.inbox, ['parked']);
    return { ...all, fn };
  }

  it('retry a parked delivery, with all its retries', async () => {
    const { inbox, fn } = await withParked();
    expect(await inbox.retry('order.paid:a')).toBe(true);
    await settled(inbox, ['parked']);
    expect(fn).toHaveBeenCalledTimes(6);
    expect(await inbox.get('order.paid:a')).toMatchObject({ attempts: 4 });
    expect(await inbox.get('order.paid:b')).toMatchObject({ attempts: 2 });
  });

  it('retry every parked delivery, and say how many', async () => {
    const { inbox, fn } = await withParked();
    fn.mockResolvedValue(undefined);
    expect(await inbox.retryParked()).toBe(2);
    await settled(inbox, ['done']);
    expect(await inbox.retryParked()).toBe(0);
  });

  it('retry what waits for its next attempt at once', async () => {
    const fn = vi.fn().mockRejectedValueOnce(new Error('down'));
    const { inbox, post } = opened({ retries: ['12h'], on: { 'order.paid': fn } });
    await post(orderPaid('a'));
    await inbox.idle();
    expect(await inbox.retry('order.paid:a')).toBe(true);
    await settled(inbox, ['done']);
  });

  it('discard a delivery for good: its duplicates are known, and it is not retried', async () => {
    const { inbox, post, told, fn } = await withParked();
    expect(await inbox.discard('order.paid:a')).toBe(true);
    expect(await inbox.get('order.paid:a')).toMatchObject({ state: 'discarded', lastError: 'Error: down' });
    await post(orderPaid('a'));
    expect(told.at(-1)?.[0]).toBe('duplicate');
    expect([
      await inbox.retry('order.paid:a'),
      await inbox.discard('order.paid:a'),
      await inbox.retryParked(),
    ]).toEqual([false, false, 1]);
    await settled(inbox, ['discarded', 'parked']);
    expect(fn).toHaveBeenCalledTimes(6);
  });

  it('leave alone what is running, done or unknown', async () => {
    const { promise, resolve } = withResolvers();
    const { inbox, post } = opened({ on: { 'order.paid': () => promise } });
    await post(orderPaid('a'));
    await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ running: 1 }));
    expect([await inbox.retry('order.paid:a'), await inbox.discard('order.paid:a')]).toEqual([false, false]);
    resolve();
    await inbox.idle();
    expect([await inbox.retry('order.paid:a'), await inbox.discard('order.paid:a')]).toEqual([false, false]);
    expect([await inbox.retry('nope'), await inbox.discard('nope')]).toEqual([false, false]);
  });

  it('refuse what is no key', async () => {
    const { inbox } = opened();
    const { retry, discard, get } = inbox;
    for (const [name, method] of Object.entries({ retry, discard, get })) {
      for (const key of [undefined, '', 7, null])
        await expect(Reflect.apply(method, undefined, [key])).rejects.toThrow(
          `inbox.${name}: key must be the key of a delivery`,
        );
    }
  });

  it('work with work: false, for the process that works', async () => {
    const { inbox, post } = opened({ work: false });
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
    const { inbox, post } = opened({
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
      'inbox.list: state must be one of "pending", "running", "done", "parked", "discarded".',
    ],
    [{ limit: 0 }, 'inbox.list: limit must be an integer from 1 to 1000.'],
    [{ limit: 1001 }, 'inbox.list: limit'],
    [{ limit: 1.5 }, 'inbox.list: limit'],
    [{ after: '' }, 'inbox.list: after'],
  ])('refuses %o', async (params, message) => {
    const { inbox } = opened();
    await expect(inbox.list(params)).rejects.toThrow(message);
    expect(await inbox.list({ limit: 1 })).toEqual([]);
    expect(await inbox.list({ limit: 1000 })).toEqual([]);
  });
});

describe('stats()', () => {
  it('has the age of the oldest delivery that is pending', async () => {
    const { inbox } = opened({ work: false });
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
    const file = temporaryFile();
    const { inbox, post, told, calls } = opened({ file });
    await post(orderPaid('ord_marker_in_body'));
    await inbox.idle();
    expect(await inbox.purge({ olderThan: '1h' })).toBe(0);
    expect(await inbox.purge({ olderThan: new Date(Date.now() - 3_600_000) })).toBe(0);
    expect(await inbox.purge({ olderThan: new Date(Date.now() + 1000) })).toBe(1);
    expect(await inbox.purge({ olderThan: new Date(Date.now() + 1000) })).toBe(0);
    expect(await inbox.get('order.paid:ord_marker_in_body')).toMatchObject({ state: 'done', event: null });
    await post(orderPaid('ord_marker_in_body'));
    await inbox.idle();
    expect(told.at(-1)?.[0]).toBe('duplicate');
    expect(calls).toHaveLength(1);
    const { readFileSync, readdirSync } = await import('node:fs');
    const { dirname, join } = await import('node:path');
    for (const name of readdirSync(dirname(file))) {
      expect(readFileSync(join(dirname(file), name), 'latin1')).not.toContain('19.90');
    }
  });

  it('leaves alone what is pending or parked, and deletes what was discarded', async () => {
    const { inbox, post } = opened({
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
    const { inbox } = opened();
    await expect(Reflect.apply(inbox.purge, undefined, [{ olderThan }])).rejects.toThrow(
      'inbox.purge: olderThan must be a duration such as "90d", or a valid Date.',
    );
  });
});

describe('close()', () => {
  it('waits for functions that finish within graceMs', async () => {
    const { promise, resolve } = withResolvers();
    const file = temporaryFile();
    const signals: AbortSignal[] = [];
    const { inbox, post } = opened({
      file,
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
    expect(await opened({ file }).inbox.stats()).toMatchObject({ done: 1 });
  });

  it.each(['returns', 'throws'])(
    'aborts the signal after graceMs and gives the delivery back, whether its function then %s',
    async (end) => {
      const file = temporaryFile();
      let given: InboxDelivery | undefined;
      const { promise, resolve } = withResolvers();
      const first = opened({
        file,
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
      expect(() => given?.commit(() => {})).toThrow('after the attempt had ended');
      resolve();
      const second = opened({ file, retries: [] });
      await settled(second.inbox, ['done']);
      expect(second.calls).toEqual([['ord_1', 2]]);
      expect([first.errors, first.told.map(([name]) => name)]).toEqual([[], ['received', 'started']]);
    },
  );

  it('takes up nothing more', async () => {
    const file = temporaryFile();
    const { promise, resolve } = withResolvers();
    const { inbox, post } = opened({
      file,
      graceMs: 10_000,
      concurrency: 1,
      on: { 'order.paid': () => promise },
    });
    for (const id of ['a', 'b']) await post(orderPaid(id));
    await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ running: 1 }));
    const closing = inbox.close();
    resolve();
    await closing;
    expect(await opened({ file, work: false }).inbox.stats()).toMatchObject({ done: 1, pending: 1 });
  });

  it('that gives a delivery back uses up none of its retries', async () => {
    const file = temporaryFile();
    const { promise, resolve } = withResolvers();
    const first = opened({ file, on: { 'order.paid': () => promise } });
    await first.post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect(await first.inbox.stats()).toMatchObject({ running: 1 }));
    await first.inbox.close();
    resolve();
    expect(await opened({ file, work: false }).inbox.stats()).toMatchObject({ pending: 1, running: 0 });
    const fail = () => Promise.reject(new Error('down'));
    const { inbox } = opened({ file, retries: ['1h'], on: { 'order.paid': fail } });
    await inbox.idle();
    expect(await inbox.get('order.paid:ord_1')).toMatchObject({ state: 'pending', attempts: 2 });
  });

  it('aborts the signal of a function that has committed, whose delivery stays done', async () => {
    const file = temporaryFile();
    const { promise, resolve } = withResolvers();
    const signals: AbortSignal[] = [];
    const { inbox, post, told } = opened({
      file,
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
    expect(await opened({ file, work: false }).inbox.stats()).toMatchObject({ done: 1, pending: 0 });
    resolve();
    await vi.waitFor(() => expect(told.at(-1)?.[0]).toBe('done'));
  });

  it('does not keep the process alive for graceMs once no function is running', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const { inbox } = opened({ graceMs: 10_000 });
    await inbox.close();
    expect(timers()).toBe(before);
  });
});
