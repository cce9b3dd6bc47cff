/**
 * The orders of the shop, in one SQLite file: its own table, the order book, which says which order a payment is for, and the
 * inbox, which loses no payment that got a 200.
 */
import { randomBytes } from 'node:crypto';
import { openInbox, openOrderBook, type PaidOrder } from 'merchant-payments/inbox';
import { openDatabase } from './database.ts';

export interface Order {
  readonly id: string;
  /** Part of the order's `successUrl`: opens the customer's page, and proves no payment. */
  readonly token: string;
  readonly name: string;
  readonly amount: string;
  readonly currency: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly returnedAt: Date | null;
  readonly isClosed: boolean;
  /** The service's order id of its payment. */
  readonly paidAs: string | null;
}

export type Orders = ReturnType<typeof openOrders>;

export function openOrders(secret: string | undefined | (() => string | undefined)) {
  const database = openDatabase(process.env.SHOP_FILE || 'shop.sqlite');
  database.exec(
    'CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, token TEXT NOT NULL, name TEXT NOT NULL, paid_as TEXT)',
  );

  /** Gives each order an amount of its own: who wants the same mug at the same time pays a cent less. */
  const book = openOrderBook({ database });

  const inbox = openInbox({
    database,
    secret,
    on: {
      'order.paid': ({ data }, { commit }) => {
        const paid = commit((db) => fulfil(book.credit(db, data)));
        if (paid.length > 0) return;
        const { order_id, amount, currency } = data;
        console.warn(`${order_id} paid ${amount} ${currency}, and no order for certain. Look at /orders`);
      },
    },
  });

  /** Fulfils orders, in the transaction that credits their payments: that happens once. */
  function fulfil(paid: PaidOrder[]): PaidOrder[] {
    const pay = database.prepare('UPDATE orders SET paid_as = ? WHERE id = ?');
    for (const { id, paymentId } of paid) pay.run(paymentId, id);
    return paid;
  }

  /** Fulfils what a person's decision pays, in one transaction with it. */
  function fulfilWhat(credit: () => PaidOrder[]): void {
    database.exec('BEGIN IMMEDIATE');
    try {
      fulfil(credit());
      database.exec('COMMIT');
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  }

  const select = 'SELECT * FROM orders JOIN payments_order USING (id)';

  return {
    book,
    inbox,

    /** Enters an order, before it has a checkout. */
    add(name: string): { id: string; token: string } {
      const [id, token] = [randomBytes(6).toString('hex'), randomBytes(24).toString('base64url')];
      database.prepare('INSERT INTO orders VALUES (?, ?, ?, NULL)').run(id, token, name);
      return { id, token };
    },

    /** Forgets an order whose payment page nobody has seen. */
    async drop(id: string): Promise<void> {
      await book.cancel(id);
      database.prepare('DELETE FROM orders WHERE id = ?').run(id);
    },

    /** The order whose page is opened, or `undefined` where the token is not the order's. It credits nothing. */
    async comeBack(id: string, token: string): Promise<Order | undefined> {
      const row = database.prepare(`${select} WHERE id = ? AND token = ?`).get(id, token);
      if (!row) return undefined;
      await book.returned(id);
      return toOrder(row);
    },

    /** A person says which order a payment is for. */
    decide(paymentId: string, orderId: string): void {
      fulfilWhat(() => book.decide(paymentId, orderId, database));
    },

    /** A person says that an order was not paid, and never will be. */
    close(orderId: string): void {
      fulfilWhat(() => book.cancel(orderId, database));
    },

    /** All orders, the newest first. */
    list: () => database.prepare(`${select} ORDER BY created_at DESC`).all().map(toOrder),
  };
}

function toOrder(row: Record<string, unknown>): Order {
  return {
    id: String(row.id),
    token: String(row.token),
    name: String(row.name),
    amount: String(row.amount),
    currency: String(row.currency),
    createdAt: new Date(Number(row.created_at)),
    expiresAt: toDate(row.expires_at),
    returnedAt: toDate(row.returned_at),
    isClosed: row.state === 'cancelled',
    paidAs: typeof row.paid_as === 'string' ? row.paid_as : null,
  };
}

function toDate(value: unknown): Date | null {
  return value === null ? null : new Date(Number(value));
}
