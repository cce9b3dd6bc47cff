import { invalid, ownParams, readAmount } from './amounts.js';

interface Sum {
  /** Unique in its list. */
  id: string | number | bigint;
  /** A decimal string. */
  amount: string;
  /** Such as `USD`, in any case. */
  currency: string;
}

/** An order that nobody has paid yet, as far as you know. */
export interface UnpaidOrder extends Sum {
  /** A time before its customer could pay, on the same clock as `receivedAt`. */
  createdAt: Date;
  /** When its checkout expires. An order without it never does. */
  expiresAt?: Date | null | undefined;
  /** When its customer came back. */
  returnedAt?: Date | null | undefined;
}

/** A payment that belongs to no order yet. */
export interface UnmatchedPayment extends Sum {
  /** When its webhook arrived, by your clock. */
  receivedAt: Date;
}

/** Load both lists in the transaction that writes the result. */
export interface MatchParams<Order extends UnpaidOrder, Payment extends UnmatchedPayment> {
  /** All unpaid orders, or all of some amounts. */
  orders: readonly Order[];
  /** All payments that belong to no order yet, or all of those amounts. */
  payments: readonly Payment[];
  /**
   * Whether a customer's return decides between several orders; default `false`. Only where nobody can read `successUrl`
   * before paying. Even there, a lost webhook may shift later payments of its amount to other customers.
   */
  trustReturns?: boolean | undefined;
  /** The current time, for `overdue`. */
  now?: Date | undefined;
  /** How long after its customer came back an unpaid order is overdue. Default: 15 minutes. */
  overdueMs?: number | undefined;
}

/** What is certain, and what a person has to decide. */
export interface MatchResult<Order, Payment> {
  /** Write each pair in one transaction. */
  matched: {
    /** As you passed it. */
    order: Order;
    /** As you passed it. */
    payment: Payment;
    /** No other order can be it; or, with `trustReturns`, its customer came back. */
    because: 'only_candidate' | 'returned';
  }[];
  /** Payments that a person has to decide on. */
  held: {
    /** As you passed it. */
    payment: Payment;
    /** Orders of its amount and currency that it may be for. */
    candidates: Order[];
    /** `expired`: it came more than ten minutes after the checkout of its only candidate expired. */
    because: 'no_candidate' | 'several_candidates' | 'expired';
  }[];
  /** Unpaid orders whose customer came back more than `overdueMs` ago: a webhook may be lost. Empty without `now`. */
  overdue: Order[];
}

const graceMs = 10 * 60_000;
/** How long after its checkout expired an order may still have been paid. The service documents no limit. */
const lateMs = 7 * 24 * 3_600_000;

/**
 * Says which order each payment is for, and which payments a person has to decide on. Writes nothing. A payment is for an
 * order of its amount and currency that was made before it: the only one left. With several, or if its checkout has expired,
 * it is held. This relies on three things: every payment is for one of these orders, an order is paid at most once, and a
 * webhook comes within a week after the checkout expired.
 *
 * @throws {InvalidParamsError} an amount is not a decimal string, a date is invalid, or two have one id.
 */
export function matchPayments<Order extends UnpaidOrder, Payment extends UnmatchedPayment>(
  params: MatchParams<Order, Payment>,
): MatchResult<Order, Payment> {
  const { orders, payments, sumOf, trustReturns, isOverdue } = readMatch(params);
  const open = new Map<string, Set<Order>>();
  for (const order of orders) open.set(sumOf(order), (open.get(sumOf(order)) ?? new Set()).add(order));
  const rivals = (payment: Payment) => open.get(sumOf(payment)) ?? new Set<Order>();
  const held = new Map(
    payments.map((one) => [one, new Set([...rivals(one)].filter((order) => isCandidate(one, order)))]),
  );
  const matched: MatchResult<Order, Payment>['matched'] = [];

  /** Trusted returns may have swapped two customers' payments: then neither age nor expiry rules out an order of that amount. */
  const onlyCandidates = (): typeof matched =>
    [...held].flatMap(([payment, candidates]) => {
      const order = (trustReturns ? rivals(payment) : candidates).size === 1 && inTime(payment, candidates);
      return order ? [{ order, payment, because: 'only_candidate' }] : [];
    });

  /** With more customers back than payments, a webhook is late or lost, and nobody knows whose. */
  const firstReturned = (): typeof matched => {
    for (const [payment, candidates] of held) {
      const back = [...candidates].filter(({ returnedAt }) => returnedAt);
      const order = back.length <= held.size && inTime(payment, back);
      const alike = [...held.values()].filter((some) => back.every((one) => some.has(one)));
      if (order && back.length <= alike.length) return [{ order, payment, because: 'returned' }];
    }
    return [];
  };

  for (;;) {
    let certain = onlyCandidates();
    if (certain.length === 0 && trustReturns) certain = firstReturned();
    if (certain.length === 0) break;
    for (const match of certain) {
      if (!rivals(match.payment).delete(match.order)) continue; // of several payments, the earliest got it
      held.delete(match.payment);
      matched.push(match);
      for (const candidates of held.values()) candidates.delete(match.order); // may make another match certain
    }
  }
  const undecided = [...held].map(([payment, own]): MatchResult<Order, Payment>['held'][number] => {
    const candidates = [...(trustReturns && own.size > 0 ? rivals(payment) : own)];
    const because = (['no_candidate', 'expired'] as const)[candidates.length] ?? 'several_candidates';
    return { payment, candidates, because };
  });
  const overdue = orders.filter((order) => isOverdue(order) && open.get(sumOf(order))?.has(order));
  return { matched, held: undecided, overdue };
}

