import {
  ConfigurationError,
  freeAmount,
  InvalidParamsError,
  matchPayments,
} from 'merchant-payments/matching';
import { describe, expect, it } from 'vitest';

const minute = 60_000;
const day = 24 * 60;
const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1) + minutes * minute);
const sum = { amount: '19.90', currency: 'USD' };
const order = (id: string, facts: object = {}) => ({ id, ...sum, createdAt: at(0), ...facts });
const payment = (id: string, facts: object = {}) => ({ id, ...sum, receivedAt: at(10), ...facts });
const back = { returnedAt: at(9) };

/** `A paid a` for what is matched, `a for A,B: several_candidates` for what is held. */
function say(
  orders: ReturnType<typeof order>[],
  payments: ReturnType<typeof payment>[],
  options: object = {},
) {
  const { matched, held } = matchPayments({ orders, payments, ...options });
  return [
    ...matched.map((one) => `${one.order.id} paid ${one.payment.id}: ${one.because}`),
    ...held.map((one) => `${one.payment.id} for ${one.candidates.map(({ id }) => id)}: ${one.because}`),
  ];
}
const trusted = { trustReturns: true };

describe('matchPayments()', () => {
  it.each([
    [
      'the only order of its amount',
      [order('A'), order('B', { amount: '19.89' })],
      'A paid p: only_candidate',
    ],
    ['amounts as decimals', [order('A', { amount: '019.900' })], 'A paid p: only_candidate'],
    ['amounts to the last digit', [order('A', { amount: '19.900000000000000001' })], 'p for : no_candidate'],
    ['currencies in either case', [order('A', { currency: 'usd' })], 'A paid p: only_candidate'],
    ['no order of another currency', [order('A', { currency: 'EUR' })], 'p for : no_candidate'],
    ['no order that was made after it', [order('A', { createdAt: at(10.01) })], 'p for : no_candidate'],
    [
      'an order that was made at the same time',
      [order('A', { createdAt: at(10) })],
      'A paid p: only_candidate',
    ],
    ['one of several only by a person', [order('B'), order('A')], 'p for A,B: several_candidates'],
    [
      'one of several who came back only by a person',
      [order('A', back), order('B')],
      'p for A,B: several_candidates',
    ],
    [
      'an order within ten minutes of its end',
      [order('A', { expiresAt: at(0) })],
      'A paid p: only_candidate',
    ],
    ['a later one only by a person', [order('A', { expiresAt: at(-0.01) })], 'p for A: expired'],
    [
      'an expired order is a candidate for two hours',
      [order('A', { createdAt: at(-8 * day), expiresAt: at(10 - 120) }), order('B')],
      'p for A,B: several_candidates',
    ],
    [
      'and not longer',
      [order('A', { createdAt: at(-8 * day), expiresAt: at(9.9 - 120) }), order('B')],
      'B paid p: only_candidate',
    ],
    [
      'unless its customer came back',
      [order('A', { createdAt: at(-99 * day), expiresAt: at(-98 * day), ...back }), order('B')],
      'p for A,B: several_candidates',
    ],
    [
      'an order without an end does not expire',
      [order('A', { createdAt: at(-999 * day) })],
      'A paid p: only_candidate',
    ],
    [
      'null, as databases have it',
      [order('A', { expiresAt: null, returnedAt: null })],
      'A paid p: only_candidate',
    ],
  ])('credits %s', (_fact, orders, expected) => {
    expect(say(orders, [payment('p')])).toEqual([expected]);
  });

  it.each([
    ['7d', 7 * day],
    ['30s', 0.5],
    [60_000, 1],
    [0, 0],
  ])(
    'takes as lateFor %s how long an expired order stays a candidate, at the time of the payment',
    (lateFor, minutes) => {
      const orderExpired = (ago: number) => [
        order('A', { createdAt: at(-8 * day), expiresAt: at(10 - ago) }),
        order('B'),
      ];
      const options = { lateFor, now: at(99 * day) };
      expect(say(orderExpired(minutes), [payment('p')], options)).toEqual(['p for A,B: several_candidates']);
      expect(say(orderExpired(minutes + 0.01), [payment('p')], options)).toEqual([
        'B paid p: only_candidate',
      ]);
    },
  );

  it('gives an order the earliest of several payments, and holds the others', () => {
    const payments = [payment('late', { receivedAt: at(12) }), payment('b'), payment('a')];
    expect(say([order('A')], payments)).toEqual([
      'A paid a: only_candidate',
      'b for : no_candidate',
      'late for : no_candidate',
    ]);
  });

  it('lets each match make another one certain', () => {
    const orders = [order('A'), order('B', { createdAt: at(15) }), order('C', { createdAt: at(25) })];
    const payments = [30, 20, 10].map((minutes) => payment(`at ${minutes}`, { receivedAt: at(minutes) }));
    expect(say(orders, payments)).toEqual([
      'A paid at 10: only_candidate',
      'B paid at 20: only_candidate',
      'C paid at 30: only_candidate',
    ]);
  });

  it('returns what else orders and payments carry, and takes ids that are numbers', () => {
    const carried = { ...order('A'), id: 7, customer: 'Anna' };
    const { matched } = matchPayments({
      orders: [carried],
      payments: [{ ...payment('p'), id: 8n, raw: 'x' }],
    });
    expect(matched[0]?.order.customer).toBe('Anna');
    expect(matched[0]?.order).toBe(carried);
    expect(matched[0]?.payment.raw).toBe('x');
  });

  it('lists as overdue who came back more than overdueMs ago and has not paid', () => {
    const orders = [
      order('A', back),
      order('B', { ...back, amount: '5.00' }),
      order('C', { amount: '6.00' }),
    ];
    const listOverdue = (params: object) =>
      matchPayments({ orders, payments: [payment('p')], ...params }).overdue.map(({ id }) => id);
    expect(listOverdue({})).toEqual([]);
    expect(listOverdue({ now: at(9 + 15) })).toEqual([]);
    expect(listOverdue({ now: at(9 + 15.01) })).toEqual(['B']);
    expect(listOverdue({ now: at(12), overdueMs: 2 * minute })).toEqual(['B']);
  });
});

