import * as z from 'zod/mini';
import { InvalidParamsError } from '../errors.js';
import { type Duration, durationMs } from '../input/duration.js';
import { isValidDate, validDate } from '../input/fields.js';
import { checkPrototype } from '../input/pollution.js';
import { readParams } from '../input/read.js';
import { decimalAmount, removeZeros } from './amounts.js';

interface Sum {
  /** The id, unique in its list. */
  id: string | number | bigint;
  /** The amount, a decimal string. */
  amount: string;
  /** The currency, such as `USD`, in upper or lower case. */
  currency: string;
}

/** An order that nobody has paid yet, as far as you know. */
export interface UnpaidOrder extends Sum {
  /** A time before its customer could pay, on the same clock as `receivedAt`. */
  createdAt: Date;
  /** When its checkout expires. Without it, the checkout never expires. */
  expiresAt?: Date | null | undefined;
  /** When its customer came back. */
  returnedAt?: Date | null | undefined;
}

/** A payment that belongs to no order yet. */
export interface UnmatchedPayment extends Sum {
  /** When its webhook arrived, by your clock. */
  receivedAt: Date;
}

/** Parameters of `matchPayments()`. Load both lists in the transaction that writes the result. */
export interface MatchParams<Order extends UnpaidOrder, Payment extends UnmatchedPayment> {
  /**
   * Every unpaid order, of any age, that one of the payments could be for; of all amounts, or of some. Do not leave out orders
   * whose checkout expired long ago by your clock: a payment that has waited would be credited to a wrong order. `lateFor`
   * rules such orders out by the time at which each payment came.
   */
  orders: readonly Order[];
  /** All payments that belong to no order yet, or all that have an amount of these orders. */
  payments: readonly Payment[];
  /**
   * The time after its checkout expired in which the webhook of an order may still come: the order is a candidate for payments
   * that came until then. The service documents no limit. Default: `'2h'`.
   */
  lateFor?: Duration | undefined;
  /**
   * True if a customer's return decides between several orders; default `false`. Set it only if nobody can read `successUrl`
   * before paying. Even then, a lost webhook may shift later payments of its amount to other customers.
   */
  trustReturns?: boolean | undefined;
  /** The current time, for `overdue`. */
  now?: Date | undefined;
  /** The time after its customer came back from which an unpaid order is overdue. Default: 15 minutes. */
  overdueMs?: number | undefined;
}

/** The result of `matchPayments()`: what is certain, and what a person has to decide. */
export interface MatchResult<Order, Payment> {
  /** Pairs of an order and the payment that is for it. Write each pair in one transaction. */
  matched: {
    /** The order that you passed. */
    order: Order;
    /** The payment that you passed. */
    payment: Payment;
    /** `only_candidate`: no other order can be the one. `returned`: its customer came back, with `trustReturns`. */
    because: 'only_candidate' | 'returned';
  }[];
  /** Payments that a person has to decide on. */
  held: {
    /** The payment that you passed. */
    payment: Payment;
    /** Orders of the same amount and currency that the payment may be for. */
    candidates: Order[];
    /** `expired`: the payment came more than ten minutes after the checkout of its only candidate expired. */
    because: 'no_candidate' | 'several_candidates' | 'expired';
  }[];
  /** Unpaid orders whose customer came back more than `overdueMs` ago: a webhook may be lost. Empty without `now`. */
  overdue: Order[];
}

const graceMs = 10 * 60_000;

/**
 * Returns which order each payment is for, and which payments a person has to decide on. Writes nothing. A payment is for the
 * only order left that has its amount and currency and was made before it. If several are left, or if the checkout of that
 * order has expired, the payment is held. This relies on three things: every payment is for one of these orders, an order is
 * paid at most once, and no webhook comes later than `lateFor` after the checkout expired.
 *
 * @throws {InvalidParamsError} an amount is not a decimal string, a date is invalid, or two entries of a list have the same id.
 */
