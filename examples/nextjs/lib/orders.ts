import { DatabaseSync } from 'node:sqlite';
import { openOrderBook, type PaidOrder } from 'merchant-payments/inbox';

/** The shop's tables. Routes, pages and the inbox read this file, never a variable: Next.js loads modules more than once. */
export const database = new DatabaseSync(process.env.ORDERS_FILE ?? 'orders.sqlite');
database.exec(`PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, paid_as TEXT)`);

/** Gives each order an amount of its own, and says by that which one a payment is for. */
export const book = openOrderBook({ database });

export function insertOrder(id: string): void {
  database.prepare('INSERT INTO orders VALUES (?, NULL)').run(id);
}

/** Forgets an order whose payment page nobody has seen. */
export async function dropOrder(id: string): Promise<void> {
  await book.cancel(id);
  database.prepare('DELETE FROM orders WHERE id = ?').run(id);
}

/** Runs in the transaction that credits a payment, so it happens once for each order. */
export function fulfil(paid: PaidOrder[]): void {
  for (const { id, paymentId } of paid)
    database.prepare('UPDATE orders SET paid_as = ? WHERE id = ?').run(paymentId, id);
}

export function findOrder(id: string): { isPaid: boolean } | undefined {
  const row = database.prepare('SELECT paid_as FROM orders WHERE id = ?').get(id);
  return row && { isPaid: row.paid_as !== null };
}
