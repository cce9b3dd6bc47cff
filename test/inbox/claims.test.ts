import { expect, test } from 'vitest';
import { readDelivery } from '../../src/inbox/params.js';
import { SqliteStore } from '../../src/inbox/sqlite-store.js';

const delivery = readDelivery({
  key: 'order.paid:ord_1',
  event: { type: 'order.paid', data: { order_id: 'ord_1', amount: '1.00', currency: 'USD' } },
  rawBody: '{}',
  headers: {},
  receivedAt: '2026-01-31T12:00:00Z',
});

test('a claim that was committed while it was renewed is not lost, one whose lease ended is, and one taken by force says so', async () => {
  const store = new SqliteStore({ file: ':memory:' });
  await store.insert(delivery.key, delivery);
  const claimAfter = async (leaseMs: number) => {
    const [claim] = (await store.claimDue(1, [], leaseMs)).claims;
    if (!claim) throw new Error('Nothing was claimed.');
    return claim;
  };
  const [first, second] = [await claimAfter(0), await claimAfter(60_000)];
  expect(await store.renew(second, 60_000)).toBe('own');
  expect(await store.renew(first, 60_000)).toBe('lost');
  await store.retry(delivery.key, true);
  const third = await claimAfter(60_000);
  expect(await store.renew(second, 60_000)).toBe('forced');
  await store.settle(third, { state: 'done' });
  expect(await store.renew(third, 60_000)).toBe('own');
  await store.close();
});
