// npm install pg. The inbox in the database of a shop that uses pg.
import { openInbox } from 'merchant-payments/inbox';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: process.env.DATABASE_URL });

export const inbox = openInbox({
  pool,
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  on: {
    'order.paid': ({ data }, { commit }) =>
      commit((tx) => tx.query('INSERT INTO paid VALUES ($1, $2)', [data.order_id, data.amount])),
  },
});
