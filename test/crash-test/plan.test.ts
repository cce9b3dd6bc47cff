import { expect, test } from 'vitest';
import { type DeliveryKind, listOrders, makePlan } from '../../src/crash-test/plan.js';

const options = { seed: 7, orders: listOrders(200, false), instances: 2 };
const plan = makePlan(options);
const ofKind = (kind: DeliveryKind) => plan.deliveries.filter((delivery) => delivery.kind === kind);

test('the same seed gives the same plan, and another seed another one', () => {
  expect(makePlan(options)).toEqual(plan);
  expect(makePlan({ ...options, seed: 8 })).not.toEqual(plan);
});

test('every order is paid once, and each has an amount of its own', () => {
  expect(ofKind('payment').map(({ orderId }) => orderId)).toHaveLength(200);
  expect(new Set(plan.orders.map(({ id }) => id)).size).toBe(200);
  expect(new Set(plan.orders.map(({ amount }) => amount)).size).toBe(200);
});

test('a tenth is sent twice, a fiftieth three times at once, a fiftieth with another amount, a twenty-fifth is forged', () => {
  expect(ofKind('again')).toHaveLength(20);
  expect(ofKind('payment').filter(({ instances }) => instances.length === 3)).toHaveLength(4);
  expect(ofKind('conflict')).toHaveLength(4);
  expect(
    ofKind('unreadable')
      .map(({ amount }) => amount)
      .sort(),
  ).toEqual(['10,90', '11,90']);
  expect(ofKind('forged')).toHaveLength(8);
});

test('half of the forged deliveries are about orders that nobody paid, half about known ones with another amount', () => {
  const known = ofKind('forged').filter(({ orderId }) => plan.orders.some(({ id }) => id === orderId));
  expect(known).toHaveLength(4);
  for (const { orderId, amount } of known)
    expect(plan.orders.find(({ id }) => id === orderId)?.amount).not.toBe(amount);
});

test('a twentieth of the orders is killed, at least ten: three SIGKILL for each SIGTERM, up to 1.4 response times after it was sent', () => {
  const kills = plan.deliveries.flatMap(({ kill }) => kill ?? []);
  const signals = (wanted: string) => kills.filter(({ signal }) => signal === wanted).length;
  expect([signals('SIGKILL'), signals('SIGTERM'), signals('SIGSTOP')]).toEqual([8, 2, 1]);
  expect(kills.every(({ share }) => share >= 0 && share <= 1.4)).toBe(true);
  expect(
    makePlan({ ...options, orders: listOrders(1000, false) }).deliveries.filter(({ kill }) => kill),
  ).toHaveLength(51);
});

test('half of the kills, and each SIGTERM, come at once after a response', () => {
  const kills = plan.deliveries.flatMap(({ kill }) => (kill && kill.signal !== 'SIGSTOP' ? kill : []));
  const after = kills.filter(({ share }) => share >= 1 && share <= 1.2);
  expect(after).toHaveLength(5);
  expect(kills.filter(({ signal }) => signal === 'SIGTERM').every((kill) => after.includes(kill))).toBe(true);
});

test('a duplicate is planned after the first delivery of its order', () => {
  for (const { orderId, kind } of plan.deliveries)
    if (kind === 'again' || kind === 'conflict') {
      const kinds = plan.deliveries.filter((each) => each.orderId === orderId && each.kind !== 'forged');
      expect(kinds[0]?.kind).toBe('payment');
    }
});

test('with shared amounts every tenth order costs what the next one does', () => {
  const orders = listOrders(200, true);
  const shared = orders.filter(({ amount }, place) => orders[place + 1]?.amount === amount);
  expect(shared).toHaveLength(20);
});

test('orders that the shop has opened are paid with its amounts, and conflict with higher ones', () => {
  const opened = [{ reference: 'A', amount: '19.88' }];
  const { orders, deliveries } = makePlan({ seed: 7, orders: opened, instances: 1 });
  expect(orders).toEqual([{ reference: 'A', amount: '19.88', id: expect.stringMatching(/^ord_/) }]);
  const amounts = deliveries.filter(({ orderId }) => orderId === orders[0]?.id).map(({ amount }) => amount);
  expect(new Set(amounts)).toEqual(new Set(['19.88', '1019.88']));
});

test('each instance of several gets deliveries', () => {
  const counts = [0, 1].map(
    (instance) => plan.deliveries.filter(({ instances }) => instances[0] === instance).length,
  );
  expect(Math.min(...counts)).toBeGreaterThan(50);
});
