// npm install @prisma/client @prisma/adapter-pg pg. A transaction of Prisma also marks the delivery done.
import { PrismaPg } from '@prisma/adapter-pg';
import { openInbox } from 'merchant-payments/inbox';
import { Pool } from 'pg';
import { PrismaClient } from './prisma-client/client.ts'; // made by `prisma generate`

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });

export const inbox = openInbox({
  pool,
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  on: {
    'order.paid': ({ data }, { done }) =>
      prisma.$transaction(async (tx) => {
        await done((sql, values) => tx.$queryRawUnsafe(sql, ...values));
        await tx.paid.create({ data: { order_id: data.order_id, amount: data.amount } });
      }),
  },
});
