/**
 * A webhook receiver in Express 5, beside a global `express.json()` for all other routes: `npm install express`.
 *
 *     npx merchant-payments exec --webhook-url http://localhost:3004/webhooks -- node webhooks/express.ts
 *
 * On Node 20, put `npx tsx` in place of `node`.
 */
import express from 'express';
import { nodeHandler } from 'merchant-payments/webhooks';

const receive = nodeHandler({
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  on: {
    'order.paid': async ({ data }) => {
      // Compare amount and currency with your own order before you ship anything.
      console.log(`fulfil ${data.order_id}: ${data.amount} ${data.currency}`);
    },
  },
});

const app = express();
// Before express.json(): the signature covers the raw body, which a parser would consume.
app.post('/webhooks', receive);
app.use(express.json());
app.post('/cart', (request, response) => {
  const cart = request.body as { items: unknown };
  response.json({ items: cart.items });
});
const port = process.env.PORT ?? '3004';
app.listen(Number(port), () => {
  console.log(`Waiting for webhooks on http://localhost:${port}/webhooks`);
});
