import { describe, expect, it, vi } from 'vitest';
import { orderPaid, withResolvers } from '../inboxes.js';
import { newPlace, openAt, waitForStates } from './places.js';

/** Any look at it throws. */
function unreadableError(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** Beyond the last date of JavaScript. */
const tooLate = 'UPDATE $inbox SET received_at = 9000000000000000';

describe('a function that fails', () => {
  it('is called again after each wait of retries, then its delivery is parked', async () => {
    const failure = new Error('no stock');
    const attempts: number[] = [];
    const { inbox, post, errors, hookCalls } = openAt({
      retries: ['1ms', 2, '3ms'],
      on: {
        'order.paid': (_event, { attempt }) => {
          attempts.push(attempt);
          throw failure;
        },
      },
    });
    await post(orderPaid('ord_1'));
    await waitForStates(inbox, ['parked']);
    expect(attempts).toEqual([1, 2, 3, 4]);
    expect(errors).toEqual([failure, failure, failure, failure]);
    expect(await inbox.get('order.paid:ord_1')).toMatchObject({
      state: 'parked',
      attempts: 4,
      lastError: 'Error: no stock',
      nextAttemptAt: null,
    });
    const failed = hookCalls.filter(([name]) => name === 'failed').map(([, facts]) => facts);
    expect(failed).toMatchObject([
      { attempt: 1 },
      { attempt: 2 },
      { attempt: 3 },
      { attempt: 4, delayMs: null, error: failure },
    ]);
    expect(hookCalls.at(-1)).toEqual([
      'parked',
      { key: 'order.paid:ord_1', type: 'order.paid', attempt: 4, lastError: 'Error: no stock' },
    ]);
  });

  it('at a payment that the order book has with another amount is parked at once, also when it is retried', async () => {
    const place = newPlace();
    const book = place.openBook();
    expect(await book.held()).toEqual([]); // makes the tables
    const attempts: number[] = [];
    await book.runWithin(({ credit }) => credit({ order_id: 'ord_1', amount: '5.00', currency: 'USD' }));
    const { inbox, post } = openAt({
      place,
      retries: ['1ms', '1ms'],
      on: {
        'order.paid': ({ data }, { attempt }) => {
          attempts.push(attempt);
          return book.runWithin(({ credit }) => credit(data));
        },
      },
    });
    await post(orderPaid('ord_1'));
    await waitForStates(inbox, ['parked']);
    await inbox.retry('order.paid:ord_1');
    await waitForStates(inbox, ['parked']);
    expect(attempts).toEqual([1, 2]);
    expect((await inbox.get('order.paid:ord_1'))?.lastError).toMatch(/came with 5.00 USD before/);
  });

  it('waits as long as retries says, a tenth more or less', async () => {
    const waits: number[] = [];
    for (const random of [0, 0.5, 1]) {
      vi.spyOn(Math, 'random').mockReturnValue(random);
      const { inbox, post, hookCalls } = openAt({
        retries: ['1h'],
        on: { 'order.paid': () => Promise.reject(new Error('x')) },
      });
      const before = Date.now();
      await post(orderPaid('ord_1'));
      await inbox.idle();
      const { state, nextAttemptAt, attempts } = (await inbox.get('order.paid:ord_1')) ?? {};
      expect([state, attempts]).toEqual(['pending', 1]);
      const [, facts] = hookCalls.find(([name]) => name === 'failed') ?? [];
      const delayMs = Number(facts && Reflect.get(facts, 'delayMs'));
      waits.push(Math.round(delayMs / 1000));
      expect(Date.parse(nextAttemptAt ?? '')).toBeGreaterThanOrEqual(before + delayMs - 1);
      await inbox.close();
    }
    expect(waits).toEqual([3240, 3600, 3960]);
  });

  it('has nine retries by default, from 5 seconds to 12 hours', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const { inbox, post, hookCalls } = openAt({ on: { 'order.paid': () => Promise.reject(new Error('x')) } });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    const [, facts] = hookCalls.find(([name]) => name === 'failed') ?? [];
    expect(facts).toMatchObject({ delayMs: 5000 });
  });

  it.each([
    ['an error', new Error('x')],
    ['an empty string', ''],
    ['what cannot even be looked at', unreadableError()],
  ])('with %s uses up a retry', async (_form, thrown) => {
    const fn = vi.fn().mockRejectedValue(thrown);
    const { inbox, post } = openAt({ retries: ['1ms'], on: { 'order.paid': fn } });
    await post(orderPaid('ord_1'));
    await waitForStates(inbox, ['parked']);
    expect(fn).toHaveBeenCalledTimes(2);
  });

  it('without retries is called once', async () => {
    const fn = vi.fn().mockRejectedValue(new Error('x'));
    const { inbox, post } = openAt({ retries: [], on: { 'order.paid': fn } });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(fn).toHaveBeenCalledOnce();
    expect(await inbox.stats()).toMatchObject({ pending: 0, running: 0, done: 0, parked: 1 });
  });

  it('and then succeeds leaves no error behind', async () => {
    const fn = vi.fn().mockRejectedValueOnce(new Error('x')).mockResolvedValueOnce(undefined);
    const { inbox, post } = openAt({ retries: ['1ms'], on: { 'order.paid': fn } });
    await post(orderPaid('ord_1'));
    await waitForStates(inbox, ['done']);
    expect(await inbox.get('order.paid:ord_1')).toMatchObject({
      state: 'done',
      attempts: 2,
      lastError: null,
    });
  });

  it('holds up no other delivery, whatever the order in which they came', async () => {
    const handled: string[] = [];
    const { inbox, post } = openAt({
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
    await waitForStates(inbox, ['done', 'parked']);
    expect(handled.sort()).toEqual(['a', 'b', 'c']);
    expect(await inbox.stats()).toMatchObject({ done: 3, parked: 1 });
  });

  it('is not called for another content of an order whose event is damaged: its row stays', async () => {
    const place = newPlace();
    const { inbox, post } = openAt({ place });
    await post(orderPaid('ord_1'));
    await waitForStates(inbox, ['done']);
    await post(orderPaid('ord_1').replace('19.90', '29.90'));
    const [conflict] = await inbox.list({ state: 'parked' });
    const key = conflict?.key ?? '';
    await place.run("UPDATE $inbox_content SET event = '{' WHERE raw_body LIKE '%29.90%'");
    expect(await inbox.retry(key)).toBe(true);
    await inbox.idle();
    expect(await inbox.get(key)).toMatchObject({ state: 'parked' });
  });

  it.each([
    ['is gone', 'DELETE FROM $inbox_content'],
    ['is no JSON', "UPDATE $inbox_content SET event = '{'"],
    ['is no JSON, nor its time a date', "UPDATE $inbox_content SET event = '{'", tooLate],
  ])(
    'is not called for a delivery whose content %s: it is parked, and holds up no other',
    async (_what, ...damages) => {
      const place = newPlace();
      const web = openAt({ place, work: false });
      await web.post(orderPaid('damaged'));
      for (const damage of damages) await place.run(damage);
      await web.post(orderPaid('whole'));
      const { inbox, calls, errors } = openAt({ place });
      await waitForStates(inbox, ['done', 'parked']);
      expect(calls).toEqual([['whole', 1]]);
      expect(errors).toMatchObject([{ code: 'inbox_parked' }]);
      expect(await inbox.get('order.paid:damaged')).toMatchObject({
        state: 'parked',
        lastError: expect.stringContaining('cannot read it'),
      });
    },
  );

  it('that never settles holds up no other delivery either', async () => {
    const { promise, resolve } = withResolvers();
    const handled: string[] = [];
    const { post } = openAt({
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

describe('concurrency', () => {
  it.each([
    [undefined, 4],
    [1, 1],
    [2, 2],
  ])('%s runs %d functions at a time', async (concurrency, most) => {
    let running = 0;
    const seen: number[] = [];
    const { promise, resolve } = withResolvers();
    const { inbox, post } = openAt({
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

  it('is freed although onError, told that a delivery was lost, never returns', async () => {
    const place = newPlace();
    const { post, calls } = openAt({
      place,
      concurrency: 1,
      onError: () => new Promise(() => {}),
      on: {
        'order.paid': async ({ data }, { attempt }) => {
          calls.push([data.order_id, attempt]);
          await place.run('UPDATE $inbox SET attempts = 9');
        },
      },
    });
    await post(orderPaid('ord_1'));
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    await post(orderPaid('ord_2'));
    await vi.waitFor(() => expect(calls).toHaveLength(2));
  });
});
