import {
  type CreditOptions,
  type OpenParams,
  type OrderBookOptions,
  type ReserveParams,
  readBookOptions,
  readCredit,
  readOpen,
  readOrderId,
  readPaymentId,
  readReserve,
} from './order-book-options.js';
import { PostgresBook, SqliteBook } from './order-place.js';
import type { BookOrder, HeldPayment, PaidOrder } from './orders.js';
import * as orders from './orders.js';
import type { PostgresClient, PostgresRun } from './postgres.js';
import type { Work } from './sql.js';
import type { GivenDatabase, SqliteDatabase } from './sqlite.js';

/** Your transaction: the client or database that `commit()` passes, or the `run` that you pass to `done()`. */
export type BookTransaction<Client> = [Client] extends [never]
  ? SqliteDatabase | GivenDatabase
  : Client | PostgresRun;

/** The result of a method that writes in your transaction: a promise on PostgreSQL, the result itself on SQLite. */
export type InTransaction<Client, Result> = [Client] extends [never] ? Result : Promise<Result>;

/**
 * The order book, which says which order a payment is for. Methods need no `this`. Invalid parameters are refused with
 * `InvalidParamsError`, an order or payment that the book does not have with the code `order_unknown`, and a call that the
 * state of one forbids with `order_conflict`; `order_changed` asks for another try.
 *
 * Your SQL may read the tables, and must not write them. `payments_order` has `id`, `amount`, `currency`, `state` (`reserved`,
 * `open`, `paid`, `cancelled`), `payment_id`, and in milliseconds `created_at`, `expires_at`, `returned_at`, `paid_at`.
 * `payments_order_payment` has `id`, `amount`, `currency`, `state` (`held`, `credited`, `dismissed`), `received_at`, `order_id`.
 */
export interface OrderBook<Client = never> {
  /**
   * Reserves an amount that no other order has: the price if it was never reserved, else the amount that has been free for the
   * longest. `amount` is `null` if none is free: pass a larger `most`, or let the customer try again later. Without `open()`,
   * the reservation ends after ten minutes. An order that is reserved again keeps its amount, also for a second checkout.
   */
  reserve: (params: ReserveParams) => Promise<{
    /** The amount to create the checkout with; `null` if none is free. */
    amount: string | null;
  }>;
  /** Says that the order has a checkout. Call it before you send the customer there; if it rejects, do not send them. */
  open: (orderId: ReserveParams['id'], params?: OpenParams) => Promise<void>;
  /**
   * Closes an order: nothing is credited to it any more, except by hand. Its amount is free at once if it was only reserved, else
   * once its checkout is over. With your transaction, the call also credits payments that have become certain by that, and
   * returns the orders that they pay.
   */
  cancel: {
    (orderId: ReserveParams['id']): Promise<void>;
    (orderId: ReserveParams['id'], transaction: BookTransaction<Client>): InTransaction<Client, PaidOrder[]>;
  };
  /**
   * Says that a customer came back, which proves nothing: see `overdue()`. With `trustReturns`, pass your transaction: the call
   * also credits payments that have become certain, and returns the orders that they pay.
   */
  returned: {
    (orderId: ReserveParams['id']): Promise<void>;
    (orderId: ReserveParams['id'], transaction: BookTransaction<Client>): InTransaction<Client, PaidOrder[]>;
  };
  /**
   * Takes a payment once, in the transaction of its delivery, and returns the orders that are paid by it: none, if a person has to
   * decide or if the payment is known; one; or several, because it may make another payment certain. Fulfil the orders in that
   * transaction.
   *
   * @throws {PaymentsError} an `OrderBookError` with `order_conflict`: the payment came before, with another amount or currency. The inbox
   * parks the delivery at once, because no other attempt can succeed.
   */
  credit: (
    transaction: BookTransaction<Client>,
    data: {
      /** The service's id of the payment. */
      order_id: string;
      /** The amount, a decimal string. */
      amount: string;
      /** The currency, such as `USD`. */
      currency: string;
    },
    options?: CreditOptions,
  ) => InTransaction<Client, PaidOrder[]>;
  /** Returns the payments that a person has to decide on, the oldest first, at most 1000. */
  held: () => Promise<HeldPayment[]>;
  /**
   * Credits a payment by hand, and returns the orders that are paid by that: none, if the payment was credited to the order before,
   * as by the command. Pass your transaction to fulfil the order in it. The webhook of the payment may come later: if it has the
   * amount of the order, it then changes nothing. So an unknown id is accepted, and after a typo the real payment stays held.
   */
  decide: {
    (paymentId: string, orderId: ReserveParams['id']): Promise<PaidOrder[]>;
    (
      paymentId: string,
      orderId: ReserveParams['id'],
      transaction: BookTransaction<Client>,
    ): InTransaction<Client, PaidOrder[]>;
  };
  /** Says that a payment is for no order, as after a refund. `decide()` can still credit it. */
  dismiss: (paymentId: string) => Promise<void>;
  /** Returns unpaid orders whose customer came back more than 15 minutes ago, at most 1000: a webhook may be lost. Cancel the orders that are not paid. */
  overdue: () => Promise<BookOrder[]>;
  /** Closes the `file` of the book. Your own `database` or `pool` stays open. */
  close: () => Promise<void>;
  /** Calls `close()`, for `await using`. */
  [Symbol.asyncDispose]: () => Promise<void>;
}

