import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Order, OrderBook } from '../../examples/shop/orders.js';

const minute = 60_000;
const start = Date.UTC(2026, 0, 1, 12);
const at = (minutes: number) => new Date(start + minutes * minute);
/** Minutes after it was opened at which every order's checkout expires. */
const lifetime = 30;
const candle = { name: 'candle', price: '27.50', currency: 'USD' };

function open(book: OrderBook, minutes: number, goods: Partial<typeof candle> = {}): Order {
  const order = book.open({ ...candle, ...goods }, at(minutes));
  order.expiresAt = at(minutes + lifetime);
  return order;
}
function receive(book: OrderBook, order_id: string, { amount, currency }: Order, minutes: number) {
  return book.receive({ order_id, amount, currency }, at(minutes));
}
const held = (book: OrderBook) => book.review().held.map(({ payment }) => payment.id);

/**
 * Two customers, one product. Each step takes a minute: `A:opens B:opens A:pays A:event A:returns`. Who `attacks` has read
 * `successUrl` on his own unpaid payment page and opens it; who `guesses` makes a token up.
 */
function play(steps: string, cents: 'free' | 'used up'): { book: OrderBook; named(name: string): Order } {
  const book = new OrderBook();
  const orders = new Map<string, Order>();
  const named = (name: string) => {
    const order = orders.get(name);
    if (!order) throw new Error(`${name} has no order`);
    return order;
  };
  for (const [index, step] of steps.split(' ').entries()) {
    const [name = '', what] = step.split(':');
    if (what === 'opens') {
      orders.set(name, open(book, index));
      if (cents === 'used up') named(name).amount = candle.price;
    } else if (what === 'event') receive(book, `ord_${name}`, named(name), index);
    else if (what === 'returns' || what === 'attacks')
      book.comeBack(named(name).id, named(name).token, at(index));
    else if (what === 'guesses') expect(book.comeBack(named(name).id, 'a guess', at(index))).toBeUndefined();
  }
  return { book, named };
}

test('who wants the same thing at the same time pays a cent less, so each payment has one order', () => {
  const book = new OrderBook();
  const orders = Array.from({ length: 52 }, () => open(book, 0));
  expect(orders.slice(0, 3).map(({ amount }) => amount)).toEqual(['27.50', '27.49', '27.48']);
  expect(orders.slice(50).map(({ amount }) => amount)).toEqual(['27.00', '27.50']);
  expect(open(book, 0, { currency: 'EUR' }).amount).toBe('27.50');

  for (const order of orders.slice(1, 51)) receive(book, `for ${order.id}`, order, 1);
  expect(orders.map(({ paidAs }) => paidAs)).toEqual(
    orders.map(({ id }, index) => (index === 0 || index === 51 ? undefined : `for ${id}`)),
  );
});

test('where the cents are used up, an order shares its amount with an unpaid one, and never with a paid one', () => {
  const book = new OrderBook();
  const orders = Array.from({ length: 51 }, () => open(book, 0));
  for (const order of orders) if (order.amount !== '27.20') receive(book, `for ${order.id}`, order, 1);
  const next = open(book, 2);
  expect(next.amount).toBe('27.20');
  const [first] = orders;
  if (!first) throw new Error('There is no order.');
  receive(book, 'paid again', first, 3);
  receive(book, 'one of two', next, 3);
  expect([next.paidAs, held(book).sort()]).toEqual([undefined, ['one of two', 'paid again']]);
  for (const order of orders) book.close(order.id);
  expect(next.paidAs).toBe('one of two');
  expect(() => open(book, 4)).toThrow('Every amount near 27.50 was paid today.');
});

const day = 24 * 60;

test.each(['a checkout that ends', 'no end'])(
  'an amount is kept for others a day after its payment, with %s',
  (end) => {
    const book = new OrderBook();
    const first = open(book, 0);
    if (end === 'no end') first.expiresAt = undefined;
    receive(book, 'ord_1', first, 1);
    const second = open(book, day);
    expect(second.amount).toBe('27.49');
    receive(book, 'ord_1_again', first, day);
    expect([second.paidAs, held(book)]).toEqual([undefined, ['ord_1_again']]);
    expect(open(book, day + 1).amount).toBe('27.50');
  },
);

test('the amount of a paid order whose checkout lasts longer than a day is kept until that ends', () => {
  const book = new OrderBook();
  const first = open(book, 0);
  first.expiresAt = at(2 * day);
  receive(book, 'ord_1', first, 1);
  expect([open(book, 2 * day - 1).amount, open(book, 2 * day).amount]).toEqual(['27.49', '27.50']);
});

