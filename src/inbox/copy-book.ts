import { number, pageSize, text } from './copy.js';
import type { BookPlace } from './order-place.js';
import { now, type Row, raw, type Statement, sql, type Work } from './sql.js';

/** The number of rows that were copied, and of those whose id was there before. */
interface Counts {
  copied: number;
  present: number;
}

/** An order that may be paid, and asks for the same amount as another one. */
type Ambiguous = Record<'id' | 'amount' | 'currency', string>;

/**
 * Copies orders and payments into another order book. A row that is there is changed only if it is behind. `sameAmount` has the
 * orders of which the book cannot tell the payments: two books gave out the same amount.
 */
export async function copyBook(
  source: BookPlace,
  target: BookPlace,
): Promise<{ orders: Counts; payments: Counts; sameAmount: Ambiguous[] }> {
  const { orders, payments } = await source.run(function* (): Work<{ orders: Row[]; payments: Row[] }> {
    const orders = yield sql`SELECT * FROM payments_order`;
    return { orders, payments: yield sql`SELECT * FROM payments_order_payment` };
  });
  return {
    orders: await addAll(target, orders, addOrder),
    payments: await addAll(target, payments, addPayment),
    sameAmount: await target.run(findSameAmount),
  };
}

async function addAll(
  target: BookPlace,
  rows: readonly Row[],
  add: (row: Row) => Work<boolean>,
): Promise<Counts> {
  let copied = 0;
  for (let from = 0; from < rows.length; from += pageSize)
    copied += await target.run(function* (): Work<number> {
      let added = 0;
      for (const row of rows.slice(from, from + pageSize)) if (yield* add(row)) added++;
      return added;
    });
  return { copied, present: rows.length - copied };
}

/** Returns the orders that may be paid and ask for the same amount as another one. */
function* findSameAmount(): Work<Ambiguous[]> {
  const isPayable = sql`state IN ('reserved', 'open') AND payable_until > ${now}`;
  const payable = sql`SELECT id, amount, currency FROM payments_order WHERE ${isPayable}`;
  const rows = yield sql`SELECT * FROM (${payable}) AS one
    WHERE EXISTS (SELECT 1 FROM (${payable}) AS other
      WHERE other.amount = one.amount AND other.currency = one.currency AND other.id <> one.id)
    ORDER BY currency, amount, id`;
  return rows.map(({ id, amount, currency }) => ({
    id: String(id),
    amount: String(amount),
    currency: String(currency),
  }));
}

/** Stores an order. An order that is there may have got a checkout, or have been paid, in the source since. */
function* addOrder(row: Row): Work<boolean> {
  const [id, state, amount] = [text(row.id), text(row.state), text(row.amount)];
  const [expires, returned, until] = [
    number(row.expires_at),
    number(row.returned_at),
    number(row.payable_until),
  ];
  const [payment, paid] = [text(row.payment_id), number(row.paid_at)];
  const [stored] = yield sql`INSERT INTO payments_order
      (id, amount, currency, state, created_at, expires_at, returned_at, payable_until, payment_id, paid_at)
    VALUES (${id}, ${amount}, ${text(row.currency)}, ${state}, ${number(row.created_at)}, ${expires}, ${returned}, ${until}, ${payment},
      ${paid}) ON CONFLICT DO NOTHING RETURNING id`;
  if (stored) return true;
  yield sql`UPDATE payments_order SET amount = ${amount}, state = ${state}, expires_at = ${expires},
      returned_at = ${returned}, payable_until = ${until}, payment_id = ${payment}, paid_at = ${paid}
    WHERE id = ${id} AND (${orderRank(raw('state'))} < ${orderRank(state)} OR
      state = ${state} AND state IN ('reserved', 'open') AND payable_until < ${until})`;
  return false;
}

/** Stores a payment. A payment that is held there may have been decided on in the source since. */
function* addPayment(row: Row): Work<boolean> {
  const [id, state, order] = [text(row.id), text(row.state), text(row.order_id)];
  const [stored] =
    yield sql`INSERT INTO payments_order_payment (id, amount, currency, state, received_at, order_id)
    VALUES (${id}, ${text(row.amount)}, ${text(row.currency)}, ${state}, ${number(row.received_at)}, ${order})
    ON CONFLICT DO NOTHING RETURNING id`;
  if (stored) return true;
  yield sql`UPDATE payments_order_payment SET state = ${state}, order_id = ${order}
    WHERE id = ${id} AND ${paymentRank(raw('state'))} < ${paymentRank(state)}`;
  return false;
}

/** Return how far an order or a payment has gone: what is cancelled or dismissed can still be paid or credited by hand. */
const orderRank = (state: Statement | string | null) =>
  sql`CASE ${state} WHEN 'reserved' THEN 0 WHEN 'open' THEN 1 WHEN 'cancelled' THEN 2 ELSE 3 END`;
const paymentRank = (state: Statement | string | null) =>
  sql`CASE ${state} WHEN 'held' THEN 0 WHEN 'dismissed' THEN 1 ELSE 2 END`;
