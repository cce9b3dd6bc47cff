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

test('a claim that was committed while it was renewed is not lost, one that ended by time is, and without that it was taken by force', async () => {
  const store = new SqliteStore({ file: ':memory:' });
  await store.insert(delivery.key, delivery);
  const { claims } = await store.claimDue(1, [], 60_000);
  const [claim] = claims;
  if (!claim) throw new Error('Nothing was claimed.');
  const earlier = { ...claim, attempt: claim.attempt - 1 };
  expect(await store.renew(claim, 60_000)).toBe('own');
  expect(await store.renew({ ...earlier, lost: claim.lost - 1 }, 60_000)).toBe('lost');
  expect(await store.renew(earlier, 60_000)).toBe('forced');
  await store.settle(claim, { state: 'done' });
  expect(await store.renew(claim, 60_000)).toBe('own');
  await store.close();
});