test('the amount of an unpaid or closed order is given away two hours after its checkout ended, or it was made', () => {
  for (const ends of [lifetime, undefined]) {
    const book = new OrderBook();
    const abandoned = open(book, 0);
    const closed = open(book, 0);
    abandoned.expiresAt = closed.expiresAt = ends === undefined ? undefined : at(ends);
    book.close(closed.id);
    const free = (ends ?? 0) + 2 * 60;
    expect([open(book, free - 1).amount, open(book, free).amount]).toEqual(['27.48', '27.50']);
  }
});

test('an abandoned order whose checkout has no end stays a candidate: a payment that could be for it is held', () => {
  const book = new OrderBook();
  open(book, 0).expiresAt = undefined;
  const later = open(book, 8 * day);
  receive(book, 'ord_1', later, 8 * day + 1);
  expect([later.amount, later.paidAs, held(book)]).toEqual(['27.50', undefined, ['ord_1']]);
});

const whole = ['opens', 'pays', 'event', 'returns'];

test.each([
  ['both pay and come back', whole, whole],
  ['both pay, one comes back', whole, ['opens', 'pays', 'event']],
  ['both pay, nobody comes back', ['opens', 'pays', 'event'], ['opens', 'pays', 'event']],
  ['one pays and comes back, one waits', whole, ['opens']],
  ['one pays and comes back, one guesses', whole, ['opens', 'guesses']],
  ['one pays and comes back, one opens his successUrl unpaid', whole, ['opens', 'attacks']],
  [
    'one pays and does not come back, one opens his successUrl unpaid',
    ['opens', 'pays', 'event'],
    ['opens', 'attacks'],
  ],
  ['both come back, one webhook is lost', whole, ['opens', 'pays', 'returns']],
])('two customers, one product, every order of events: %s', (_title, a, b) => {
  const orders = interleavings([...a.map((what) => `A:${what}`), ...b.map((what) => `B:${what}`)]);
  expect(orders.length).toBe(new Set(orders.map(String)).size);
  for (const steps of orders) {
    const text = steps.join(' ');
    const apart = play(text, 'free');
    for (const name of ['A', 'B'])
      expect(apart.named(name).paidAs, `${name} of ${text}`).toBe(
        steps.includes(`${name}:event`) ? `ord_${name}` : undefined,
      );
    const alike = play(text, 'used up');
    for (const name of ['A', 'B'])
      expect([undefined, `ord_${name}`], `${name} of ${text}`).toContain(alike.named(name).paidAs);
    const events = steps.filter((step) => step.endsWith('event')).length;
    const credited = ['A', 'B'].filter((name) => alike.named(name).paidAs).length;
    expect(held(alike.book), text).toHaveLength(events - credited);
  }
});

test('who opens the successUrl of his own unpaid payment page is not credited with the payment of another', () => {
  for (const steps of ['B:attacks A:event', 'A:event B:attacks', 'B:attacks A:event A:returns'])
    for (const cents of ['free', 'used up'] as const) {
      const { book, named } = play(`A:opens B:opens ${steps}`, cents);
      expect(named('B').paidAs, `${steps}, cents ${cents}`).toBeUndefined();
      expect(held(book)).toEqual(cents === 'free' ? [] : ['ord_A']);
    }
});

test('an order that is paid twice does not pay for another one', () => {
  const { book, named } = play('A:opens A:event B:opens', 'free');
  receive(book, 'ord_A_again', named('A'), 10);
  expect([named('A').paidAs, named('B').paidAs, held(book)]).toEqual(['ord_A', undefined, ['ord_A_again']]);
});

test('a repeated delivery changes nothing, and one with another amount throws', () => {
  const { book, named } = play('A:opens A:event A:event', 'free');
  expect(book.payments).toHaveLength(1);
  expect(() => book.receive({ order_id: 'ord_A', amount: '90.00', currency: 'USD' })).toThrow(
    'ord_A came with 27.50 USD, and again with 90.00 USD.',
  );
  expect(named('A').paidAs).toBe('ord_A');
});

test('a late webhook of an expired order is held, and does not go to the customer who came after', () => {
  const book = new OrderBook();
  const payer = open(book, 0);
  const next = open(book, 60);
  next.amount = payer.amount;
  receive(book, 'ord_payer', payer, 61);
  book.comeBack(next.id, next.token, at(62));
  expect([payer.paidAs, next.paidAs, held(book)]).toEqual([undefined, undefined, ['ord_payer']]);
  expect(book.decide('ord_payer', payer.id)).toBe(true);
  receive(book, 'ord_next', next, 63);
  expect([payer.paidAs, next.paidAs]).toEqual(['ord_payer', 'ord_next']);
});

