/**
 * A webhook receiver in Hono whose inbox stores each delivery before the response: `npm install hono @hono/node-server`. Needs
 * Node 22.18 or later, Bun or Deno. Where there is no disk, such as in Workers, `handler()` of `merchant-payments/webhooks`
 * takes the place of `inbox.handler`.
 *
 *     npx merchant-payments exec --webhook-url http://localhost:3006/webhooks -- node webhooks/hono.ts
 */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { openInbox } from 'merchant-payments/inbox';

const inbox = openInbox({
  file: process.env.ORDERS_FILE ?? 'orders.sqlite',
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  on: {
    'order.paid': async ({ data }) => {
      // May run again after a crash. Compare amount and currency with your own order before you ship anything.
      console.log(`fulfil ${data.order_id}: ${data.amount} ${data.currency}`);
    },
  },
});

const app = new Hono();
app.post('/webhooks', (c) => inbox.handler(c.req.raw));
const port = process.env.PORT ?? '3006';
const server = serve({ fetch: app.fetch, port: Number(port) }, () => {
  console.log(`Waiting for webhooks on http://localhost:${port}/webhooks`);
});

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    server.close();
    void inbox.close(); // what runs is finished, and the next start does the rest
  });
