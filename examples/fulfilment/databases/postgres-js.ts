// npm install postgres. The inbox borrows connections of postgres.js, whose transaction also marks the delivery done.
import { openInbox, type PostgresPool } from 'merchant-payments/inbox';
import postgres from 'postgres';

const sql = postgres(process.env.DATABASE_URL ?? '', { prepare: false }); // PgBouncer may not keep what is prepared
const connect: PostgresPool['connect'] = () =>
  sql.reserve().then((db) => ({ ...db, query: async (q, args) => ({ rows: await db.unsafe(q, args) }) }));

export const inbox = openInbox({
  pool: { connect },
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  on: {
    'order.paid': ({ data }, { done }) =>
      sql.begin(async (tx) => {
        await done((text, values) => tx.unsafe(text, values)); // not commit(): release() closes no connection here
        await tx`INSERT INTO paid VALUES (${data.order_id}, ${data.amount})`;
      }),
  },
});
