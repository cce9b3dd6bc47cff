import { PaymentsError } from '../errors.js';
import { quote } from '../input/visible.js';
import { matchPayments } from '../matching/match-payments.js';
import { never } from './order-tables.js';
import { now, type Row, type Statement, sql, type Work } from './sql.js';

/** An amount of a currency. */
interface Sum {
  /** The amount, a decimal string with at least two decimals. */
  amount: string;
  /** The currency, such as `USD`. */
  currency: string;
}

/** An order as the book has it. */
export interface BookOrder extends Sum {
  /** The id that you passed to `reserve()`. */
  id: string;
  /** The state, which is `reserved` until `open()`. */
  state: 'reserved' | 'open' | 'paid' | 'cancelled';
  /** When it was reserved. */
  createdAt: Date;
  /** When its checkout expires; `null` if nobody said so. */
  expiresAt: Date | null;
  /** When its customer came back first; `null` if nobody did. */
  returnedAt: Date | null;
}

/** A payment as the book has it. */
export interface BookPayment extends Sum {
  /** The service's `order_id`. */
  id: string;
  /** When its webhook arrived. */
  receivedAt: Date;
}

/** An order that was paid just now: fulfil it in the same transaction. */
export interface PaidOrder extends Sum {
  /** The id that you passed to `reserve()`. */
  id: string;
  /** The service's `order_id` of the payment. */
  paymentId: string;
}

/** A payment that a person has to decide on. */
export interface HeldPayment {
  /** The payment. */
  payment: BookPayment;
  /**
   * Orders that the payment may be for. Last come those that are credited only by hand, at most 20: cancelled ones, and open ones
   * whose checkout expired more than `lateFor` before.
   */
  candidates: BookOrder[];
  /**
   * `expired`: the checkout of its only candidate had expired, or each one more than `lateFor` before. `only_candidate` and
   * `returned`: the payment has become certain since it came, as when an order was cancelled, and is credited with the next
   * payment of its amount.
   */
  because: 'no_candidate' | 'several_candidates' | 'expired' | 'only_candidate' | 'returned';
}

/** The rules of a book, and the statements that differ between the databases. */
export interface BookRules {
  lateMs: number;
  trustReturns: boolean;
  /** Returns a statement that lets one transaction at a time work under a name. */
  lock(name: string): Statement;
  /** Returns a statement that finds one row if there is a table of that name. */
  find(table: string): Statement;
}

/** The time that a reservation lasts without `open()`. */
const reservedMs = 10 * 60_000;
/** The time that an amount is kept for an order that is over, if nobody knows when its checkout ends. */
const unknownEndMs = 24 * 3_600_000;
/** The most that the clocks of a database and its servers may differ: an order counts as that much older. */
const clockMs = 60_000;
const overdueMs = 15 * 60_000;
const mostListed = 1000;
/** The most orders that only a person credits, among the candidates of a payment. */
const mostPast = 20;

