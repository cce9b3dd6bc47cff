import { openInbox } from 'merchant-payments/inbox';
import { book, database, fulfil } from './orders.ts';

/** Opened in this module, so that after an edit the new functions do the work, once a request loads them. */
export const inbox = openInbox({
  database, // the shop's own, so that commit() writes orders and "done" in one transaction
  secret: () => process.env.PAYMENTS_WEBHOOK_SECRET, // read at the first delivery, not in `next build`
  on: {
    'order.paid': ({ data }, { commit }) => {
      commit((db) => {
        fulfil(book.credit(db, data));
      });
    },
  },
});
