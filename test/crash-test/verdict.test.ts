import { describe, expect, test } from 'vitest';
import { type BookLine, plainAmount } from '../../src/crash-test/books.js';
import type { DeliveryKind, Plan, PlannedDelivery } from '../../src/crash-test/plan.js';
import type { Answer } from '../../src/crash-test/run.js';
import { countUnanswered, isComplete, judge } from '../../src/crash-test/verdict.js';

const plan: Plan = {
  seed: 1,
  orders: [
    { id: 'ord_1', reference: 'o1', amount: '10.00' },
    { id: 'ord_2', reference: 'o2', amount: '20.00' },
  ],
  deliveries: [],
};

function answer(kind: DeliveryKind, orderId: string, amount: string, status?: number): Answer {
  const delivery: PlannedDelivery = {
    kind,
    orderId,
    amount,
    body: '',
    instances: [0],
    repeatsAfterKill: true,
    repeatsAfterFailure: true,
  };
  return { delivery, status, sentAt: 0, endedAt: 1000 };
}
const paid = (status?: number) => answer('payment', 'ord_1', '10.00', status);
const line = (orderId: string, amount: string, more: Partial<BookLine> = {}): BookLine => ({
  orderId,
  amount: plainAmount(amount),
  isHeld: false,
  ...more,
});

type Row = [title: string, answers: Answer[], books: BookLine[], codes: string[]];
const rows: Row[] = [
  ['fulfilled once after a 200', [paid(200)], [line('ord_1', '10.00')], []],
  ['another way to write the amount', [paid(200)], [line('ord_1', '10.0')], []],
  ['held in place of fulfilled', [paid(200)], [line('ord_1', '10.00', { isHeld: true })], []],
  ['neither answered nor fulfilled', [paid()], [], []],
  ['fulfilled though no response came', [paid()], [line('ord_1', '10.00')], []],
  ['answered 200, and not in the books', [paid(200)], [], ['lost']],
  ['answered 204, and not in the books', [paid(204)], [], ['lost']],
  ['answered 500, and not in the books', [paid(500)], [], []],
  ['unreadable, answered 200, and nowhere', [answer('unreadable', 'ord_9', '19,90', 200)], [], ['lost']],
  [
    'unreadable, and held',
    [answer('unreadable', 'ord_9', '19,90', 200)],
    [{ orderId: 'ord_9', isHeld: true }],
    [],
  ],
  ['an unknown type, answered 200', [answer('unknown', 'ord_9', '1.00', 200)], [], []],
  ['twice in the books', [paid(200)], [line('ord_1', '10.00'), line('ord_1', '10.00')], ['twice']],
  ['another amount', [paid(200)], [line('ord_1', '10.01')], ['wrong_amount']],
  [
    'the amount of the second delivery',
    [paid(200), answer('conflict', 'ord_1', '99.00', 200)],
    [line('ord_1', '99.00')],
    ['wrong_amount'],
  ],
  [
    'a second amount that is held',
    [paid(200), answer('conflict', 'ord_1', '99.00', 200)],
    [line('ord_1', '10.00'), line('ord_1', '99.00', { isHeld: true })],
    [],
  ],
  [
    'a second amount that was fulfilled first, and the first one held',
    [paid(200), answer('conflict', 'ord_1', '99.00', 200)],
    [line('ord_1', '99.00'), line('ord_1', '10.00', { isHeld: true })],
    [],
  ],
  [
    'a second amount, answered 200 and nowhere',
    [paid(200), answer('conflict', 'ord_1', '99.00', 200)],
    [line('ord_1', '10.00')],
    ['conflict_dropped'],
  ],
  [
    'a second amount, answered 409',
    [paid(200), answer('conflict', 'ord_1', '99.00', 409)],
    [line('ord_1', '10.00')],
    [],
  ],
  [
    'a forged order in the books',
    [answer('forged', 'ord_9', '10.00', 400)],
    [line('ord_9', '10.00')],
    ['forged'],
  ],
  [
    'the forged amount of a known order in the books',
    [paid(200), answer('forged', 'ord_1', '77.00', 400)],
    [line('ord_1', '77.00')],
    ['forged'],
  ],
  ['an order in the books that nobody sent', [], [line('ord_7', '1.00')], ['forged']],
  ['a forged delivery answered 200', [answer('forged', 'ord_9', '10.00', 200)], [], ['forged_accepted']],
  ['credited to its order', [paid(200)], [line('ord_1', '10.00', { reference: 'o1' })], []],
  ['credited to another order', [paid(200)], [line('ord_1', '10.00', { reference: 'o2' })], ['wrong_order']],
];

describe('the books', () => {
  test.each(rows)('%s', (_, answers, books, codes) => {
    expect(judge(plan, answers, books).map(({ code }) => code)).toEqual(codes);
  });
});

test('only what loses, doubles or misplaces money is more than a warning', () => {
  const found = judge(plan, [answer('forged', 'ord_9', '10.00', 200), paid(200)], []);
  expect(found.map(({ code, isWarning }) => [code, isWarning])).toEqual([
    ['lost', false],
    ['forged_accepted', true],
  ]);
});

test('an example says what was sent, what came back, when a kill came, and what the books have', () => {
  const killed: Answer = { ...paid(200), endedAt: 3412, kill: { signal: 'SIGKILL', at: 3413 } };
  expect(judge(plan, [killed], [])[0]?.examples).toEqual([
    'ord_1 10.00: 200 at 3.412 s, SIGKILL at 3.413 s, not in the books',
  ]);
});

test('orders that never got a 200 are counted, and are no finding', () => {
  expect(countUnanswered(plan, [paid(500), answer('payment', 'ord_2', '20.00', 200)])).toBe(1);
});

test('the books are complete once they have each order that got a 200', () => {
  const answers = [paid(200), answer('payment', 'ord_2', '20.00')];
  expect(isComplete(plan, answers, [line('ord_1', '10.00')])).toBe(true);
  expect(isComplete(plan, answers, [])).toBe(false);
});

test('the books are not complete while they have the second of two amounts, and do not hold the first', () => {
  const answers = [paid(200), answer('conflict', 'ord_1', '99.00', 200)];
  expect(isComplete(plan, answers, [line('ord_1', '99.00')])).toBe(false);
  expect(isComplete(plan, answers, [line('ord_1', '99.00'), { orderId: 'ord_1', isHeld: true }])).toBe(true);
});
