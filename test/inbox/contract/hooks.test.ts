import { describe, expect, it } from 'vitest';
import { orderPaid } from '../inboxes.js';
import { openAt } from './places.js';

describe('hooks', () => {
  it('may throw without an effect on the delivery', async () => {
    const hook = () => {
      throw new Error('log full');
    };
    const { inbox, post } = openAt({
      hooks: {
        received: hook,
        duplicate: hook,
        refused: hook,
        started: hook,
        done: hook,
        failed: hook,
        parked: hook,
      },
      retries: [],
      on: {
        'order.paid': (event) => {
          if (event.data.order_id === 'bad') throw new Error('bad');
        },
      },
    });
    for (const id of ['good', 'good', 'bad'])
      expect(await post(orderPaid(id))).toMatchObject({ status: 200 });
    expect(await post(orderPaid('x'), {})).toMatchObject({ status: 400 });
    await inbox.idle();
    expect(await inbox.stats()).toMatchObject({ done: 1, parked: 1 });
  });
});

describe('idle()', () => {
  it('does not wait for a retry that is due later', async () => {
    const { inbox, post } = openAt({
      retries: ['1h'],
      on: { 'order.paid': () => Promise.reject(new Error('x')) },
    });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect(await inbox.stats()).toMatchObject({ pending: 1 });
  });
});