/** Reserves the one of `amounts` that has been free for the longest, the highest of several. Returns `null` if none is free. */
export function* reserve(
  rules: BookRules,
  { id, amounts, currency }: { id: string; amounts: string[]; currency: string },
): Work<string | null> {
  yield rules.lock(`amounts of ${currency}`);
  yield sql`DELETE FROM payments_order WHERE state = 'reserved' AND payable_until <= ${now}`;
  const known = yield* findOrder(id);
  if (known) {
    const { amount, state } = known.order;
    if (state === 'paid' || state === 'cancelled')
      throw conflictError(`Order ${quote(id)} is ${state}. Reserve an amount for another order.`);
    if (known.order.currency !== currency || !amounts.includes(amount))
      throw conflictError(
        `Order ${quote(id)} was reserved at ${sumOf(known.order)}, which is no amount for this price. Cancel it, and reserve under ` +
          'another id.',
      );
    if (known.payableUntil + rules.lateMs > known.now) {
      // The checkout may have expired. Nobody else gets the amount before the order has another checkout.
      yield sql`UPDATE payments_order SET payable_until = ${Math.max(known.payableUntil, known.now + reservedMs)}
        WHERE id = ${id}`;
      return amount;
    }
  }
  const wanted = amounts.map((amount) => sql`(${amount})`).reduce((all, one) => sql`${all}, ${one}`);
  const taken = yield sql`WITH wanted (amount) AS (VALUES ${wanted})
    SELECT amount, (SELECT payable_until FROM payments_order AS known
      WHERE known.amount = wanted.amount AND known.currency = ${currency}
      ORDER BY payable_until DESC LIMIT 1) AS payable_until, ${now} AS time FROM wanted`;
  const since = new Map(taken.map((row) => [String(row.amount), Number(row.payable_until ?? 0)]));
  const time = Number(taken[0]?.time);
  const free = amounts.filter((amount) => (since.get(amount) ?? 0) + rules.lateMs < time);
  // Amounts that have been free for as long stay in order, so the highest comes first.
  const [amount] = free.sort((one, other) => (since.get(one) ?? 0) - (since.get(other) ?? 0));
  if (amount === undefined) return null;
  if (known)
    // A person may still decide on the order by hand, so it is not deleted if no checkout follows.
    yield sql`UPDATE payments_order SET amount = ${amount}, created_at = ${now}, expires_at = ${time + reservedMs},
      payable_until = ${time + reservedMs} WHERE id = ${id}`;
  else
    yield sql`INSERT INTO payments_order (id, amount, currency, state, created_at, payable_until)
      VALUES (${id}, ${amount}, ${currency}, 'reserved', ${now}, ${time + reservedMs})`;
  return amount;
}

/** Notes that there is a checkout for an order. */
export function* open(
  id: string,
  { expiresAt, amount }: { expiresAt: number | null; amount: string | undefined },
): Work<void> {
  const known = yield* findOrder(id);
  if (!known || (known.order.state === 'reserved' && known.payableUntil <= known.now))
    throw unknownError(
      `There is no reservation for order ${quote(id)}, or it ended ten minutes after reserve(). Reserve again, and create another ` +
        'checkout.',
    );
  const { state, returnedAt } = known.order;
  if (state === 'paid' || state === 'cancelled')
    throw conflictError(`Order ${quote(id)} is ${state}. Do not send its customer to the payment page.`);
  const before = state === 'open' ? (known.order.expiresAt?.getTime() ?? never) : 0;
  const last = Math.max(before, expiresAt ?? never);
  const [opened] =
    yield sql`UPDATE payments_order SET state = 'open', amount = ${amount ?? known.order.amount},
    expires_at = ${last === never ? null : last}, payable_until = ${returnedAt ? never : last}
    WHERE id = ${id} AND state = ${state} AND payable_until = ${known.payableUntil} RETURNING id`;
  if (!opened) throw changedError(`Order ${quote(id)}`);
}

/** Closes an order. An order that nobody could pay is deleted; any other one keeps its amount until its checkout is over. */
export function* cancel(rules: BookRules, id: string, matches: boolean): Work<PaidOrder[]> {
  const known = yield* findOrder(id);
  if (!known || known.order.state === 'cancelled') return [];
  if (known.order.state === 'paid')
    throw conflictError(
      `Order ${quote(id)} is paid, by payment ${quote(known.paymentId)}. Refund that instead.`,
    );
  if (known.order.state === 'reserved') {
    yield sql`DELETE FROM payments_order WHERE id = ${id} AND state = 'reserved'`;
    return [];
  }
  yield rules.lock(sumOf(known.order));
  const [closed] = yield sql`UPDATE payments_order SET state = 'cancelled',
    payable_until = coalesce(expires_at, ${now} + ${unknownEndMs}) WHERE id = ${id} AND state = 'open' RETURNING id`;
  if (!closed) throw changedError(`Order ${quote(id)}`);
  return matches ? yield* creditWhatIsCertain(rules, known.order) : [];
}

