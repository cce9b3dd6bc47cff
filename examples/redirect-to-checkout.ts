/**
 * A shop of one page: the Buy button leads to the hosted payment page. `receive-webhook.ts` is its other half.
 *
 *     npx merchant-payments exec -- node redirect-to-checkout.ts     (Node 20: npx tsx redirect-to-checkout.ts)
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isPaymentsError, PaymentsClient, type Product } from 'merchant-payments';

const payments = new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL
const port = process.env.PORT ?? '3001';
const shopUrl = process.env.SHOP_URL ?? `http://localhost:${port}`;
const mug = await findOrCreate('mug', { name: 'Handmade mug', price: '19.90' });

const pages: Record<string, string> = {
  'GET /': `<h1>${mug.name}</h1><p>${mug.price} ${mug.currency}</p><form method="post" action="/buy"><button>Buy</button></form>`,
  // Anybody can open this address: fulfil the order when the webhook says that it is paid, not here.
  'GET /thanks': '<h1>Thank you</h1><p>We are waiting for your payment to be confirmed.</p>',
  'GET /cart': '<h1>Nothing was paid</h1><p><a href="/">Back to the shop</a></p>',
};

async function respond(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  const route = `${request.method ?? ''} ${request.url?.split('?')[0] ?? ''}`;
  const reply = (status: number, body: string) =>
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(body);
  if (route !== 'POST /buy') return reply(pages[route] ? 200 : 404, pages[route] ?? '<h1>Not found</h1>');
  try {
    const checkout = await payments.checkouts.create({
      productId: mug.id,
      successUrl: `${shopUrl}/thanks`,
      cancelUrl: `${shopUrl}/cart`,
    });
    return response.writeHead(303, { location: checkout.url }).end();
  } catch (error) {
    console.error(isPaymentsError(error) ? error.message : error);
    return reply(
      502,
      '<h1>The payment page cannot be reached</h1><p>Nothing was charged. Try again in a minute.</p>',
    );
  }
}

createServer((request, response) => void respond(request, response)).listen(Number(port), () => {
  console.log(`Open ${shopUrl}`);
});

/** Each start uses the same product: your own key in `metadata` finds it again. */
async function findOrCreate(sku: string, params: { name: string; price: string }): Promise<Product> {
  for await (const product of payments.products.list({ status: 'ACTIVE' }))
    if (product.metadata.sku === sku) return product;
  return payments.products.create({ ...params, metadata: { sku } });
}
