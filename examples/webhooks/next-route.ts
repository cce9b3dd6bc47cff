/** A webhook receiver in Next.js: save it as `app/webhooks/route.ts`. Route handlers get the body unread. */
import { handler } from 'merchant-payments/webhooks';

export const POST = handler({
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  on: {
    'order.paid': async ({ data }) => {
      // Compare amount and currency with your own order before you ship anything.
      console.log(`fulfil ${data.order_id}: ${data.amount} ${data.currency}`);
    },
  },
});
