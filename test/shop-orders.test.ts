import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newTicket, type Order, OrderBook } from '../examples/shop/orders.js';

const minute = 60_000;
const start = Date.UTC(2026, 0, 1, 12);
const at = (minutes: number) => new Date(start + minutes * minute);
/** Minutes after `start` at which every checkout of these tests expires, unless told otherwise. */
const lifetime = 30;

/** Two customers, one product. Each step takes a minute: `A:opens B:opens A:pays A:event A:returns B:guesses`. */
function play(steps: string): { book: OrderBook; named(name: string): Order } {
  const book = new OrderBook();
  const named = (name: string) => {
    const order = book.orders.find((one) => one.name === name);
    if (!order) throw new Error(`${name} has no order`);
    return order;
  };
  for (const [index, step] of steps.split(' ').entries()) {
    const [name = '', what] = step.split(':');
    const now = at(index);
    const price = { amount: '27.50', currency: 'USD' };
    if (what === 'opens') book.open({ ...newTicket(), ...price, name, expiresAt: at(lifetime) }, now);
    else if (what === 'event') book.receive({ ...price, order_id: `ord_${name}` }, now);
    else if (what === 'returns') book.comeBack(named(name).id, named(name).token, now);
    else if (what === 'guesses') book.comeBack(named(name).id, newTicket().token, now);
  }
  return { book, named };
}

const paidNames = (book: OrderBook) => book.orders.filter(({ paidAs }) => paidAs).map(({ name }) => name);

test.each([
  // who comes back decides
  ['A:event A:returns', 'A'],
  ['A:returns A:event', 'A'],
  ['A:event B:guesses A:returns', 'A'],
  ['B:guesses A:event A:returns', 'A'],
  ['A:returns B:guesses A:event', 'A'],
  ['A:event A:event A:returns A:event', 'A'],
  // nobody comes back
  ['A:event', ''],
  ['A:event B:guesses', ''],
  ['A:event B:event', ''],
  // a return alone proves nothing
  ['A:returns', ''],
  ['A:returns B:returns', ''],
  // both pay
  ['A:event B:event A:returns', 'AB'],
  ['A:returns A:event B:event', 'AB'],
  ['A:returns B:returns A:event B:event', 'AB'],
  ['A:event A:returns B:event B:returns', 'AB'],
  // both are back, and one webhook is missing: nobody can say whose
  ['A:returns B:returns A:event', ''],
  ['A:returns B:returns A:event A:event', ''],
])('two customers, one product: %s credits "%s"', (steps, credited) => {
  const { book } = play(`A:opens B:opens ${steps}`);
  expect(paidNames(book)).toEqual([...credited]);
  const heard = new Set(steps.split(' ').filter((step) => step.endsWith('event'))).size;
  expect(book.held()).toHaveLength(heard - credited.length);
});

test('the only unpaid order with that amount and currency is paid, whether its customer came back or not', () => {
  const book = new OrderBook();
  const ask = (amount: string, currency: string) =>
    book.open({ ...newTicket(), name: 'x', amount, currency, expiresAt: undefined }, at(0));
  const [candle, mug, tasse] = [ask('27.50', 'USD'), ask('19.90', 'USD'), ask('19.90', 'EUR')];
  book.receive({ order_id: 'ord_1', amount: '19.90', currency: 'EUR' }, at(1));
  book.receive({ order_id: 'ord_2', amount: '19.91', currency: 'USD' }, at(1));
  expect([candle, mug, tasse].map(({ paidAs }) => paidAs)).toEqual([undefined, undefined, 'ord_1']);
  expect(book.held().map(({ id }) => id)).toEqual(['ord_2']);
});

test('a late webhook of an expired order is held, and does not go to the customer who came after', () => {
  const book = new OrderBook();
  const ask = (opened: number) =>
    book.open(
      { ...newTicket(), name: 'x', amount: '27.50', currency: 'USD', expiresAt: at(opened + lifetime) },
      at(opened),
    );
  const payer = ask(0);
  const next = ask(60);
  book.receive({ order_id: 'ord_payer', amount: '27.50', currency: 'USD' }, at(61));
  expect([payer.paidAs, next.paidAs, book.held().length]).toEqual([undefined, undefined, 1]);

  // The next customer pays as well: his own payment is credited, and what is left is for a person.
  book.comeBack(next.id, next.token, at(62));
  expect(next.paidAs).toBe('ord_payer');
  book.receive({ order_id: 'ord_next', amount: '27.50', currency: 'USD' }, at(63));
  expect([payer.paidAs, book.held().map(({ id }) => id)]).toEqual([undefined, ['ord_next']]);
  expect(book.decide('ord_next', payer.id)).toBe(true);
  expect(payer.paidAs).toBe('ord_next');
});

test('a week after its checkout expired, an unpaid order makes no other one uncertain', () => {
  const book = new OrderBook();
  const week = 7 * 24 * 60;
  const price = { amount: '27.50', currency: 'USD', name: 'x' };
  const old = book.open({ ...newTicket(), ...price, expiresAt: at(lifetime) }, at(0));
  const next = book.open({ ...newTicket(), ...price, expiresAt: at(2 * week) }, at(week));
  book.receive({ order_id: 'ord_1', amount: '27.50', currency: 'USD' }, at(week + lifetime));
  expect(next.paidAs).toBeUndefined();
  expect(book.decide('ord_1', undefined)).toBe(true);
  book.receive({ order_id: 'ord_2', amount: '27.50', currency: 'USD' }, at(week + lifetime + 1));
  expect([old.paidAs, next.paidAs]).toEqual([undefined, 'ord_2']);
  // A person can still say that a payment was for the old one.
  book.receive({ order_id: 'ord_3', amount: '27.50', currency: 'USD' }, at(week + lifetime + 2));
  expect(book.decide('ord_3', old.id)).toBe(true);
});