describe('matchPayments() with trusted returns', () => {
  it.each([
    ['who came back', [order('A', back), order('B')], 1, ['A paid p1: returned']],
    [
      'nobody, if two are back for one payment',
      [order('A', back), order('B', back)],
      1,
      ['p1 for A,B: several_candidates'],
    ],
    [
      'both, once there are two payments',
      [order('A', back), order('B', back)],
      2,
      ['A paid p1: returned', 'B paid p2: only_candidate'],
    ],
    [
      'who came back, and then the only one left',
      [order('A'), order('B', back)],
      2,
      ['B paid p1: returned', 'A paid p2: only_candidate'],
    ],
    [
      'nobody who came back after the checkout had expired',
      [order('A', { ...back, expiresAt: at(-1) }), order('B')],
      1,
      ['p1 for A,B: several_candidates'],
    ],
    [
      'nobody who ordered after the payment',
      [order('A'), order('B'), order('C', { createdAt: at(20), ...back })],
      1,
      ['p1 for A,B,C: several_candidates'],
    ],
  ])('credits %s', (_fact, orders, count, expected) => {
    const payments = Array.from({ length: count }, (_, index) => payment(`p${index + 1}`));
    expect(say(orders, payments, trusted)).toEqual(expected);
  });

  it('treats every unpaid order of the amount as a candidate, because payments may have been swapped', () => {
    // A came back and got the payment of B, who ordered later. What is left is A's own: it came before B ordered.
    const left = [order('X'), order('B', { createdAt: at(20) })];
    expect(say(left, [payment('of A')], trusted)).toEqual(['of A for X,B: several_candidates']);
    expect(say(left, [payment('of A')])).toEqual(['X paid of A: only_candidate']);
  });
});

