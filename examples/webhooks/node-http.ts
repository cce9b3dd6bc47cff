/**
 * A webhook receiver on `node:http`, without a framework. The handler reads the raw body itself.
 *
 *     npx merchant-payments exec --webhook-url http://localhost:3003/webhooks -- node webhooks/node-http.ts
 *
 * On Node 20, put `npx tsx` in place of `node`.
 */
import { createServer } from 'node:http';
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

const port = process.env.PORT ?? '3003';
createServer((request, response) => {
  if (request.url?.split('?')[0] === '/webhooks') {
    void receive(request, response);
    return;
  }
  response.writeHead(404).end();
}).listen(Number(port), () => {
  console.log(`Waiting for webhooks on http://localhost:${port}/webhooks`);
});
