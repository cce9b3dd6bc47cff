/**
 * A shop of one page: the Buy button leads to the hosted payment page.
 *
 *     npx merchant-payments exec -- npx tsx examples/redirect-to-checkout.ts
 */
import { createServer } from 'node:http';
import { isPaymentsError, PaymentsClient } from 'merchant-payments';

const payments = new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL
const port = Number(process.env.PORT ?? 3000);
const shopUrl = process.env.SHOP_URL ?? `http://localhost:${port}`;
const mug = await payments.products.create({ name: 'Handmade mug', price: '19.90', currency: 'USD' });

const pages: Record<string, string> = {
  'GET /': `<h1>${mug.name}</h1><p>${mug.price} ${mug.currency}</p><form method="post" action="/buy"><button>Buy</button></form>`,
  // Anybody can open this address: fulfil the order when the webhook says that it is paid, not here.
  'GET /thanks': '<h1>Thank you</h1><p>We are waiting for your payment to be confirmed.</p>',
  'GET /cart': '<h1>Nothing was paid</h1><p><a href="/">Back to the shop</a></p>',
};

createServer(async (request, response) => {
  const route = `${request.method} ${request.url}`;
  if (route === 'POST /buy') {
    try {
      const checkout = await payments.checkouts.create({
        productId: mug.id,
        successUrl: `${shopUrl}/thanks`,
        cancelUrl: `${shopUrl}/cart`,
      });
      return response.writeHead(303, { location: checkout.url }).end();
    } catch (error) {
      console.error(isPaymentsError(error) ? error.message : error);
      return response
        .writeHead(502)
        .end('The payment page cannot be reached. Nothing was charged; try again in a minute.');
    }
  }
  const page = pages[route];
  response
    .writeHead(page ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' })
    .end(page ?? 'Not found');
}).listen(port, () => console.log(`Open ${shopUrl}`));
