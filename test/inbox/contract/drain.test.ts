import { describe, expect, it } from 'vitest';
import { orderPaid } from '../inboxes.js';
import { newPlace, opened, settled } from './places.js';

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

  it('gives back what it is claiming when the inbox is closed', async () => {
    const place = newPlace();
    const first = opened({ place, work: false, retries: [] });
    for (const id of ['a', 'b', 'c', 'd']) await first.post(orderPaid(id));
    const draining = first.inbox.drain({ forMs: '10s' });
    await first.inbox.close();
    await draining;
    const second = opened({ place });
    await settled(second.inbox, ['done']); // long before the lease ends
    expect([...first.calls, ...second.calls]).toHaveLength(4);
  });

  it('called twice works on no more than concurrency at a time', async () => {
    let [running, most] = [0, 0];
    const { inbox, post } = opened({
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
});
