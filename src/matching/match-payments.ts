import { type MatchParams, readMatch, type UnmatchedPayment, type UnpaidOrder } from './params.js';

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
 * Says which order each payment is for, and which payments a person has to decide on. Writes nothing.
 *
 * A payment is for an order of its amount and currency that was made before it. If only one is left, it is that one. With
 * several, or if its checkout has expired, the payment is held. This relies on three things: every payment is for one of
 * these orders, an order is paid at most once, and a webhook comes within a week after the checkout expired.
 *
 * @throws {InvalidParamsError} an amount is not a decimal string, a date is invalid, or two have one id.
 */
export function matchPayments<Order extends UnpaidOrder, Payment extends UnmatchedPayment>(
  params: MatchParams<Order, Payment>,
): MatchResult<Order, Payment> {
  const { orders, payments, sumOf, trustReturns, isOverdue } = readMatch(params);
  /** The unpaid orders of each amount. */
  const open = new Map<string, Set<Order>>();
  for (const order of orders) open.set(sumOf(order), (open.get(sumOf(order)) ?? new Set()).add(order));
  const rivals = (payment: Payment) => open.get(sumOf(payment)) ?? new Set<Order>();
  /** The candidates of each payment that is held. */
  const held = new Map(
    payments.map((one) => [one, new Set([...rivals(one)].filter((order) => isCandidate(one, order)))]),
  );
  const matched: MatchResult<Order, Payment>['matched'] = [];

  /**
   * Trusted returns may have swapped the payments of two customers. Then neither its age nor its expiry says that an
   * order is not the one whose payment is left: every unpaid order of that amount is a rival.
   */
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
