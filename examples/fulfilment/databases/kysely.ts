// npm install kysely pg. A transaction of Kysely also marks the delivery done.
import { CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import { openInbox } from 'merchant-payments/inbox';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
const dialect = new PostgresDialect({ pool });
const db = new Kysely<{ paid: { order_id: string; amount: string } }>({ dialect });

export const inbox = openInbox({
  pool,
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  on: {
    'order.paid': ({ data: { order_id, amount } }, { done }) =>
      db.transaction().execute(async (tx) => {
        await done((sql, values) => tx.executeQuery(CompiledQuery.raw(sql, values)));
        await tx.insertInto('paid').values({ order_id, amount }).execute();
      }),
  },
});