/** Each breaks one thing of parameters that are right. */
const wrong: [path: string, problem: string, params: object][] = [
  ['orders', 'must be an array.', { orders: {} }],
  ['orders.0', 'must be an object.', { orders: [null] }],
  ['orders.1.id', 'is the id of orders.0 as well.', { orders: [order('1'), { ...order(''), id: 1 }] }],
  ['orders.0.id', 'must be a string or a number.', { orders: [order('')] }],
  ['orders.0.id', 'must be a string or a number.', { orders: [{ ...order('A'), id: undefined }] }],
  ...['19,90', '', '-1', '1e3', ' 1', '1.', '.5', 19.9].map((amount): [string, string, object] => [
    'orders.0.amount',
    'must be a decimal string such as "19.90".',
    { orders: [order('A', { amount })] },
  ]),
  [
    'orders.0.currency',
    'must be a currency code such as "USD".',
    { orders: [order('A', { currency: ' ' })] },
  ],
  ['orders.0.createdAt', 'must be a valid Date.', { orders: [order('A', { createdAt: Date.now() })] }],
  ['orders.0.expiresAt', 'must be a valid Date.', { orders: [order('A', { expiresAt: new Date('never') })] }],
  ['orders.0.returnedAt', 'must be a valid Date.', { orders: [order('A', { returnedAt: '2026-01-01' })] }],
  ['payments.0.receivedAt', 'must be a valid Date.', { payments: [payment('p', { receivedAt: null })] }],
  ['payments.1.id', 'is the id of payments.0 as well.', { payments: [payment('p'), payment('p')] }],
  ['payments', 'must be an array.', { payments: undefined }],
  ['trustReturns', 'must be true or false.', { trustReturns: 'false' }],
  [
    'lateFor',
    '"2 hours" is not a duration. Pass one such as "30s", "5m", "2h" or "1d".',
    { lateFor: '2 hours' },
  ],
  ['now', 'must be a valid Date, got the number 1.', { now: 1 }],
  ['overdueMs', 'must be a number of milliseconds.', { overdueMs: Number.NaN }],
  ['trustReturn', 'is unknown. Did you mean trustReturns?', { trustReturn: true }],
];

/** Returns the error of a call whose parameters its type forbids. */
function errorOf(call: (params: never) => unknown, params: unknown): unknown {
  try {
    Reflect.apply(call, undefined, [params]);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidParamsError);
    return error;
  }
}

it.each(wrong)('matchPayments() names what is wrong: %s %s', (path, message, params) => {
  expect(errorOf(matchPayments, { orders: [], payments: [], ...params })).toMatchObject({
    message: `matchPayments: ${path} ${message}`,
    issues: [{ path, message }],
  });
});

it('parameters that are no object are named as well', () => {
  expect(errorOf(matchPayments, undefined)).toMatchObject({
    message: 'matchPayments: params is missing. Pass an object.',
  });
});

it.each([
  ['matchPayments', () => matchPayments({ orders: [], payments: [] })],
  ['freeAmount', () => freeAmount({ price: '19.90', taken: [], most: '0' })],
])('%s() says nothing while Object.prototype has a field of its own', (_, call) => {
  const field = { value: true, enumerable: true, configurable: true, writable: true };
  Object.defineProperty(Object.prototype, 'trustReturns', field);
  try {
    expect(call).toThrow(ConfigurationError);
  } finally {
    Reflect.deleteProperty(Object.prototype, 'trustReturns');
  }
});

it('10,000 unpaid orders and 1,000 payments are matched within seconds', () => {
  const orders = Array.from({ length: 10_000 }, (_, n) =>
    order(`o${n}`, { createdAt: at(n), amount: `${n % 5000}` }),
  );
  const payments = Array.from({ length: 1000 }, (_, n) =>
    payment(`p${n}`, { receivedAt: at(n), amount: `${n}` }),
  );
  const startedAt = performance.now();
  expect(matchPayments({ orders, payments }).matched).toHaveLength(1000);
  expect(performance.now() - startedAt).toBeLessThan(5000);
});

