import { timingSafeEqual } from 'node:crypto';
import { matchPayments } from 'merchant-payments/matching';
import { database, inTransaction } from './orders.ts';

/** Takes the data of a verified `order.paid`, in the transaction that marks it as done. */
export function receivePayment(
  { order_id, amount, currency }: { order_id: string; amount: string; currency: string },
  receivedAt: string,
): void {
  // A payment is credited once. One that a person has credited by hand before its webhook came is done with that.
  const known = database
    .prepare(
      `SELECT amount, currency FROM held_payments WHERE id = ?
       UNION ALL SELECT amount, currency FROM orders WHERE paid_by = ?`,
    )
    .get(order_id, order_id);
  if (known?.amount === amount && known.currency === currency) return;
  if (known) throw new Error(conflict(order_id));
  const hold = database.prepare('INSERT INTO held_payments VALUES (?, ?, ?, ?)');
  hold.run(order_id, amount, currency, Date.parse(receivedAt));
  creditWhatIsCertain();
}

/** Explains why a delivery that was parked for its other amount cannot be retried. */
const conflict = (id: string) =>
  `${id} came with another amount or currency before. Decide by hand which one counts, or discard this delivery.`;

/** Returns the matches that are certain, and the payments that a person has to decide. */
export function review() {
  const unpaid = database.prepare('SELECT * FROM orders WHERE paid_by IS NULL').all();
  const held = database.prepare('SELECT * FROM held_payments').all();
  return matchPayments({
    orders: unpaid.map((row) => ({
      ...sum(row),
      createdAt: new Date(Number(row.created_at)),
      expiresAt: row.expires_at === null ? undefined : new Date(Number(row.expires_at)),
    })),
    payments: held.map((row) => ({ ...sum(row), receivedAt: new Date(Number(row.received_at)) })),
    trustReturns: false,
  });
}

/** A person says which order a held payment was for. */
export function decide(paymentId: string, orderId: string): void {
  inTransaction(() => {
    const held = review().held.find(({ payment }) => payment.id === paymentId);
    if (held?.candidates.some(({ id }) => id === orderId)) credit(paymentId, orderId);
    creditWhatIsCertain();
  });
}

/** Without ORDERS_KEY in the environment nobody sees what is held. */
export function isOrdersKey(given: string): boolean {
  const [known, key] = [Buffer.from(process.env.ORDERS_KEY ?? ''), Buffer.from(given)];
  return known.length > 0 && known.length === key.length && timingSafeEqual(known, key);
}

function creditWhatIsCertain(): void {
  for (const { order, payment } of review().matched) credit(payment.id, order.id);
}

function credit(payment: string, order: string): void {
  const received = database
    .prepare('DELETE FROM held_payments WHERE id = ? RETURNING received_at')
    .get(payment);
  const paidAt = Number(received?.received_at);
  database.prepare('UPDATE orders SET paid_by = ?, paid_at = ? WHERE id = ?').run(payment, paidAt, order);
}

function sum({ id, amount, currency }: Record<string, unknown>) {
  return { id: String(id), amount: String(amount), currency: String(currency) };
}
