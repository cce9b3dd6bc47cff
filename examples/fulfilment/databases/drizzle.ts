// npm install drizzle-orm pg. Drizzle writes through the client of commit().
import { drizzle } from 'drizzle-orm/node-postgres';
import { numeric, pgTable, text } from 'drizzle-orm/pg-core';
import { openInbox } from 'merchant-payments/inbox';
import { Pool } from 'pg';

const paid = pgTable('paid', { orderId: text('order_id').primaryKey(), amount: numeric().notNull() });

export const inbox = openInbox({
  pool: new Pool({ connectionString: process.env.DATABASE_URL }),
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  on: {
    'order.paid': ({ data }, { commit }) =>
      commit((client) =>
        drizzle({ client }).insert(paid).values({ orderId: data.order_id, amount: data.amount }),
      ),
  },
});
