import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { orderPaid, steadyClock, withResolvers } from '../inboxes.js';
import { type ContractDelivery, newPlace, openAt, type Place } from './places.js';

/** As if its process had died, or stood still, for longer than the lease. */
const endLease = ({ run }: Place) => run('UPDATE $inbox SET due_at = $past');

describe('inboxes in one place, each as if alone in its process,', () => {
  it('work on one delivery of a key at a time, and do each delivery once', async () => {
    const place = newPlace();
    const running = new Map<string, number>();
    const done: string[] = [];
    const overlaps: string[] = [];
    const on = {
      'order.paid': async ({ data: { order_id } }: { data: { order_id: string } }) => {
        const others = running.get(order_id) ?? 0;
        if (others > 0) overlaps.push(order_id);
        running.set(order_id, others + 1);
        await sleep(Math.random() * 5);
        running.set(order_id, others);
        done.push(order_id);
      },
    };
    const inboxes = Array.from({ length: 4 }, () => openAt({ place, on }));
    const ids = Array.from({ length: 40 }, (_, index) => `ord_${index}`);
    await Promise.all(
      ids.flatMap((id, index) => [0, 1].map((twice) => inboxes[(index + twice) % 4]?.post(orderPaid(id)))),
    );
    await Promise.all(inboxes.map(({ inbox }) => inbox.idle()));
    expect(overlaps).toEqual([]);
    expect(done.sort()).toEqual(ids.sort());
    expect(inboxes.flatMap(({ errors }) => errors)).toEqual([]);
  });

  it('keep a delivery for as long as its function runs: its lease is renewed', async () => {
    steadyClock();
    const place = newPlace();
    const { promise, resolve } = withResolvers();
    const slow = openAt({ place, leaseMs: 1000, on: { 'order.paid': () => promise } });
    await slow.post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect(await slow.inbox.stats()).toMatchObject({ running: 1 }));
    const other = openAt({ place, leaseMs: 1000 });
    const until = Date.now() + 3000;
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(until), { timeout: 30_000 });
    resolve();
    await slow.inbox.idle();
    expect(other.calls).toEqual([]);
    expect(await slow.inbox.get('order.paid:ord_1')).toMatchObject({ state: 'done', attempts: 1 });
  });

  it('begin nothing whose function still runs here, after another process has failed with it', async () => {
    const place = newPlace();
    const { promise, resolve } = withResolvers();
    const begun: number[] = [];
    const slow = openAt({
      place,
      on: {
        'order.paid': async ({ data }, { attempt }) => {
          if (data.order_id === 'ord_1' && begun.push(attempt) === 1) await promise;
        },
      },
    });
    await slow.post(orderPaid('ord_1'));
    await vi.waitFor(() => expect(begun).toEqual([1]));
    const other = openAt({
      place,
      retries: ['1ms'],
      on: { 'order.paid': () => Promise.reject(new Error('down')) },
    });
    await endLease(place);
    await vi.waitFor(() => expect(other.errors.length).toBeGreaterThan(0));
    await other.inbox.close();
    await place.run("UPDATE $inbox SET state = 'pending', due_at = $past");
    await slow.post(orderPaid('ord_2'));
    await vi.waitFor(async () =>
      expect(await slow.inbox.get('order.paid:ord_2')).toMatchObject({ state: 'done' }),
    );
    expect(begun).toEqual([1]);
    resolve();
    await slow.inbox.idle();
    expect(begun).toHaveLength(2);
    expect(await slow.inbox.get('order.paid:ord_1')).toMatchObject({ state: 'done' });
  });

  it('take up what a dead process held once its lease has ended', async () => {
    const place = newPlace();
    const dead = openAt({ place, on: { 'order.paid': () => withResolvers().promise } });
    await dead.post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect(await dead.inbox.stats()).toMatchObject({ running: 1 }));
    const other = openAt({ place });
    await sleep(300);
    expect(other.calls).toEqual([]);
    await endLease(place);
    await vi.waitFor(() => expect(other.calls).toEqual([['ord_1', 2]]));
  });
});