export function matchPayments<Order extends UnpaidOrder, Payment extends UnmatchedPayment>(
  params: MatchParams<Order, Payment>,
): MatchResult<Order, Payment> {
  const { orders, payments, sumOf, lateMs, trustReturns, isOverdue } = readMatch(params);
  /** `rivals` counts the open orders that a payment may be for: a new search after each match is slow with thousands of one amount. */
  const claims = payments.map((payment, place) => ({ payment, place, sum: sumOf(payment), rivals: 0 }));
  type Claim = (typeof claims)[number];
  const open = groupBy(orders, sumOf);
  const held = groupBy(claims, ({ sum }) => sum);
  const matched: MatchResult<Order, Payment>['matched'] = [];

  const isCandidate = (payment: Payment, order: Order) =>
    order.createdAt.getTime() <= payment.receivedAt.getTime() && // comparing Dates is far slower
    (isWithin(lateMs, payment, order) || !!order.returnedAt);
  const candidatesOf = ({ payment, sum }: Claim) => [...open(sum)].filter((one) => isCandidate(payment, one));
  /** Trusted returns may have swapped two customers' payments: then neither age nor expiry rules out an order of that amount. */
  const rivalsOf = (claim: Claim) => (trustReturns ? [...open(claim.sum)] : candidatesOf(claim));

  /** Credits an order with a payment, and returns the payments that have one rival left. */
  const credit = (order: Order, claim: Claim, because: 'only_candidate' | 'returned') => {
    matched.push({ order, payment: claim.payment, because });
    open(claim.sum).delete(order);
    held(claim.sum).delete(claim);
    const others = [...held(claim.sum)].filter(({ payment }) => trustReturns || isCandidate(payment, order));
    for (const other of others) other.rivals -= 1;
    return others.filter(({ rivals }) => rivals === 1);
  };

  /** Credits in rounds, because each match may make another one certain. Of several payments for one order, the earliest is credited. */
  const creditOnlyCandidates = (withOneRival: Claim[]) => {
    for (let round = withOneRival; round.length > 0; ) {
      const next = round.flatMap((claim) => {
        const order = claim.rivals === 1 && findUnexpired(claim.payment, candidatesOf(claim));
        return order ? credit(order, claim, 'only_candidate') : [];
      });
      round = next.sort((one, other) => one.place - other.place);
    }
  };

  for (const claim of claims) claim.rivals = rivalsOf(claim).length;
  creditOnlyCandidates(claims.filter(({ rivals }) => rivals === 1));
  // One pass is enough: a match removes a customer who is back and a payment, so it makes no earlier payment certain.
  for (const claim of trustReturns ? claims : []) {
    if (!held(claim.sum).has(claim)) continue;
    const back = candidatesOf(claim).filter(({ returnedAt }) => returnedAt);
    const newest = back.at(-1); // a payment that may be for the newest order may be for all of them
    const competing = [...held(claim.sum)].filter(({ payment }) => newest && isCandidate(payment, newest));
    // If more customers are back than payments came, a webhook is late or lost, and nobody knows whose.
    const order = back.length <= competing.length && findUnexpired(claim.payment, back);
    if (order) creditOnlyCandidates(credit(order, claim, 'returned'));
  }

  const left = claims.filter((claim) => held(claim.sum).has(claim));
  const undecided = left.map((claim): MatchResult<Order, Payment>['held'][number] => {
    const candidates = candidatesOf(claim).length > 0 ? rivalsOf(claim) : [];
    const because = (['no_candidate', 'expired'] as const)[candidates.length] ?? 'several_candidates';
    return { payment: claim.payment, candidates, because };
  });
  const overdue = orders.filter((order) => isOverdue(order) && open(sumOf(order)).has(order));
  return { matched, held: undecided, overdue };
}

function findUnexpired<Order extends UnpaidOrder>(payment: UnmatchedPayment, orders: readonly Order[]) {
  return orders.find((order) => isWithin(graceMs, payment, order));
}

