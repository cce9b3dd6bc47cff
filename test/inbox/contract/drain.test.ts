import { describe, expect, it } from 'vitest';
import { orderPaid } from '../inboxes.js';
import { opened } from './places.js';

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
