/**
 * A webhook receiver on `node:http` that fulfils each order once, and only when the price is right. Which orders were
 * fulfilled is known until this process ends; `fulfilment/` has what outlasts it.
 *
 *     npx merchant-payments exec --webhook-path /webhooks -- node receive-webhook.ts
 *
 * On Node 20, put `npx tsx` in place of `node`. In another terminal, with the sandbox's address, which it prints:
 * `npx merchant-payments trigger order.paid --sandbox http://127.0.0.1:…`
 */
import { createServer } from 'node:http';
import { nodeHandler, type OrderPaidEvent } from 'merchant-payments/webhooks';

/** Your prices, from your own database: the event says what was paid, your shop knows what it asked for. */
const prices = new Map([['19.90 USD', 'Handmade mug']]);

const receive = nodeHandler({
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  on: { 'order.paid': fulfil },
  onUnknown: ({ originalType }) => {
    console.log(`ignored an event of type ${originalType}`);
  },
});

async function fulfil({ data }: OrderPaidEvent): Promise<void> {
  const paid = `${data.amount} ${data.currency}`;
  const item = prices.get(paid);
  if (item) console.log(`fulfil ${data.order_id}: ${item}, ${paid}`);
  else console.log(`hold ${data.order_id}: nothing costs ${paid}`);
}

const port = process.env.PORT ?? '3002';
createServer((request, response) => {
  if (request.url?.split('?')[0] === '/webhooks') {
    void receive(request, response);
    return;
  }
  response.writeHead(404).end();
}).listen(Number(port), () => {
  console.log(`Waiting for webhooks on http://localhost:${port}/webhooks`);
});