function isWithin(ms: number, { receivedAt }: UnmatchedPayment, { expiresAt }: UnpaidOrder): boolean {
  return !expiresAt || receivedAt.getTime() <= expiresAt.getTime() + ms;
}

/** Groups a list by amount and currency. Each group keeps the order of the list. */
function groupBy<One>(all: readonly One[], sumOf: (one: One) => string): (sum: string) => Set<One> {
  const groups = new Map<string, Set<One>>();
  for (const one of all) groups.set(sumOf(one), (groups.get(sumOf(one)) ?? new Set()).add(one));
  return (sum) => groups.get(sum) ?? new Set();
}

const operation = 'matchPayments';

const matchParams = z.strictObject({
  orders: z.unknown(),
  payments: z.unknown(),
  lateFor: z._default(durationMs(), 2 * 3_600_000),
  trustReturns: z._default(z.boolean('must be true or false.'), false),
  now: z.optional(validDate),
  overdueMs: z._default(
    z.number('must be a number of milliseconds.').check(z.gte(0, 'must be a number of milliseconds.')),
    15 * 60_000,
  ),
});

/** Checks the parameters, and returns both lists oldest first. */
function readMatch<Order extends UnpaidOrder, Payment extends UnmatchedPayment>(
  params: MatchParams<Order, Payment>,
) {
  checkPrototype();
  const { lateFor: lateMs, trustReturns, now, overdueMs } = readParams(operation, matchParams, params);
  /** The amount and currency of each entry, in the form that is compared. */
  const sums = new Map<object, string>();
  const orders = readAll('orders', params.orders, sums, 'createdAt', ['expiresAt', 'returnedAt']);
  const payments = readAll('payments', params.payments, sums, 'receivedAt');
  const isOverdue = ({ returnedAt }: Order) => Number(now) - Number(returnedAt ?? now) > overdueMs;
  const sumOf = (one: object) => sums.get(one) ?? '';
  return { orders, payments, sumOf, lateMs, trustReturns, isOverdue };
}

function readAll<One extends Sum>(
  name: string,
  all: readonly One[],
  sums: Map<object, string>,
  time: string & keyof One,
  laterTimes: readonly (string & keyof One)[] = [],
): One[] {
  if (!Array.isArray(all)) throw invalidParam(name, 'must be an array.');
  const known = new Map<string, string>();
  for (const [index, one] of all.entries()) {
    const path = `${name}.${index}`;
    if (typeof one !== 'object' || one === null) throw invalidParam(path, 'must be an object.');
    const id = String(one.id);
    if (!['string', 'number', 'bigint'].includes(typeof one.id) || id === '')
      throw invalidParam(`${path}.id`, 'must be a string or a number.');
    if (known.has(id)) throw invalidParam(`${path}.id`, `is the id of ${known.get(id)} as well.`);
    known.set(id, path);
    const { success, error } = z.safeParse(decimalAmount, one.amount);
    if (!success) throw invalidParam(`${path}.amount`, error.issues[0]?.message ?? '');
    if (typeof one.currency !== 'string' || !one.currency.trim())
      throw invalidParam(`${path}.currency`, 'must be a currency code such as "USD".');
    sums.set(one, `${removeZeros(one.amount)} ${one.currency.toUpperCase()}`);
    readTime(`${path}.${time}`, one[time]);
    for (const later of laterTimes) if (one[later] != null) readTime(`${path}.${later}`, one[later]);
  }
  const age = (one: One, other: One) => Number(one[time]) - Number(other[time]);
  return [...all].sort((one, other) => age(one, other) || (String(one.id) < String(other.id) ? -1 : 1));
}

function readTime(path: string, time: unknown): void {
  if (!isValidDate(time)) throw invalidParam(path, 'must be a valid Date.');
}

function invalidParam(path: string, message: string): InvalidParamsError {
  return new InvalidParamsError({ operation }, [{ path, message }]);
}
