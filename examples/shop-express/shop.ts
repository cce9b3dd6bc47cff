/**
 * A complete small shop in Express: catalogue, Buy button, payment page, webhook, order list.
 *
 *     npm install express merchant-payments
 *     npx merchant-payments exec -- npx tsx shop.ts
 */
import express from 'express';
import { PaymentsClient, webhooks } from 'merchant-payments';
import { type Order, orders, page } from './pages.js';

const payments = new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL
const port = Number(process.env.PORT ?? 3000);
const shopUrl = process.env.SHOP_URL ?? `http://localhost:${port}`;
const app = express();

// Before any body parser: the handler reads the raw body itself, verifies it, and answers.
app.post(
  '/webhooks',
  webhooks.nodeHandler({
    secret: process.env.PAYMENTS_WEBHOOK_SECRET ?? '',
    on: {
      'order.paid': async ({ data }) => {
        // The service does not say which checkout an order came from, so amount and currency have to agree.
        const order = orders.find(
          ({ paidAs, amount, currency }) => !paidAs && amount === data.amount && currency === data.currency,
        );
        if (order) order.paidAs = data.order_id;
        else console.warn(`${data.order_id} paid ${data.amount} ${data.currency}, and no order asks for it`);
      },
    },
    onError: (error) => console.error(error),
  }),
);

app.get('/', async (_request, response) => {
  const { items } = await payments.products.list({ status: 'ACTIVE' });
  response.send(page.catalogue(items));
});

app.post('/buy/:id', async (request, response) => {
  const checkout = await payments.checkouts.create({
    productId: request.params.id,
    successUrl: `${shopUrl}/orders`,
    cancelUrl: shopUrl,
  });
  // What is to be paid is read back from the service: what a form says proves nothing.
  const { items } = await payments.products.list({ size: 100 });
  const product = items.find(({ id }) => id === request.params.id);
  if (product)
    orders.push({ name: product.name, amount: product.price, currency: product.currency } satisfies Order);
  response.redirect(303, checkout.url);
});

// The customer comes back here before or after the webhook, so the page says which.
app.get('/orders', (_request, response) => {
  response.send(page.orders());
});

app.listen(port, '127.0.0.1', () => console.log(`Open ${shopUrl}`));
