import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';

/** The shop's tables. Routes, pages and the inbox read this file, never a variable: Next.js loads modules more than once. */
export const database = new DatabaseSync(process.env.ORDERS_FILE ?? 'orders.sqlite');
database.exec(`PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 5000;
  CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, amount TEXT, currency TEXT, created_at INTEGER, paid_by TEXT);
  CREATE TABLE IF NOT EXISTS held_payments (id TEXT PRIMARY KEY, amount TEXT, currency TEXT, received_at INTEGER)`);

export function addOrder(amount: string, currency: string): string {
  const id = randomUUID();
  const insert = 'INSERT INTO orders (id, amount, currency, created_at) VALUES (?, ?, ?, ?)';
  database.prepare(insert).run(id, amount, currency, Date.now());
  return id;
}

export function isPaid(id: string): boolean {
  return database.prepare('SELECT 1 FROM orders WHERE id = ? AND paid_by IS NOT NULL').get(id) !== undefined;
}