/**
 * Opens the order book: it gives each order an amount of its own, and says by that which order a payment is for, because no
 * documented field of `order.paid` says it. Pass the same `file`, `database` or `pool` as to `openInbox()`.
 *
 * @throws {ConfigurationError} an option is invalid, or the file or database cannot be used. A problem of a `pool` rejects
 * the first method.
 * @example
 * ```ts no-run: needs Node 22.13
 * import { openInbox, openOrderBook } from 'merchant-payments/inbox';
 *
 * const book = openOrderBook({ file: 'shop.sqlite' });
 * const { amount } = await book.reserve({ id: 'order 7', price: '19.90', currency: 'USD' });
 * // Create a product and a checkout at that amount, then:
 * await book.open('order 7', { expiresAt: new Date(Date.now() + 30 * 60_000) });
 *
 * const inbox = openInbox({
 *   file: 'shop.sqlite',
 *   secret: process.env.PAYMENTS_WEBHOOK_SECRET,
 *   on: {
 *     'order.paid': ({ data }, { commit }) => {
 *       commit((db) => {
 *         for (const { id } of book.credit(db, data)) console.log(`${id} is paid`); // fulfil it here
 *       });
 *     },
 *   },
 * });
 * ```
 */
export function openOrderBook<Client extends PostgresClient = never>(
  options: OrderBookOptions<Client>,
): OrderBook<Client>;
export function openOrderBook(options: unknown): Record<keyof OrderBook, unknown> {
  const { place, most, ...rule } = readBookOptions(options);
  const book = 'pool' in place ? new PostgresBook(place) : new SqliteBook(place);
  const rules: orders.BookRules = { ...rule, lock: book.lock, find: book.find };

  /**
   * Runs work in the transaction that was passed, or in one of its own. Payments that have become certain are credited only in
   * the transaction of the shop, which fulfils their orders there.
   */
  const runInEither = (transaction: unknown, read: () => (isWithin: boolean) => Work<PaidOrder[]>) => {
    if (transaction !== undefined) return book.runIn(transaction, () => read()(true));
    const runAlone = async () => {
      const work = read();
      return book.run(() => work(false));
    };
    return runAlone();
  };
  return {
    async reserve(params: unknown) {
      const wanted = readReserve(params, most);
      return { amount: await book.run(() => orders.reserve(rules, wanted)) };
    },
    async open(orderId: unknown, params: unknown = {}) {
      const id = readOrderId('open', orderId);
      const checkout = readOpen(params);
      await book.run(() => orders.open(id, checkout));
    },
    cancel: (orderId: unknown, transaction?: unknown) =>
      runInEither(transaction, () => {
        const id = readOrderId('cancel', orderId);
        return (isWithin) => orders.cancel(rules, id, isWithin);
      }),
    returned: (orderId: unknown, transaction?: unknown) =>
      runInEither(transaction, () => {
        const id = readOrderId('returned', orderId);
        return (isWithin) => orders.noteReturn(rules, id, isWithin);
      }),
    credit: (transaction: unknown, data: unknown, settings: unknown = {}) =>
      book.runIn(transaction, () => orders.credit(rules, readCredit(data, settings))),
    held: () => book.run(() => orders.listHeld(rules)),
    decide: (payment: unknown, order: unknown, transaction?: unknown) =>
      runInEither(transaction, () => {
        const [paymentId, orderId] = [readPaymentId('decide', payment), readOrderId('decide', order)];
        return (isWithin) => orders.decide(rules, paymentId, orderId, isWithin);
      }),
    async dismiss(payment: unknown) {
      const paymentId = readPaymentId('dismiss', payment);
      await book.run(() => orders.dismiss(paymentId));
    },
    overdue: () => book.run(orders.overdue),
    close: () => book.close(),
    [Symbol.asyncDispose]: () => book.close(),
  };
}