test('an order made after a payment came is not the one that it paid', () => {
  const { book } = play('A:opens B:opens A:event C:opens C:returns');
  expect(paidNames(book)).toEqual([]);
});

test('a person decides what is held: for one of its candidates once, or for none', () => {
  const { book, named } = play('A:opens B:opens A:event B:event');
  expect(book.decide('ord_A', 'no such order')).toBe(false);
  expect(book.decide('no such payment', named('A').id)).toBe(false);
  expect(book.decide('ord_A', named('A').id)).toBe(true);
  // One order is left, so the other payment can only be for that one.
  expect([named('A').paidAs, named('B').paidAs, book.held()]).toEqual(['ord_A', 'ord_B', []]);
  expect(book.decide('ord_A', named('B').id)).toBe(false);

  const again = play('A:opens B:opens A:event');
  expect(again.book.decide('ord_A', undefined)).toBe(true);
  again.book.comeBack(again.named('A').id, again.named('A').token);
  expect([paidNames(again.book), again.book.held()]).toEqual([[], []]);
});

const whole = ['opens', 'pays', 'event', 'returns'];

test.each([
  ['both pay and come back', whole, whole],
  ['both pay, one comes back', whole, ['opens', 'pays', 'event']],
  ['both pay, nobody comes back', ['opens', 'pays', 'event'], ['opens', 'pays', 'event']],
  ['one pays and comes back, one waits', whole, ['opens']],
  ['one pays and comes back, one guesses', whole, ['opens', 'guesses']],
  ['one pays and does not come back, one waits', ['opens', 'pays', 'event'], ['opens']],
  ['one pays and does not come back, one guesses', ['opens', 'pays', 'event'], ['opens', 'guesses']],
])('two customers, one product, every order of events: %s', (_title, a, b) => {
  const orders = interleavings([...a.map((what) => `A:${what}`), ...b.map((what) => `B:${what}`)]);
  expect(orders.length).toBe(new Set(orders.map(String)).size);
  for (const steps of orders) {
    const paid = paidNames(play(steps.join(' ')).book);
    for (const name of paid) expect(steps, `credited ${paid}`).toContain(`${name}:pays`);
    for (const name of ['A', 'B'])
      if (steps.includes(`${name}:returns`)) expect(paid, steps.join(' ')).toContain(name);
  }
});

/** A customer of the random runs, and what truly happens to him, in minutes. The shop never sees `pays`. */
const customer = fc.record({
  amount: fc.constantFrom('27.50', '19.90'),
  opens: fc.integer({ min: 0, max: 120 }),
  pays: fc.option(fc.integer({ min: 0, max: lifetime }), { nil: undefined }),
  webhooks: fc.array(fc.integer({ min: 0, max: 5 * 24 * 60 }), { maxLength: 3 }),
  returns: fc.option(fc.integer({ min: 0, max: 120 }), { nil: undefined }),
  guesses: fc.option(fc.integer({ min: 0, max: 240 }), { nil: undefined }),
});

test('10,000 random runs of up to six customers credit nobody who did not pay, and no payment twice', () => {
  fc.assert(
    fc.property(fc.array(customer, { minLength: 1, maxLength: 6 }), (customers) => {
      const book = new OrderBook();
      const paid = new Set<string>();
      const due: { when: number; run(now: Date): void }[] = [];
      for (const [index, { amount, opens, pays, webhooks, returns, guesses }] of customers.entries()) {
        const ticket = newTicket();
        const expiresAt = at(opens + lifetime);
        const then = (when: number, run: (now: Date) => void) => due.push({ when, run });
        then(opens, (now) => book.open({ ...ticket, name: '', amount, currency: 'USD', expiresAt }, now));
        if (guesses !== undefined)
          then(opens + guesses, (now) => book.comeBack(ticket.id, newTicket().token, now));
        if (pays === undefined) continue;
        const payment = { order_id: `ord_${index}`, amount, currency: 'USD' };
        then(opens + pays, () => paid.add(ticket.id));
        for (const wait of webhooks) then(opens + pays + wait, (now) => book.receive(payment, now));
        if (returns !== undefined)
          then(opens + pays + returns, (now) => book.comeBack(ticket.id, ticket.token, now));
      }
      for (const { when, run } of due.sort((one, other) => one.when - other.when)) {
        run(at(when));
        for (const order of book.orders) if (order.paidAs) expect(paid).toContain(order.id);
      }
      const used = book.orders.flatMap(({ paidAs }) => paidAs ?? []);
      for (const { paidAs, amount } of book.orders)
        if (paidAs) expect(book.payments.find(({ id }) => id === paidAs)?.amount).toBe(amount);
      expect(new Set(used).size).toBe(used.length);
      expect(used.length + book.held().length).toBe(book.payments.length);
    }),
    { numRuns: 10_000 },
  );
});

/** Every order in which the steps can happen. */
function interleavings(steps: string[], done: string[] = []): string[][] {
  if (done.length === steps.length) return [done];
  const needs: Record<string, string> = { pays: 'opens', guesses: 'opens', event: 'pays', returns: 'pays' };
  const possible = steps.filter((step) => {
    const [name, what = ''] = step.split(':');
    return !done.includes(step) && (what === 'opens' || done.includes(`${name}:${needs[what]}`));
  });
  return possible.flatMap((step) => interleavings(steps, [...done, step]));
}
