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

test('a claim that was committed while it was renewed is not lost, and one of another process is', async () => {
  const store = new SqliteStore({ file: ':memory:' });
  await store.insert(delivery.key, delivery);
  const { claims } = await store.claimDue(1, [], 60_000);
  const [claim] = claims;
  if (!claim) throw new Error('Nothing was claimed.');
  expect(await store.renew(claim, 60_000)).toBe(true);
  expect(await store.renew({ ...claim, attempt: claim.attempt + 1 }, 60_000)).toBe(false);
  await store.settle(claim, { state: 'done' });
  expect(await store.renew(claim, 60_000)).toBe(true);
  await store.close();
});
