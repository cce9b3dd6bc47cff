import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { orderPaid, received } from '../inboxes.js';
import { newPlace, openAt, waitForStates } from './places.js';

describe('pollInterval', () => {
  it('is how often to look for what other processes store: what this one stores is worked on at once', async () => {
    const place = newPlace();
    const storing = openAt({ place, work: false });
    const { inbox, post, calls } = openAt({ place, pollInterval: '1h', retries: [50] });
    await post(orderPaid('ord_1'));
    await waitForStates(inbox, ['done']);
    await sleep(200); // for the look after that
    await storing.post(orderPaid('ord_2'));
    await sleep(1500);
    expect(calls).toEqual([['ord_1', 1]]);
    await post(orderPaid('ord_3'));
    await vi.waitFor(() => expect(calls.map(([id]) => id).sort()).toEqual(['ord_1', 'ord_2', 'ord_3']));
  });

  it('keeps no retry waiting', async () => {
    const { inbox, post } = openAt({
      pollInterval: '1h',
      retries: [100],
      on: {
        'order.paid': (_event, { attempt }) => {
          if (attempt === 1) throw new Error('not yet');
        },
      },
    });
    await post(orderPaid('ord_1'));
    await waitForStates(inbox, ['done']);
    expect(await inbox.get('order.paid:ord_1')).toMatchObject({ attempts: 2 });
  });
});

describe('purgeAfter', () => {
  it('purges what is done by itself, and keeps its key', async () => {
    const { inbox, post, calls } = openAt({ purgeAfter: '1s' });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    await vi.waitFor(async () =>
      expect(await inbox.get('order.paid:ord_1')).toMatchObject({ state: 'done', event: null }),
    );
    expect(await post(orderPaid('ord_1'))).toEqual(received);
    await inbox.idle();
    expect(calls).toHaveLength(1);
  });

  it('begins when the inbox is opened, and ends with it', async () => {
    const place = newPlace();
    const first = openAt({ place });
    await first.post(orderPaid('ord_1'));
    await first.inbox.idle();
    await first.inbox.close();
    await sleep(1100);
    const { inbox } = openAt({ place, purgeAfter: '1s' });
    await inbox.close();
    const later = openAt({ place, work: false });
    expect(await later.inbox.get('order.paid:ord_1')).toMatchObject({ event: null });
  });
});