test('a person decides what is held: for one of its candidates once, or for none', () => {
  const { book, named } = play('A:opens B:opens A:event B:event', 'used up');
  expect(held(book)).toEqual(['ord_A', 'ord_B']);
  expect(book.decide('ord_A', 'no such order')).toBe(false);
  expect(book.decide('no such payment', named('A').id)).toBe(false);
  expect(book.decide('ord_A', named('A').id)).toBe(true);
  // One order is left, so the other payment can only be for that one.
  expect([named('A').paidAs, named('B').paidAs, held(book)]).toEqual(['ord_A', 'ord_B', []]);
  expect(book.decide('ord_A', named('B').id)).toBe(false);

  const again = play('A:opens B:opens A:event', 'used up');
  expect(again.book.decide('ord_A', undefined)).toBe(true);
  expect([again.named('A').paidAs, held(again.book)]).toEqual([undefined, []]);
});

test('a payment of an order that was closed too early is credited to it by a person, and not by itself', () => {
  const { book, named } = play('A:opens B:opens', 'free');
  expect(book.close(named('A').id)).toBe(true);
  receive(book, 'ord_late', named('A'), 5);
  expect([named('A').paidAs, held(book)]).toEqual([undefined, ['ord_late']]);
  expect(book.held().map(({ candidates }) => candidates)).toEqual([[named('A')]]);
  expect(book.decide('ord_late', named('B').id)).toBe(false);
  expect(book.decide('ord_late', named('A').id)).toBe(true);
  expect([named('A').paidAs, held(book)]).toEqual(['ord_late', []]);
});

test('an order whose customer came back 15 minutes ago is overdue, until it is paid or a person closes it', () => {
  const { book, named } = play('A:opens B:opens A:pays A:returns B:attacks', 'free');
  const overdue = (minutes: number) => book.review(at(minutes)).overdue;
  expect([overdue(3 + 15), overdue(3 + 16), overdue(4 + 16)]).toEqual([
    [],
    [named('A')],
    [named('A'), named('B')],
  ]);
  receive(book, 'ord_A', named('A'), 20);
  expect(overdue(20.1)).toEqual([named('B')]);
  expect([book.close(named('A').id), book.close('no such order')]).toEqual([false, false]);
  expect(book.close(named('B').id)).toBe(true);
  expect(overdue(30)).toEqual([]);
  receive(book, 'ord_B', named('B'), 31);
  expect([named('B').paidAs, held(book)]).toEqual([undefined, ['ord_B']]);
});

test('an order of which nobody has seen the payment page gives its amount back', () => {
  const book = new OrderBook();
  book.drop(open(book, 0));
  expect([open(book, 0).amount, book.orders.length]).toEqual(['27.50', 1]);
});

/** A customer of the random runs, and what truly happens to him, in minutes. The shop never sees `pays`. */
const customer = fc.record({
  price: fc.constantFrom('27.50', '27.49', '19.90'),
  opens: fc.integer({ min: 0, max: 120 }),
  pays: fc.option(fc.integer({ min: 0, max: lifetime }), { nil: undefined }),
  webhooks: fc.array(fc.integer({ min: 0, max: 2 * 60 }), { maxLength: 3 }),
  comesBack: fc.option(fc.integer({ min: 0, max: 240 }), { nil: undefined }),
  expires: fc.boolean(),
});

test('10,000 random runs of up to six customers credit each payment to the order that it was for, or hold it', () => {
  fc.assert(
    fc.property(fc.array(customer, { minLength: 1, maxLength: 6 }), (customers) => {
      const book = new OrderBook();
      const due: { when: number; run(): void }[] = [];
      const orders: Order[] = [];
      for (const [index, { price, opens, pays, webhooks, comesBack, expires }] of customers.entries()) {
        const mine = () => orders[index] as Order;
        const then = (when: number, run: () => void) => due.push({ when, run });
        then(opens, () => {
          orders[index] = open(book, opens, { price });
          if (!expires) mine().expiresAt = undefined;
        });
        if (comesBack !== undefined)
          then(opens + comesBack, () => book.comeBack(mine().id, mine().token, at(opens + comesBack)));
        if (pays === undefined) continue;
        for (const wait of webhooks) {
          const when = opens + pays + wait;
          then(when, () => receive(book, `ord_${index}`, mine(), when));
        }
      }
      for (const { run } of due.sort((one, other) => one.when - other.when)) run();
      for (const [index, { paidAs }] of orders.entries())
        expect([undefined, `ord_${index}`]).toContain(paidAs);
      const credited = orders.filter(({ paidAs }) => paidAs).length;
      expect(credited + held(book).length).toBe(book.payments.length);
    }),
    { numRuns: 10_000 },
  );
});

/** Every order in which the steps can happen. */
function interleavings(steps: string[], done: string[] = []): string[][] {
  if (done.length === steps.length) return [done];
  const needs: Record<string, string> = {
    pays: 'opens',
    guesses: 'opens',
    attacks: 'opens',
    event: 'pays',
    returns: 'pays',
  };
  const possible = steps.filter((step) => {
    const [name, what = ''] = step.split(':');
    return !done.includes(step) && (what === 'opens' || done.includes(`${name}:${needs[what]}`));
  });
  return possible.flatMap((step) => interleavings(steps, [...done, step]));
}