describe('a process that lost its lease', () => {
  async function runTakenOver(use: (delivery: ContractDelivery, place: Place) => unknown) {
    const place = newPlace();
    const { promise, resolve } = withResolvers();
    const slow = openAt({
      place,
      retries: [],
      on: {
        'order.paid': async (_event, delivery) => {
          await promise;
          return use(delivery, place);
        },
      },
    });
    await slow.post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect(await slow.inbox.stats()).toMatchObject({ running: 1 }));
    const hold = withResolvers();
    const other = openAt({
      place,
      on: {
        'order.paid': async (_event, { commit }) => {
          await hold.promise;
          await commit(place.pay);
        },
      },
    });
    await endLease(place);
    await vi.waitFor(async () =>
      expect(await slow.inbox.get('order.paid:ord_1')).toMatchObject({ attempts: 2 }),
    );
    resolve();
    await vi.waitFor(() => expect(slow.errors).toHaveLength(1));
    expect(await slow.inbox.get('order.paid:ord_1')).toMatchObject({ state: 'running', attempts: 2 });
    hold.resolve();
    await other.inbox.idle();
    return { slow, other, paid: (await place.run('SELECT * FROM $paid')).length };
  }

  it('cannot commit: what it wrote is rolled back, and the new holder does it once', async () => {
    const { slow, other, paid } = await runTakenOver(({ commit }, { pay }) => commit(pay));
    expect(slow.errors).toMatchObject([
      {
        code: 'inbox_commit',
        message:
          'Another process has taken this delivery over, after its lease had ended or by force: nothing was written. ' +
          'Pass a longer leaseMs if your function blocks the process for so long.',
      },
    ]);
    expect(paid).toBe(1);
    expect(await other.inbox.get('order.paid:ord_1')).toMatchObject({ state: 'done', attempts: 2 });
    expect(slow.hookCalls.map(([name]) => name)).not.toContain('parked');
  });

  it('cannot mark it done by returning, and onError is called', async () => {
    const { slow, other } = await runTakenOver(() => {});
    expect(slow.errors).toMatchObject([{ message: expect.stringContaining('taken this delivery over') }]);
    expect(slow.hookCalls.map(([name]) => name)).toEqual(['received', 'started']);
    expect(await other.inbox.get('order.paid:ord_1')).toMatchObject({ state: 'done' });
  });

  it('cannot park it by failing', async () => {
    const { other, slow } = await runTakenOver(() => Promise.reject(new Error('late')));
    expect(slow.hookCalls.map(([name]) => name)).not.toContain('parked');
    expect(await other.inbox.get('order.paid:ord_1')).toMatchObject({ state: 'done', attempts: 2 });
  });

  it('has its signal aborted when it would have renewed the lease', async () => {
    const place = newPlace();
    const signals: AbortSignal[] = [];
    const { promise, resolve } = withResolvers();
    const slow = openAt({
      place,
      leaseMs: 300,
      on: {
        'order.paid': (_event, { signal }) => {
          signals.push(signal);
          return promise;
        },
      },
    });
    await slow.post(orderPaid('ord_1'));
    await vi.waitFor(() => expect(signals).toHaveLength(1));
    await place.run('UPDATE $inbox SET attempts = attempts + 1, lost = lost + 1');
    await vi.waitFor(() => expect(signals[0]?.aborted).toBe(true), { timeout: 15_000 });
    expect(String(signals[0]?.reason)).toContain('taken this delivery over');
    resolve();
  });
});

describe('a delivery that another process took over and lost', () => {
  it('waits for the function that still runs here, so that none runs twice at a time', async () => {
    const place = newPlace();
    const { promise, resolve } = withResolvers();
    const attempts: number[] = [];
    const { post } = openAt({
      place,
      leaseMs: 150,
      on: { 'order.paid': (_event, { attempt }) => attempts.push(attempt) && promise },
    });
    await post(orderPaid('ord_1'));
    await vi.waitFor(() => expect(attempts).toEqual([1]));
    await place.run('UPDATE $inbox SET attempts = 2, lost = 1, due_at = $past');
    await sleep(300);
    expect(attempts).toEqual([1]);
    resolve();
    await vi.waitFor(() => expect(attempts).toEqual([1, 3]));
  });

  it.each([0, 10])('waits for it also after retry() without force, %i lost attempts before', async (lost) => {
    const place = newPlace();
    const { promise, resolve } = withResolvers();
    const attempts: number[] = [];
    await openAt({ place, work: false }).post(orderPaid('ord_1'));
    await place.run(`UPDATE $inbox SET lost = ${lost}`);
    const { inbox } = openAt({
      place,
      leaseMs: 150,
      on: { 'order.paid': (_event, { attempt }) => attempts.push(attempt) && promise },
    });
    await vi.waitFor(() => expect(attempts).toEqual([1]));
    // Its function failed there, and is due tomorrow.
    await place.run(
      `UPDATE $inbox SET state = 'pending', attempts = 2, lost = ${lost + 1}, due_at = due_at + 86400000`,
    );
    expect(await inbox.retry('order.paid:ord_1')).toBe(true);
    await sleep(300);
    expect(attempts).toEqual([1]);
    resolve();
    await vi.waitFor(() => expect(attempts).toEqual([1, 3]));
  });
});