/** Notes that a customer came back. A return proves nothing, unless returns are trusted. */
export function* noteReturn(rules: BookRules, id: string, matches: boolean): Work<PaidOrder[]> {
  const known = yield* findOrder(id);
  if (!known)
    throw unknownError(
      `There is no order ${quote(id)} in the order book. Pass an id that you passed to reserve().`,
    );
  if (matches) yield rules.lock(sumOf(known.order));
  yield sql`UPDATE payments_order SET returned_at = coalesce(returned_at, ${now}), payable_until = ${never}
    WHERE id = ${id} AND state = 'open'`;
  return matches ? yield* creditWhatIsCertain(rules, known.order) : [];
}

/** Takes a payment once, and returns the orders that are paid by it. */
export function* credit(
  rules: BookRules,
  { id, amount, currency, receivedAt }: Sum & { id: string; receivedAt: number | undefined },
): Work<PaidOrder[]> {
  yield rules.lock(sumOf({ amount, currency }));
  const arrival = receivedAt ?? (yield* arrivalOf(rules, id)) ?? now;
  const [stored] = yield sql`INSERT INTO payments_order_payment (id, amount, currency, state, received_at)
    VALUES (${id}, ${amount}, ${currency}, 'held', ${arrival}) ON CONFLICT DO NOTHING RETURNING id`;
  if (stored) return yield* creditWhatIsCertain(rules, { amount, currency });
  const before = yield* findPayment(id);
  if (before?.amount === amount && before.currency === currency) return [];
  if (!before) throw changedError(`Payment ${quote(id)}`);
  throw conflictError(
    `Payment ${quote(id)} came with ${sumOf(before)} before, and now comes with ${sumOf({ amount, currency })}. Nothing was ` +
      'credited. Compare both with your order: discard this delivery, or decide on the order by hand.',
  );
}

/** Credits a payment by hand: one that is held or dismissed, or one whose webhook has not come yet. */
export function* decide(rules: BookRules, id: string, orderId: string, matches: boolean): Work<PaidOrder[]> {
  const found = yield* findOrder(orderId);
  if (!found)
    throw unknownError(`There is no order ${quote(orderId)} in the order book. held() has the candidates.`);
  yield rules.lock(sumOf(found.order));
  const { order, paymentId } = (yield* findOrder(orderId)) ?? found;
  const payment = yield* findPayment(id);
  if (payment?.state === 'credited' && payment.orderId === orderId) return [];
  if (payment?.state === 'credited')
    throw conflictError(
      `Payment ${quote(id)} was credited to order ${quote(payment.orderId ?? '')}, and pays one order only.`,
    );
  if (order.state === 'paid')
    throw conflictError(
      `Order ${quote(orderId)} is paid, by payment ${quote(paymentId)}. Refund one of the two.`,
    );
  if (order.state === 'reserved')
    throw conflictError(
      `Order ${quote(orderId)} has no checkout, so nobody could pay it: open() was not called.`,
    );
  if (payment && sumOf(payment) !== sumOf(order))
    throw conflictError(
      `Payment ${quote(id)} is of ${sumOf(payment)}, and order ${quote(orderId)} asks for ${sumOf(order)}. Refund the payment, and dismiss it.`,
    );
  if (!payment) {
    const { amount, currency } = order;
    const [stored] = yield sql`INSERT INTO payments_order_payment (id, amount, currency, state, received_at)
      VALUES (${id}, ${amount}, ${currency}, 'held', ${now}) ON CONFLICT DO NOTHING RETURNING id`;
    if (!stored)
      throw conflictError(`The webhook of payment ${quote(id)} has just come. Look at held() again.`);
  }
  const paid = yield* pay(order, { id, receivedAt: payment?.receivedAt ?? new Date(found.now) });
  return matches ? [paid, ...(yield* creditWhatIsCertain(rules, order))] : [paid];
}

/** Says that a payment is for no order. */
export function* dismiss(id: string): Work<void> {
  const [dismissed] = yield sql`UPDATE payments_order_payment SET state = 'dismissed'
    WHERE id = ${id} AND state IN ('held', 'dismissed') RETURNING id`;
  if (dismissed) return;
  const payment = yield* findPayment(id);
  if (!payment)
    throw unknownError(`There is no payment ${quote(id)} in the order book. held() has those that wait.`);
  throw conflictError(
    `Payment ${quote(id)} was credited to order ${quote(payment.orderId ?? '')}: it cannot be dismissed.`,
  );
}

