import { matchPayments } from 'merchant-payments/matching';
import { expect, test } from 'vitest';
import { play, randomFrom, shuffle, type TrueOrder, type TruePayment } from './histories.js';

const histories = 100_000;
const first = Math.floor(Math.random() * 2 ** 31);

/** Runs each history with a shop that writes what `matchPayments` says. `check` returns what is wrong. */
function everyHistory(
  rules: { attackers: boolean; trustReturns: boolean },
  check: (match: { order: TrueOrder; payment: TruePayment }) => string | undefined,
): { matched: number; held: number } {
  const totals = { matched: 0, held: 0 };
  for (let seed = first; seed < first + histories; seed++) {
    const random = randomFrom(~seed);
    const late = [0, 120, 7 * 24 * 60][seed % 3] ?? 0;
    play(seed, { ...rules, late }, (tables) => {
      const settings = { trustReturns: rules.trustReturns, lateFor: late * 60_000 };
      const { matched, held } = matchPayments({ ...tables, ...settings });
      for (const match of matched) {
        const problem = check(match);
        if (problem) throw new Error(`seed ${seed}: ${match.payment.id} for ${match.order.id}: ${problem}`);
        tables.orders.splice(tables.orders.indexOf(match.order), 1);
        tables.payments.splice(tables.payments.indexOf(match.payment), 1);
      }
      if (held.length !== tables.payments.length) throw new Error(`seed ${seed}: a payment is gone`);
      totals.matched += matched.length;
      totals.held += held.length;
      if (random() > 0.02) return;
      const left = { orders: shuffle(tables.orders, random), payments: shuffle(tables.payments, random) };
      expect(matchPayments({ ...left, ...settings }), `seed ${seed}, again`).toEqual({
        matched: [],
        held,
        overdue: [],
      });
    });
  }
  return totals;
}

test('100,000 histories with attackers: no payment is credited to an order that was not paid with it', () => {
  const { matched, held } = everyHistory({ attackers: true, trustReturns: false }, ({ order, payment }) =>
    payment.of === order ? undefined : `it was for ${payment.of.id}`,
  );
  expect(matched).toBeGreaterThan(histories / 5);
  expect(held).toBeGreaterThan(histories / 5);
}, 300_000);

test('100,000 histories in which nobody comes back before paying: trusted returns credit no order that nobody paid', () => {
  const { matched, held } = everyHistory({ attackers: false, trustReturns: true }, ({ order }) =>
    order.paid ? undefined : 'nobody paid it',
  );
  expect(matched).toBeGreaterThan(histories / 5);
  expect(held).toBeGreaterThan(histories / 5);
}, 300_000);
