/**
 * A webhook receiver in Hono: `npm install hono @hono/node-server`. The route is the same on Bun, Deno and Workers.
 *
 *     npx merchant-payments exec --webhook-url http://localhost:3006/webhooks -- node webhooks/hono.ts
 *
 * On Node 20, put `npx tsx` in place of `node`.
 */
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
const port = process.env.PORT ?? '3006';
serve({ fetch: app.fetch, port: Number(port) }, () => {
  console.log(`Waiting for webhooks on http://localhost:${port}/webhooks`);
});
