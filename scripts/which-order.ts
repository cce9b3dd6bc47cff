/**
 * Prints which share of payments waits for a person, and for which share of customers no amount is free, where a shop sells
 * one thing through the order book: the table of docs/which-order.md. Needs Node 22.13: npx tsx scripts/which-order.ts
 *
 * Each run is three weeks. Of those who press Buy, 30 % pay. They come by day rather than by night, and a checkout lasts 30
 * minutes. Most webhooks come within seconds, one in a hundred at any time until `lateFor` after the checkout expired. One
 * in fifty of those who do not pay opens the page of those who did. A person looks once a day at what is held or overdue.
 */
import { type Duration, openOrderBook } from '../src/inbox/index.js';
import { databaseClass } from '../src/inbox/sqlite.js';
import { randomFrom } from '../test/matching/histories.js';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const days = 21;
const start = Date.UTC(2026, 0, 1);
const price = { price: '19.90', currency: 'USD' };
const lateness: [lateFor: Duration, ms: number][] = [
  ['2h', 2 * hour],
  ['24h', day],
  ['7d', 7 * day],
];

let time = 0;
Date.now = () => time; // the clock of the order book on SQLite

interface Totals {
  checkouts: number;
  payments: number;
  held: number;
  refused: number;
  wrong: number;
}

async function simulate(perDay: number, most: string, lateFor: Duration, lateMs: number): Promise<Totals> {
  const random = randomFrom(perDay);
  const database = new (databaseClass())(':memory:');
  const book = openOrderBook({ database, most, lateFor });
  const totals = { checkouts: 0, payments: 0, held: 0, refused: 0, wrong: 0 };
  const trueOrder = new Map<string, string>();
  const steps: { at: number; run(): unknown }[] = [];
  const then = (at: number, run: () => unknown) => void steps.push({ at, run });

  const receive = (payment: string, amount: string) => {
    database.exec('BEGIN');
    const paid = book.credit(database, { order_id: payment, amount, currency: price.currency });
    database.exec('COMMIT');
    totals.payments++;
    if (!paid.some(({ paymentId }) => paymentId === payment)) totals.held++;
    totals.wrong += paid.filter(({ id, paymentId }) => trueOrder.get(paymentId) !== id).length;
  };

  const buy = async (customer: number) => {
    const id = `order ${customer}`;
    const { amount } = await book.reserve({ id, ...price });
    totals.checkouts++;
    if (amount === null) {
      totals.refused++;
      return;
    }
    const expiresAt = time + 30 * minute;
    await book.open(id, { expiresAt: new Date(expiresAt) });
    if (random() > 0.3) {
      if (random() < 0.02) then(time + random() * 30 * minute, () => book.returned(id));
      return;
    }
    const paidAt = Math.min(time - Math.log(random()) * 4 * minute, expiresAt);
    const payment = `payment ${customer}`;
    trueOrder.set(payment, id);
    if (random() < 0.8) then(paidAt + random() * minute, () => book.returned(id));
    const luck = random();
    const delay = random() * (luck < 0.95 ? 10_000 : luck < 0.99 ? 10 * minute : expiresAt + lateMs - paidAt);
    then(Math.min(paidAt + delay, expiresAt + lateMs), () => receive(payment, amount));
  };

  const look = async () => {
    for (const { payment } of await book.held())
      await book.decide(payment.id, trueOrder.get(payment.id) ?? '');
    const waiting = new Set(trueOrder.values());
    for (const { id } of await book.overdue()) if (!waiting.has(id)) await book.cancel(id);
  };

  for (let today = 0; today < days; today++) then(start + today * day + 9 * hour, look);
  let customer = 0;
  let at = start;
  while (at < start + days * day) {
    at -= Math.log(random()) * (day / perDay / 2);
    // Twice as many come as are taken: most at three in the afternoon, hardly anybody at three at night.
    const rush = (1 + 0.9 * Math.cos(((at - 15 * hour) / day) * 2 * Math.PI)) / 2;
    if (random() < rush) then(at, () => buy(++customer));
  }
  // Steps add later ones.
  const queue = steps.sort((one, other) => one.at - other.at);
  while (queue.length > 0) {
    const known = queue.length;
    const step = queue.shift();
    if (!step) break;
    time = step.at;
    await step.run();
    if (queue.length >= known) queue.sort((one, other) => one.at - other.at);
  }
  await book.close();
  return totals;
}

for (const [lateFor, lateMs] of lateness)
  for (const most of ['0.50', '1.00'])
    for (const perDay of [10, 30, 100, 300, 1000]) {
      const { checkouts, payments, held, refused, wrong } = await simulate(perDay, most, lateFor, lateMs);
      const share = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;
      console.log(
        [
          `lateFor ${lateFor}`,
          `most ${most}`,
          `${perDay} a day`,
          `held ${share(held, payments)}`,
          `no amount ${share(refused, checkouts)}`,
          `wrong ${wrong} of ${payments}`,
        ].join('   '),
      );
    }
