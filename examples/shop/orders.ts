/**
 * Which order was it? `order.paid` says that somebody paid an amount. Nothing in it names an order of your shop, so
 * each order gets a `successUrl` with a token that nobody can guess. Whoever opens it has come back from paying.
 *
 * - A payment counts once, however often its webhook comes.
 * - One unpaid order asks for this amount: it is that one.
 * - Several do: it is the one whose customer came back.
 * - Anything else is held until a customer comes back or a person decides. There is no guessing.
 *
 * An order whose checkout has expired is never credited without a person. For a week it still counts as one that may
 * have been paid: its webhook may only be late, and must not go to the next customer who wants the same thing.
 *
 * It relies on this: a checkout is paid at most once, and nobody sees a `successUrl` before having paid.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';

export interface Order {
  readonly id: string;
  /** Part of the order's `successUrl`, and shown nowhere else. */
  readonly token: string;
  readonly name: string;
  readonly amount: string;
  readonly currency: string;
  readonly createdAt: Date;
  /** When its checkout ends, if the service said so. */
  readonly expiresAt: Date | undefined;
  returnedAt?: Date;
  /** The service's order id. Of two customers who paid the same amount, each may carry the other's. */
  paidAs?: string;
}

export interface Payment {
  /** The service's order id. */
  readonly id: string;
  readonly amount: string;
  readonly currency: string;
  readonly receivedAt: Date;
  state: 'held' | 'matched' | 'dismissed';
}

/** How long after its checkout expired an order may still be credited without a person. */
const graceMs = 10 * 60_000;
/** How long it may stand in the way of others, because its webhook may be late. The service documents no limit. */
const lateMs = 7 * 24 * 3_600_000;

/** What an order is known by. Make it first, as the checkout's `successUrl` holds it. */
export function newTicket(): Pick<Order, 'id' | 'token'> {
  return { id: randomBytes(6).toString('hex'), token: randomBytes(24).toString('base64url') };
}

/** The orders of a shop and the payments that came for them: two tables of the database in a real shop. */
export class OrderBook {
  readonly orders: Order[] = [];
  readonly payments: Payment[] = [];

  /** Enters an order, before its customer is sent to the payment page. */
  open(order: Omit<Order, 'createdAt' | 'returnedAt' | 'paidAs'>, now = new Date()): Order {
    const opened: Order = { ...order, createdAt: now };
    this.orders.push(opened);
    return opened;
  }

  /** Takes the data of a verified `order.paid`. */
  receive(data: { order_id: string; amount: string; currency: string }, now = new Date()): Payment {
    const { order_id: id, amount, currency } = data;
    const known = this.payments.find((payment) => payment.id === id);
    if (known) return known;
    const payment: Payment = { id, amount, currency, receivedAt: now, state: 'held' };
    this.payments.push(payment);
    this.#matchAll();
    return payment;
  }

  /** The order whose customer comes back, or `undefined` where the token is not the order's. */
  comeBack(id: string, token: string, now = new Date()): Order | undefined {
    const order = this.orders.find((one) => one.id === id);
    if (!order || !sameText(order.token, token)) return undefined;
    order.returnedAt ??= now;
    this.#matchAll();
    return order;
  }

  held(): Payment[] {
    return this.payments.filter(({ state }) => state === 'held');
  }

  /** The unpaid orders that a payment may be for. An order made after the payment is none of them. */
  candidates({ amount, currency, receivedAt }: Payment): Order[] {
    return this.orders.filter(
      (order) =>
        !order.paidAs &&
        order.amount === amount &&
        order.currency === currency &&
        order.createdAt <= receivedAt,
    );
  }

  /** A person says which order a held payment is for, or that it is for none. Returns whether that was possible. */
  decide(paymentId: string, orderId: string | undefined): boolean {
    const payment = this.held().find(({ id }) => id === paymentId);
    if (!payment) return false;
    if (orderId === undefined) {
      payment.state = 'dismissed';
      return true;
    }
    const order = this.candidates(payment).find(({ id }) => id === orderId);
    if (!order) return false;
    credit(order, payment);
    this.#matchAll();
    return true;
  }

  /** Each match may make another one certain. */
  #matchAll(): void {
    while (this.held().some((payment) => this.#match(payment)));
  }

  #match(payment: Payment): boolean {
    const sinceEnd = (end: Date) => payment.receivedAt.getTime() - end.getTime();
    const candidates = this.candidates(payment).filter(
      ({ expiresAt, createdAt }) => sinceEnd(expiresAt ?? createdAt) <= lateMs,
    );
    const inTime = candidates.filter(({ expiresAt }) => !expiresAt || sinceEnd(expiresAt) <= graceMs);
    const back = inTime.filter(({ returnedAt }) => returnedAt);
    const alike = this.held().filter(({ amount, currency }) => {
      return amount === payment.amount && currency === payment.currency;
    });
    // More customers back than payments: one of the payments is still on its way, or somebody did not pay.
    const order = candidates.length === 1 ? inTime[0] : back.length <= alike.length ? back[0] : undefined;
    if (order) credit(order, payment);
    return order !== undefined;
  }
}

function credit(order: Order, payment: Payment): void {
  order.paidAs = payment.id;
  payment.state = 'matched';
}

function sameText(known: string, given: string): boolean {
  const [a, b] = [Buffer.from(known), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
