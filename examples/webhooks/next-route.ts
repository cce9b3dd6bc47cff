/** A webhook receiver in Next.js: save it as `app/webhooks/route.ts`. Next.js leaves the body unread. */
import { handler } from 'merchant-payments/webhooks';

export const POST = handler({
  // A function, because `next build` runs without the secret.
  secret: () => process.env.PAYMENTS_WEBHOOK_SECRET,
  on: {
    'order.paid': async ({ data }) => {
      // Compare amount and currency with your own order before you ship anything.
      console.log(`fulfil ${data.order_id}: ${data.amount} ${data.currency}`);
    },
  },
});