/** Returns the payments that a person has to decide on, the oldest first. */
export function* listHeld(rules: BookRules): Work<HeldPayment[]> {
  const waiting =
    yield sql`SELECT * FROM payments_order_payment WHERE state = 'held' ORDER BY received_at, id LIMIT ${mostListed}`;
  const listed = waiting.map(toPayment);
  const all = new Map<string, HeldPayment>();
  for (const sum of new Map(listed.map((payment) => [sumOf(payment), payment])).values()) {
    const { matched, held: undecided } = yield* review(rules, sum);
    const rows: Row[] =
      yield sql`SELECT * FROM payments_order WHERE amount = ${sum.amount} AND currency = ${sum.currency}
      AND state IN ('open', 'cancelled') ORDER BY payable_until DESC, id LIMIT ${mostListed}`;
    const certain = new Set(matched.map(({ order }) => order.id));
    const unpaid = rows.map(toOrder).filter(({ id }) => !certain.has(id));
    for (const { payment, candidates, because } of undecided) {
      const known = new Set(candidates.map(({ id }) => id));
      const madeUntil = payment.receivedAt.getTime() + clockMs;
      const isPast = ({ id, createdAt }: BookOrder) => !known.has(id) && createdAt.getTime() <= madeUntil;
      const past = unpaid.filter(isPast).slice(0, mostPast);
      all.set(payment.id, {
        payment,
        candidates: [...candidates.map(({ order }) => order), ...past],
        because:
          because === 'no_candidate' && past.some(({ state }) => state === 'open') ? 'expired' : because,
      });
    }
    for (const { payment, order, because } of matched)
      all.set(payment.id, { payment, candidates: [order.order], because });
  }
  return listed.flatMap(({ id }) => all.get(id) ?? []);
}

/** An order that was looked up. */
export interface FoundOrder extends BookOrder {
  /** The payment that paid it; `null` if none did. */
  paymentId: string | null;
}

/**
 * Looks up an order by its id or by that of its payment, with the payments of its amount since it was reserved, the newest first;
 * or a payment that is for no order. `undefined` if there is neither.
 */
export function* lookUp(id: string) {
  const payment = yield* findPayment(id);
  const found = (yield* findOrder(id)) ?? (payment?.orderId ? yield* findOrder(payment.orderId) : undefined);
  if (!found) return payment && { order: null, payments: [payment] };
  const paymentId = found.order.state === 'paid' ? found.paymentId : null;
  const order: FoundOrder = { ...found.order, paymentId };
  const rows: Row[] = yield sql`SELECT * FROM payments_order_payment
    WHERE amount = ${order.amount} AND currency = ${order.currency}
      AND (id = ${paymentId} OR received_at >= ${order.createdAt.getTime() - clockMs})
    ORDER BY received_at DESC, id LIMIT ${mostListed}`;
  return { order, payments: rows.map(toFoundPayment) };
}

/** Returns unpaid orders whose customer came back more than 15 minutes ago, the longest back first. */
export function* overdue(): Work<BookOrder[]> {
  const rows = yield sql`SELECT * FROM payments_order WHERE state = 'open' AND returned_at IS NOT NULL
    AND returned_at < ${now} - ${overdueMs} ORDER BY returned_at, id LIMIT ${mostListed}`;
  return rows.map(toOrder);
}

function* creditWhatIsCertain(rules: BookRules, sum: Sum): Work<PaidOrder[]> {
  const paid: PaidOrder[] = [];
  const { matched } = yield* review(rules, sum);
  for (const { order, payment } of matched) paid.push(yield* pay(order.order, payment));
  return paid;
}

function* pay(
  { id, amount, currency }: BookOrder,
  payment: { id: string; receivedAt: Date },
): Work<PaidOrder> {
  const [paid] = yield sql`UPDATE payments_order SET state = 'paid', payment_id = ${payment.id},
    paid_at = ${payment.receivedAt.getTime()}, payable_until = coalesce(expires_at, ${now} + ${unknownEndMs})
    WHERE id = ${id} AND state IN ('open', 'cancelled') RETURNING id`;
  if (!paid) throw changedError(`Order ${quote(id)}`);
  yield sql`UPDATE payments_order_payment SET state = 'credited', order_id = ${id} WHERE id = ${payment.id}`;
  return { id, amount, currency, paymentId: payment.id };
}

