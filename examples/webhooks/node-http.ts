/** A webhook receiver on `node:http`, without a framework. The handler reads the raw body itself. */
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

createServer((request, response) => {
  if (request.url === '/webhooks') return void receive(request, response);
  response.writeHead(404).end();
}).listen(Number(process.env.PORT ?? 3000));
