/** A webhook receiver in Hono, here on Node; the route is the same on Bun, Deno and Cloudflare Workers. */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { handler } from 'merchant-payments/webhooks';

const receive = handler({
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  on: {
    'order.paid': async ({ data }) => {
      // Compare amount and currency with your own order before you ship anything.
      console.log(`fulfil ${data.order_id}: ${data.amount} ${data.currency}`);
    },
  },
});

const app = new Hono();
app.post('/webhooks', (c) => receive(c.req.raw));
serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) });