it('twice the orders and payments of one amount take four times the work, not eight', () => {
  /** Counts the reads of orders. Half of the payments are for customers who came back; the others fit several orders. */
  const work = (half: number, trustReturns: boolean) => {
    let reads = 0;
    const countReads = (id: string, facts?: object) =>
      new Proxy(order(id, facts), {
        get(target, key) {
          reads += 1;
          return Reflect.get(target, key);
        },
      });
    const numbers = Array.from({ length: half }, (_, n) => n);
    const orders = [
      ...numbers.map((n) => countReads(`early ${n}`)),
      ...numbers.map((n) => countReads(`late ${n}`, { createdAt: at(20), returnedAt: at(25) })),
    ];
    const payments = [
      ...numbers.map((n) => payment(`early ${n}`)),
      ...numbers.map((n) => payment(`late ${n}`, { receivedAt: at(30) })),
    ];
    const { matched, held } = matchPayments({ orders, payments, trustReturns });
    expect([matched.length, held.length]).toEqual(trustReturns ? [half, half] : [0, 2 * half]);
    return reads;
  };
  for (const trustReturns of [false, true])
    expect(work(80, trustReturns)).toBeLessThan(5 * work(40, trustReturns));
});

describe('freeAmount()', () => {
  it.each([
    [{ price: '19.90', taken: [], most: '0.50' }, '19.90'],
    [{ price: '19.90', taken: ['19.9', '19.89'], most: '0.50' }, '19.88'],
    [{ price: '19.90', taken: ['19.89'], most: '0.50' }, '19.90'],
    [{ price: '19.9', taken: new Set(['19.90', '19.88']), most: '0.02' }, '19.89'],
    [{ price: '19.90', taken: ['19.90', '19.89', '19.88'], most: '0.02' }, undefined],
    [{ price: '19.90', taken: ['19.90'], most: '0' }, undefined],
    [{ price: '20', taken: ['20.00'], most: '0.50' }, '19.99'],
    [{ price: '0.02', taken: ['0.02', '0.01'], most: '0.50' }, undefined],
    [{ price: '100.00', taken: ['100'], most: '1' }, '99.99'],
    [{ price: '90071992547409.93', taken: ['90071992547409.93'], most: '0.01' }, '90071992547409.92'],
    [{ price: '1500', taken: ['1500'], most: '50', step: '1' }, '1499'],
    [{ price: '10.00', taken: ['10'], most: '1', step: '0.05' }, '9.95'],
    [{ price: '2.730', taken: [], most: '0.50' }, '2.73'],
    [{ price: '2.730', taken: ['2.73', '2.7200', '2.715'], most: '0.500' }, '2.71'],
    [{ price: '0.05', taken: ['0.05'], most: '1' }, '0.04'],
  ])('%j gives %j', (params, amount) => {
    expect(freeAmount(params)).toBe(amount);
  });

  it.each([
    [{ price: 19.9 }, 'price must be a decimal string such as "19.90".'],
    [{ price: '0.00' }, 'price must be more than zero.'],
    [{ most: undefined }, 'most must be a decimal string such as "19.90".'],
    [{ price: '2.735' }, 'price has more than two decimals.'],
    [{ step: '0.001' }, 'step has more than two decimals.'],
    [{ step: '0' }, 'step must be more than zero.'],
    [{ taken: '19.90' }, 'taken must be an array of amounts.'],
    [{ taken: undefined }, 'taken must be an array of amounts.'],
    [{ taken: ['19.90', '19,89'] }, 'taken.1 must be a decimal string such as "19.90".'],
    [{ prize: '1' }, 'prize is unknown. Did you mean price?'],
  ])('%j is refused', (params, problem) => {
    expect(errorOf(freeAmount, { price: '19.90', taken: [], most: '0.50', ...params })).toMatchObject({
      message: `freeAmount: ${problem}`,
    });
  });
});
