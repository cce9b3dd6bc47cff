import { openInbox } from 'merchant-payments/inbox';
import { matchPayments } from 'merchant-payments/matching';
import { database } from './orders.ts';

/** Opened in this module, so that after an edit the functions of the new version do the work. */
export const inbox = openInbox({
  database, // the shop's own, so that commit() writes orders and "done" in one transaction
  secret: () => process.env.PAYMENTS_WEBHOOK_SECRET, // read at the first delivery, not in `next build`
  on: {
    'order.paid': ({ data }, { commit, receivedAt }) => {
      commit((db) => {
        const hold = db.prepare('INSERT INTO held_payments VALUES (?, ?, ?, ?)');
        hold.run(data.order_id, data.amount, data.currency, Date.parse(receivedAt));
        creditWhatIsCertain();
      });
    },
  },
});

/** What stays in held_payments is for a person to decide. */
function creditWhatIsCertain(): void {
  const unpaid = database.prepare('SELECT * FROM orders WHERE paid_by IS NULL').all();
  const held = database.prepare('SELECT * FROM held_payments').all();
  const { matched } = matchPayments({
    orders: unpaid.map((row) => ({ ...amountOf(row), createdAt: new Date(Number(row.created_at)) })),
    payments: held.map((row) => ({ ...amountOf(row), receivedAt: new Date(Number(row.received_at)) })),
    trustReturns: false,
  });
  for (const { order, payment } of matched) {
    database.prepare('UPDATE orders SET paid_by = ? WHERE id = ?').run(payment.id, order.id);
    database.prepare('DELETE FROM held_payments WHERE id = ?').run(payment.id);
  }
}

function amountOf({ id, amount, currency }: Record<string, unknown>) {
  return { id: String(id), amount: String(amount), currency: String(currency) };
}
