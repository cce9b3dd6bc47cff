/**
 * Shops as they happen: customers order, pay and come back, webhooks are late, lost and worked on in any order, and some
 * customers are attackers. Only this file knows which order a payment was truly for. A seed repeats a history.
 */
import type { UnmatchedPayment, UnpaidOrder } from 'merchant-payments/matching';

const minute = 60_000;
const week = 7 * 24 * 60;
const lifetime = 30;

export interface TrueOrder extends UnpaidOrder {
  id: string;
  paid: boolean;
}
export interface TruePayment extends UnmatchedPayment {
  id: string;
  of: TrueOrder;
}
export interface Rules {
  /** The most minutes between the end of a checkout and its webhook. */
  late: number;
  /** True if some customers come back without having paid, at any time. */
  attackers: boolean;
}

/** The shop's tables when it matches: at each webhook that it works on, and at each return. */
export interface Tables {
  orders: TrueOrder[];
  payments: TruePayment[];
  now: Date;
}

/** The events of a minute: somebody orders, pays or comes back, or the shop works on a webhook. */
export interface Step {
  at: number;
  ordered?: TrueOrder;
  paid?: TrueOrder;
  returned?: TrueOrder;
  payment?: TruePayment;
}

/** Plays a history, and calls `match` whenever the shop would. It takes what is credited out of the tables. */
export function play(seed: number, rules: Rules, match: (tables: Tables) => void): void {
  const tables: Tables = { orders: [], payments: [], now: new Date(0) };
  for (const { at, ordered, paid, returned, payment } of history(seed, rules)) {
    tables.now = new Date(at * minute);
    if (ordered) tables.orders.push(ordered);
    if (paid) paid.paid = true;
    if (returned) returned.returnedAt ??= tables.now;
    if (payment) tables.payments.push(payment);
    if (returned || payment) match(tables);
  }
}

/** Returns the history of a shop, in order. */
export function history(seed: number, { attackers, late }: Rules): Step[] {
  const random = randomFrom(seed);
  const randomBelow = (limit: number) => Math.floor(random() * limit);
  const oneOf = <One>(some: readonly One[]): One => some[randomBelow(some.length)] as One;
  const steps: Step[] = [];
  const addStep = (at: number, step: Omit<Step, 'at'>) => steps.push({ at, ...step });

  const span = oneOf([20, 60, week + 60]);
  const amounts = oneOf([['19.90'], ['19.9', '19.90'], ['19.90', '34.00']]);
  for (let customer = 2 + randomBelow(5); customer > 0; customer--) {
    const opens = randomBelow(span);
    const expires = random() < 0.85 ? opens + oneOf([1, lifetime, lifetime, 24 * 60]) : undefined;
    const order: TrueOrder = {
      id: `order ${customer}`,
      amount: oneOf(amounts),
      currency: 'USD',
      createdAt: new Date(opens * minute),
      expiresAt: expires === undefined ? undefined : new Date(expires * minute),
      paid: false,
    };
    addStep(opens, { ordered: order });
    const pays = opens + randomBelow((expires ?? opens + lifetime) - opens + 1);
    if (random() < 0.35) {
      if (attackers) addStep(opens + randomBelow(span), { returned: order });
      continue;
    }
    addStep(pays, { paid: order });
    if (random() < 0.6)
      addStep(pays + oneOf([0, 0, 1, randomBelow(60), randomBelow(2 * week)]), { returned: order });
    else if (attackers && random() < 0.3) addStep(opens + randomBelow(span), { returned: order });
    if (random() < 0.15) continue; // the webhook is lost
    const latest = (expires ?? pays) + late - pays;
    const receivedAt =
      pays + Math.min(latest, oneOf([0, 0, 1, randomBelow(30), randomBelow(latest + 1), latest]));
    const payment: TruePayment = {
      id: `payment ${customer}`,
      amount: oneOf(amounts.filter((amount) => Number(amount) === Number(order.amount))),
      currency: oneOf(['USD', 'usd']),
      receivedAt: new Date(receivedAt * minute),
      of: order,
    };
    // Received and stored in time, and worked on later: the shop's database was away.
    addStep(receivedAt + oneOf([0, 0, 0, randomBelow(120), randomBelow(week)]), { payment });
  }
  // Those of one minute happen in any order, but nobody pays before ordering.
  return steps.sort((one, other) => one.at - other.at);
}

export function shuffle<One>(all: readonly One[], random: () => number): One[] {
  const mixed = [...all];
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [mixed[last], mixed[other]] = [mixed[other] as One, mixed[last] as One];
  }
  return mixed;
}

/** mulberry32. */
export function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