/** Matches the payments of an amount that wait with every order that one of them could be for. */
function* review({ lateMs, trustReturns }: BookRules, { amount, currency }: Sum) {
  const rows: Row[] = yield sql`SELECT * FROM payments_order_payment
    WHERE amount = ${amount} AND currency = ${currency} AND state = 'held' ORDER BY received_at, id`;
  const payments = rows.map(toPayment);
  const oldest = Math.min(...payments.map(({ receivedAt }) => receivedAt.getTime()));
  // Trusted returns may have swapped two payments: then an order of any age may be the one.
  const since = trustReturns || payments.length === 0 ? 0 : oldest - lateMs;
  const found: Row[] =
    payments.length === 0
      ? []
      : yield sql`SELECT * FROM payments_order WHERE amount = ${amount}
    AND currency = ${currency} AND payable_until >= ${since} AND state = 'open' ORDER BY created_at, id`;
  const orders = found.map(toOrder).map((order) => {
    return { ...order, createdAt: new Date(order.createdAt.getTime() - clockMs), order };
  });
  return matchPayments({ orders, payments, lateFor: lateMs, trustReturns });
}

/** Returns when the webhook of a payment arrived, if an inbox in this place has it: the delivery may have waited there. */
function* arrivalOf({ find }: BookRules, id: string) {
  const found: Row[] = yield find('payments_inbox');
  if (found.length === 0) return undefined;
  const [row]: Row[] = yield sql`SELECT received_at FROM payments_inbox WHERE key = ${`order.paid:${id}`}`;
  return row && Number(row.received_at);
}

function* findOrder(id: string) {
  const [row]: Row[] = yield sql`SELECT *, ${now} AS time FROM payments_order WHERE id = ${id}`;
  if (!row) return undefined;
  const { payable_until, payment_id, time } = row;
  return {
    order: toOrder(row),
    payableUntil: Number(payable_until),
    paymentId: String(payment_id),
    now: Number(time),
  };
}

function* findPayment(id: string) {
  const [row]: Row[] = yield sql`SELECT * FROM payments_order_payment WHERE id = ${id}`;
  return row && toFoundPayment(row);
}

const states = ['reserved', 'open', 'paid', 'cancelled'] as const;

function toOrder(row: Row): BookOrder {
  return {
    id: String(row.id),
    amount: String(row.amount),
    currency: String(row.currency),
    state: states.find((state) => state === row.state) ?? 'open',
    createdAt: new Date(Number(row.created_at)),
    expiresAt: row.expires_at === null ? null : new Date(Number(row.expires_at)),
    returnedAt: row.returned_at === null ? null : new Date(Number(row.returned_at)),
  };
}

function toPayment(row: Row): BookPayment {
  const { id, amount, currency } = row;
  return {
    id: String(id),
    amount: String(amount),
    currency: String(currency),
    receivedAt: new Date(Number(row.received_at)),
  };
}

/** A payment with its state (`held`, `credited` or `dismissed`), and the order that it paid. */
export interface FoundPayment extends BookPayment {
  state: string;
  orderId: string | null;
}

function toFoundPayment(row: Row): FoundPayment {
  return {
    ...toPayment(row),
    state: String(row.state),
    orderId: row.order_id === null ? null : String(row.order_id),
  };
}

function sumOf({ amount, currency }: Sum): string {
  return `${amount} ${currency}`;
}

function unknownError(message: string): PaymentsError {
  return new PaymentsError(message, { code: 'order_unknown' });
}

function conflictError(message: string): PaymentsError {
  return new PaymentsError(message, { code: 'order_conflict' });
}

const changedError = (what: string) =>
  new PaymentsError(`${what} was changed by another transaction. Try again.`, { code: 'order_changed' });
