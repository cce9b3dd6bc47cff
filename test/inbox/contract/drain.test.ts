import { describe, expect, it, vi } from 'vitest';
import { ConfigurationError } from '../../../src/inbox/index.js';
import { orderPaid, withResolvers } from '../inboxes.js';
import { newPlace, openAt, waitForStates } from './places.js';

describe('drain()', () => {
  it('works off what is due and returns, beside work: false', async () => {
    const { inbox, post, calls } = openAt({
      work: false,
      on: { 'order.paid': ({ data }) => void calls.push([data.order_id, 1]) },
    });
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) await post(orderPaid(id));
    expect(calls).toEqual([]);
    await inbox.drain({ forMs: '10s' });
    expect(calls).toHaveLength(6);
    expect(await inbox.stats()).toMatchObject({ done: 6, pending: 0 });
  });

  it('is refused without a function for order.paid: it would park every payment', async () => {
    const place = newPlace();
    const web = openAt({ place, work: false, on: undefined });
    await web.post(orderPaid('ord_1'));
    await expect(web.inbox.drain({ forMs: '10s' })).rejects.toThrow(
      new ConfigurationError(
        'inbox.drain: this inbox has no function for "order.paid". Pass "on" to openInbox(), or let the process that has it drain.',
      ),
    );
    expect(await web.inbox.stats()).toMatchObject({ pending: 1, parked: 0 });
  });

  it('claims nothing after forMs, and waits for what runs', async () => {
    const done: string[] = [];
    const { inbox, post } = openAt({
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

  it('lets the rest of the process go on between functions that end at once', async () => {
    const order: string[] = [];
    const { inbox, post } = openAt({
      work: false,
      concurrency: 1,
      on: {
        'order.paid': ({ data }) => {
          if (order.length === 0) setImmediate(() => order.push('other work'));
          order.push(data.order_id);
        },
      },
    });
    for (const id of ['a', 'b', 'c', 'd']) await post(orderPaid(id));
    await inbox.drain({ forMs: '10s' });
    expect(order.indexOf('other work')).toBeGreaterThan(0);
    expect(order.at(-1)).toBe('d');
  });

  it('gives back what it is claiming when the inbox is closed', async () => {
    const place = newPlace();
    const first = openAt({ place, work: false, retries: [] });
    for (const id of ['a', 'b', 'c', 'd']) await first.post(orderPaid(id));
    const draining = first.inbox.drain({ forMs: '10s' });
    await first.inbox.close();
    await draining;
    const second = openAt({ place });
    await waitForStates(second.inbox, ['done']); // long before the lease ends
    expect([...first.calls, ...second.calls]).toHaveLength(4);
  });

  it('called twice works on no more than concurrency at a time', async () => {
    let [running, most] = [0, 0];
    const { inbox, post } = openAt({
      work: false,
      concurrency: 1,
      on: {
        'order.paid': async () => {
          most = Math.max(most, ++running);
          await new Promise((resolve) => setTimeout(resolve, 20));
          running--;
        },
      },
    });
    for (const id of ['a', 'b', 'c', 'd']) await post(orderPaid(id));
    await Promise.all([inbox.drain({ forMs: '10s' }), inbox.drain({ forMs: '10s' })]);
    expect(most).toBe(1);
  });

  it('waits for what another call works on, and for what another inbox of this process does', async () => {
    const place = newPlace();
    const gates = [withResolvers(), withResolvers()];
    const on = {
      'order.paid': ({ data }: { data: { order_id: string } }) => gates[Number(data.order_id)]?.promise,
    };
    const first = openAt({ place, work: false, on });
    const second = openAt({ place, work: false, on }, { sameProcess: true });
    const returns: Promise<unknown>[] = [];
    for (const [index, other] of [first, second].entries()) {
      await first.post(orderPaid(`${index}`));
      const draining = first.inbox.drain({ forMs: '10s' });
      await vi.waitFor(async () => expect(await first.inbox.stats()).toMatchObject({ running: 1 }));
      for (const forMs of [0, '10s'] as const) {
        const returned = vi.fn();
        returns.push(other.inbox.drain({ forMs }).then(returned));
        await new Promise((resolve) => setTimeout(resolve, 100));
        expect(returned).not.toHaveBeenCalled();
      }
      gates[index]?.resolve();
      await Promise.all([draining, ...returns]);
    }
    expect(await first.inbox.stats()).toMatchObject({ done: 2 });
  });

  it('waits for what another call has begun to claim, even if its own time is over', async () => {
    const { inbox, post } = openAt({
      work: false,
      on: { 'order.paid': () => new Promise((resolve) => setTimeout(resolve, 50)) },
    });
    await post(orderPaid('ord_1'));
    const draining = inbox.drain({ forMs: '10s' });
    await inbox.drain({ forMs: 0 });
    expect(await inbox.stats()).toMatchObject({ done: 1 });
    await draining;
  });

  it('does not take work away from the inbox that works, nor the wake-up of what arrives', async () => {
    const place = newPlace();
    const gate = withResolvers();
    const working = openAt({
      place,
      on: { 'order.paid': ({ data }) => void working.calls.push([data.order_id, 1]) },
    });
    const web = openAt(
      { place, work: false, on: { 'order.paid': () => gate.promise } },
      { sameProcess: true },
    );
    await working.inbox.idle();
    await web.inbox.drain({ forMs: 0 });
    await working.post(orderPaid('ord_1'));
    await vi.waitFor(() => expect(working.calls).toHaveLength(1));
    gate.resolve();
  });
});
