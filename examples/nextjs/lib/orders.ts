import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { freeAmount } from 'merchant-payments/matching';

/** The shop's tables. Routes, pages and the inbox read this file, never a variable: Next.js loads modules more than once. */
export const database = new DatabaseSync(process.env.ORDERS_FILE ?? 'orders.sqlite');
database.exec(`PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 5000;
  CREATE TABLE IF NOT EXISTS orders (
    id TEXT PRIMARY KEY, amount TEXT, currency TEXT, created_at INTEGER, expires_at INTEGER, paid_by TEXT, paid_at INTEGER
  );
  CREATE TABLE IF NOT EXISTS held_payments (id TEXT PRIMARY KEY, amount TEXT, currency TEXT, received_at INTEGER)`);

/** Enters an order under an amount of its own: its payment can then be for no other one. */
export function openOrder(price: string, currency: string): { id: string; amount: string } {
  return inTransaction(() => {
    const [id, now] = [randomUUID(), Date.now()];
    // The amounts of unpaid orders, for two hours (`lateFor`), and of paid ones for a day from their payment: an open page may pay again.
    const open = database.prepare(`
      SELECT amount, paid_by FROM orders WHERE currency = ? AND
        CASE WHEN paid_by IS NULL THEN coalesce(expires_at, created_at) > ? ELSE paid_at > ? OR expires_at > ? END`);
    const since = [now - 2 * 3_600_000, now - 86_400_000, now];
    const all = open.all(currency, ...since);
    const free = (orders: Record<string, unknown>[]) =>
      freeAmount({ price, taken: orders.map((one) => String(one.amount)), most: '0.50' });
    // None left: one of an unpaid order, so that a payment is held, and never one of a paid order.
    const amount = free(all) ?? free(all.filter((one) => one.paid_by !== null));
    if (amount === undefined) throw new Error(`Every amount near ${price} was paid today. Sell it later.`);
    // It has expired until there is a checkout, so that a crash leaves no order that could be credited.
    const insert = database.prepare('INSERT INTO orders VALUES (?, ?, ?, ?, ?, NULL, NULL)');
    insert.run(id, amount, currency, now, now);
    return { id, amount };
  });
}

export function saveCheckout(id: string, amount: string, expiresAt: Date | undefined): void {
  const update = database.prepare('UPDATE orders SET amount = ?, expires_at = ? WHERE id = ?');
  update.run(amount, expiresAt?.getTime() ?? null, id);
}

export function dropOrder(id: string): void {
  database.prepare('DELETE FROM orders WHERE id = ?').run(id);
}

export function isPaid(id: string): boolean {
  return database.prepare('SELECT 1 FROM orders WHERE id = ? AND paid_by IS NOT NULL').get(id) !== undefined;
}

export function inTransaction<Result>(write: () => Result): Result {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = write();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}