function isCandidate(payment: UnmatchedPayment, order: UnpaidOrder): boolean {
  return order.createdAt <= payment.receivedAt && (isWithin(lateMs, payment, order) || !!order.returnedAt);
}

function inTime<Order extends UnpaidOrder>(payment: UnmatchedPayment, orders: Iterable<Order>) {
  return [...orders].find((order) => isWithin(graceMs, payment, order));
}

function isWithin(ms: number, { receivedAt }: UnmatchedPayment, { expiresAt }: UnpaidOrder): boolean {
  return !expiresAt || receivedAt.getTime() <= expiresAt.getTime() + ms;
}

const operation = 'matchPayments';

/** Returns both lists oldest first. */
function readMatch<Order extends UnpaidOrder, Payment extends UnmatchedPayment>(
  params: MatchParams<Order, Payment>,
) {
  const names = { orders: undefined, payments: undefined, trustReturns: undefined, now: undefined };
  const own = ownParams(operation, params, { ...names, overdueMs: undefined });
  const { trustReturns = false, now, overdueMs = 15 * 60_000 } = own;
  if (typeof trustReturns !== 'boolean') throw invalid(operation, 'trustReturns', 'must be true or false.');
  if (!(overdueMs >= 0)) throw invalid(operation, 'overdueMs', 'must be a number of milliseconds.');
  if (now !== undefined) readTime('now', now);
  /** Amount and currency in the form that is compared. */
  const sums = new Map<object, string>();
  const orders = readAll('orders', own.orders, sums, 'createdAt', ['expiresAt', 'returnedAt']);
  const payments = readAll('payments', own.payments, sums, 'receivedAt');
  const isOverdue = ({ returnedAt }: Order) => Number(now) - Number(returnedAt ?? now) > overdueMs;
  const sumOf = (one: object) => sums.get(one) ?? '';
  return { orders, payments, sumOf, trustReturns, isOverdue };
}

function readAll<One extends Sum>(
  name: string,
  all: readonly One[],
  sums: Map<object, string>,
  time: string & keyof One,
  laterTimes: readonly (string & keyof One)[] = [],
): One[] {
  if (!Array.isArray(all)) throw invalid(operation, name, 'must be an array.');
  const known = new Map<string, string>();
  for (const [index, one] of all.entries()) {
    const path = `${name}.${index}`;
    if (typeof one !== 'object' || one === null) throw invalid(operation, path, 'must be an object.');
    const id = String(one.id);
    if (!['string', 'number', 'bigint'].includes(typeof one.id) || id === '')
      throw invalid(operation, `${path}.id`, 'must be a string or a number.');
    if (known.has(id)) throw invalid(operation, `${path}.id`, `is the id of ${known.get(id)} as well.`);
    known.set(id, path);
    const amount = readAmount(operation, `${path}.amount`, one.amount);
    if (typeof one.currency !== 'string' || !one.currency.trim())
      throw invalid(operation, `${path}.currency`, 'must be a currency code such as "USD".');
    sums.set(one, `${amount} ${one.currency.toUpperCase()}`);
    readTime(`${path}.${time}`, one[time]);
    for (const later of laterTimes) if (one[later] != null) readTime(`${path}.${later}`, one[later]);
  }
  const age = (one: One, other: One) => Number(one[time]) - Number(other[time]);
  return [...all].sort((one, other) => age(one, other) || (String(one.id) < String(other.id) ? -1 : 1));
}

function readTime(path: string, time: unknown): void {
  const isDate = Object.prototype.toString.call(time) === '[object Date]';
  if (!isDate || Number.isNaN(Number(time))) throw invalid(operation, path, 'must be a valid Date.');
}
