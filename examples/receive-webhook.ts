/**
 * A webhook receiver on `node:http` that fulfils each order once, and only when the price is right.
 *
 *     PAYMENTS_WEBHOOK_SECRET=... npx tsx examples/receive-webhook.ts
 */
import { createServer } from 'node:http';
import { nodeHandler, type OrderPaidEvent, type UnknownEvent } from 'merchant-payments/webhooks';

/** What you sell, from your own database: the event says what was paid, your shop knows what it asked for. */
const prices = new Map([['19.90 USD', 'Handmade mug']]);

const receive = nodeHandler({
  secret: process.env.PAYMENTS_WEBHOOK_SECRET,
  on: { 'order.paid': fulfil },
  onUnknown: (event: UnknownEvent) => console.log(`a new kind of event, ignored: ${event.originalType}`),
  onError: (error) => console.error(String(error)),
});

async function fulfil({ data }: OrderPaidEvent): Promise<void> {
  const paid = `${data.amount} ${data.currency}`;
  const item = prices.get(paid);
  if (item) console.log(`fulfil ${data.order_id}: ${item}, ${paid}`);
  else console.log(`hold ${data.order_id}: nothing costs ${paid}`);
}

const port = Number(process.env.PORT ?? 3000);
createServer((request, response) => {
  if (request.url === '/webhooks') return void receive(request, response);
  response.writeHead(404).end();
}).listen(port, () => console.log(`Waiting for deliveries on http://localhost:${port}/webhooks`));
