/**
 * Which order was it? `order.paid` says that somebody paid an amount, and names no order of your shop. So no two open
 * orders of this shop have one amount: who wants the same mug at the same time pays a cent less. Where the cents are
 * used up, unpaid orders share an amount, and its payment is held until a person decides. `matchPayments()` has the
 * rule; this file has the tables.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { freeAmount, type MatchResult, matchPayments } from 'merchant-payments/matching';

export interface Order {
  readonly id: string;
  /** Part of the order's `successUrl`: opens the customer's page, and proves no payment. */
  readonly token: string;
  readonly name: string;
  amount: string;
  readonly currency: string;
  readonly createdAt: Date;
  /** When its checkout ends, if the service said so. */
  expiresAt?: Date | undefined;
  returnedAt?: Date;
  /** The service's order id. */
  paidAs?: string;
  paidAt?: Date;
  closed?: boolean;
}

export interface Payment {
  /** The service's order id. */
  readonly id: string;
  readonly amount: string;
  readonly currency: string;
  readonly receivedAt: Date;
  state: 'held' | 'matched' | 'dismissed';
}

/** The most that a thing may be sold below its price: fifty customers who want it within three hours or so get amounts of their own. */
const most = '0.50';
/**
 * The time for which nobody else gets an amount. For an unpaid order it is as long as a webhook may be late (`lateFor`). A shorter
 * time means more decisions, no errors: the order stays a candidate.
 * Paid, it may be paid once more from a page that is still open, and that payment must not be the next customer's.
 */
const keptMs = { unpaid: 2 * 3_600_000, paid: 24 * 3_600_000 };

/** The orders of a shop and the payments that came for them: two tables in a real shop, and a transaction a method. */
export class OrderBook {
  orders: Order[] = [];
  readonly payments: Payment[] = [];

  /** Enters an order under an amount of its own, before its checkout is created: nobody else gets that amount. */
  open(goods: { name: string; price: string; currency: string }, now = new Date()): Order {
    const { name, price, currency } = goods;
    const taken = this.#taken(currency, now);
    const free = (orders: Order[]) => freeAmount({ price, taken: orders.map((order) => order.amount), most });
    const amount = free(taken) ?? free(taken.filter(({ paidAs, closed }) => paidAs !== undefined || closed));
    if (amount === undefined) throw new Error(`Every amount near ${price} was paid today. Sell it later.`);
    const [id, token] = [randomBytes(6).toString('hex'), randomBytes(24).toString('base64url')];
    const order: Order = { id, token, name, amount, currency, createdAt: now };
    this.orders.push(order);
    return order;
  }

  /** Forgets an order whose payment page nobody has seen. */
  drop(order: Order): void {
    this.orders = this.orders.filter((one) => one !== order);
  }

  /** Takes the data of a verified `order.paid`. */
  receive(data: { order_id: string; amount: string; currency: string }, now = new Date()): Payment {
    const { order_id: id, amount, currency } = data;
    const known = this.payments.find((payment) => payment.id === id);
    if (known && (known.amount !== amount || known.currency !== currency))
      throw new Error(
        `${id} came with ${known.amount} ${known.currency}, and again with ${amount} ${currency}.`,
      );
    if (known) return known;
    const payment: Payment = { id, amount, currency, receivedAt: now, state: 'held' };
    this.payments.push(payment);
    this.#creditWhatIsCertain();
    return payment;
  }

  /** The order whose page is opened, or `undefined` where the token is not the order's. It credits nothing. */
  comeBack(id: string, token: string, now = new Date()): Order | undefined {
    const order = this.orders.find((one) => one.id === id);
    if (!order || !sameText(order.token, token)) return undefined;
    order.returnedAt ??= now;
    return order;
  }

  /** Returns the matches that are certain, the payments that a person has to decide, and the webhooks that may be lost. */
  review(now = new Date()): MatchResult<Order, Payment> {
    const orders = this.orders.filter(({ paidAs, closed }) => !paidAs && !closed);
    const payments = this.payments.filter(({ state }) => state === 'held');
    // A return is no proof: who can read `successUrl` on the payment page can come back without paying.
    return matchPayments({ orders, payments, now, trustReturns: false });
  }

  /** The payments that are held, with the orders that a person may choose from: closed ones too. */
  held(): MatchResult<Order, Payment>['held'] {
    return this.review().held.map((one) => {
      const { amount, currency } = one.payment;
      const closed = this.orders.filter(
        (order) => order.closed && !order.paidAs && order.amount === amount && order.currency === currency,
      );
      return { ...one, candidates: [...one.candidates, ...closed] };
    });
  }

  /** A person says which order a held payment is for, or that it is for none. Returns whether that was possible. */
  decide(paymentId: string, orderId: string | undefined): boolean {
    const held = this.held().find(({ payment }) => payment.id === paymentId);
    const order = held?.candidates.find(({ id }) => id === orderId);
    if (!held || (orderId !== undefined && !order)) return false;
    if (order) credit(order, held.payment);
    else held.payment.state = 'dismissed';
    this.#creditWhatIsCertain();
    return true;
  }

  /** A person says that an order was not paid, and never will be. Returns whether that was possible. */
  close(orderId: string): boolean {
    const order = this.orders.find(({ id, paidAs }) => id === orderId && !paidAs);
    if (!order) return false;
    order.closed = true;
    this.#creditWhatIsCertain();
    return true;
  }

  #creditWhatIsCertain(): void {
    for (const { order, payment } of this.review().matched) credit(order, payment);
  }

  /** Of paid orders for a day, of others for two hours after their checkout ended, and while a customer who is back waits. */
  #taken(currency: string, now: Date): Order[] {
    const isTaken = ({ paidAt, closed, returnedAt, expiresAt, createdAt }: Order) => {
      const endedMs = now.getTime() - (expiresAt ?? createdAt).getTime();
      if (paidAt) return now.getTime() - paidAt.getTime() < keptMs.paid || endedMs < 0;
      return endedMs < keptMs.unpaid || (returnedAt !== undefined && !closed);
    };
    return this.orders.filter((order) => order.currency === currency && isTaken(order));
  }
}

function credit(order: Order, payment: Payment): void {
  order.paidAs = payment.id;
  order.paidAt = payment.receivedAt;
  payment.state = 'matched';
}

/** Compares in constant time. */
export function sameText(known: string, given: string): boolean {
  const [a, b] = [Buffer.from(known), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