describe('a delivery that another process takes by force', () => {
  it.each([
    ['this one begins it again', false, ['ord_1', 2]],
    ['the other one begins it', true, ['ord_2', 1]],
  ])('frees the slot of its function, which may never end: %s', async (_who, work, next) => {
    const place = newPlace();
    const never = () => withResolvers().promise;
    const { post, calls, errors } = openAt({
      place,
      concurrency: 1,
      leaseMs: 900,
      on: {
        'order.paid': ({ data }, { attempt }) => {
          calls.push([data.order_id, attempt]);
          return calls.length === 1 ? never() : undefined;
        },
      },
    });
    await post(orderPaid('ord_1'));
    await vi.waitFor(() => expect(calls).toEqual([['ord_1', 1]]));
    const other = openAt({ place, work, concurrency: 1, on: { 'order.paid': never } });
    expect(await other.inbox.retry('order.paid:ord_1', { force: true })).toBe(true);
    if (work) {
      await vi.waitFor(async () => expect(await other.inbox.stats()).toMatchObject({ running: 1 }));
      await post(orderPaid('ord_2'));
    }
    await vi.waitFor(() => expect(calls[1]).toEqual(next), { timeout: 15_000 });
    expect(errors).toEqual([]);
  });
});

describe('a delivery whose lease had ended and that another process takes by force', () => {
  it('frees the slot of the function that still runs', async () => {
    const place = newPlace();
    const started: [attempt: number, signal: AbortSignal][] = [];
    const { post } = openAt({
      place,
      concurrency: 1,
      leaseMs: 300,
      on: {
        'order.paid': (_event, { attempt, signal }) =>
          started.push([attempt, signal]) === 1 ? withResolvers().promise : undefined,
      },
    });
    await post(orderPaid('ord_1'));
    await vi.waitFor(() => expect(started).toHaveLength(1));
    await place.run('UPDATE $inbox SET attempts = 2, lost = 1');
    await vi.waitFor(() => expect(started[0]?.[1].aborted).toBe(true), { timeout: 15_000 });
    expect(await openAt({ place, work: false }).inbox.retry('order.paid:ord_1', { force: true })).toBe(true);
    await vi.waitFor(() => expect(started[1]?.[0]).toBe(3), { timeout: 15_000 });
  });
});

describe('a delivery whose function ends the process', () => {
  it('is parked after 20 attempts, so that a restart does not meet it for ever', async () => {
    const place = newPlace();
    const first = openAt({ place, work: false });
    await first.post(orderPaid('ord_1'));
    const lose = (lost: number) =>
      place.run(`UPDATE $inbox SET state = 'running', due_at = $past, attempts = 19, lost = ${lost}`);
    await lose(18);
    const { inbox, calls } = openAt({ place });
    await vi.waitFor(() => expect(calls).toEqual([['ord_1', 20]]));
    await inbox.idle();
    await lose(19);
    await vi.waitFor(async () =>
      expect(await inbox.get('order.paid:ord_1')).toMatchObject({
        state: 'parked',
        lastError:
          'Its process ended or lost the lease during each of 20 attempts. ' +
          'If your function blocks the process, pass a longer leaseMs.',
      }),
    );
    expect(calls).toHaveLength(1);
    expect(await inbox.retry('order.paid:ord_1')).toBe(true);
    await vi.waitFor(() => expect(calls).toHaveLength(2));
  });
});
