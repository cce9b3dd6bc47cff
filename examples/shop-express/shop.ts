/**
 * The same shop in Express: `npm install express`, then
 *
 *     npx merchant-payments exec --webhook-url http://127.0.0.1:3010/webhooks -- node shop-express/shop.ts
 *
 * On Node 20, put `npx tsx` in place of `node`. The orders, the pages and the goods are those of `../shop`.
 */
import express, { type ErrorRequestHandler } from 'express';
import { isPaymentsError, PaymentsClient } from 'merchant-payments';
import { buy, catalogue } from '../shop/buy.ts';
import { decide, newCounterKey, opens, ordersPath } from '../shop/counter.ts';
import { openOrders } from '../shop/orders.ts';
import { page } from '../shop/pages.ts';
import { pictures } from '../shop/pictures.ts';
import { stock } from '../shop/stock.ts';

const payments = new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL
const port = process.env.PORT ?? '3010';
const shopUrl = process.env.SHOP_URL ?? `http://127.0.0.1:${port}`;
process.umask(0o077); // shop.sqlite holds what customers bought: it is for this user only
const orders = openOrders(process.env.PAYMENTS_WEBHOOK_SECRET);
const counterKey = newCounterKey();
const app = express();

// The addresses of an order's page and of the orders hold a secret, which no other site may see.
app.use((_request, response, next) => {
  response.set({ 'referrer-policy': 'same-origin', 'cache-control': 'no-store' });
  next();
});

// Before any body parser: the signature covers the raw body.
app.post('/webhooks', orders.inbox.nodeHandler);

app.get('/', async (_request, response) => {
  response.send(page.catalogue(await catalogue(payments)));
});

app.post('/buy/:id', async (request, response) => {
  const url = await buy(payments, orders, request.params.id, shopUrl);
  if (url) response.redirect(303, url);
  else response.status(404).send(page.missing());
});

// The customer comes back here, before the webhook or after it.
app.get('/thanks/:id', async (request, response) => {
  const { token } = request.query;
  const order = await orders.comeBack(request.params.id, typeof token === 'string' ? token : '');
  response.status(order ? 200 : 404).send(order ? page.order(order) : page.missing());
});

app.use('/orders', (request, response, next) => {
  if (opens(counterKey, request.originalUrl)) next();
  else response.status(403).send(page.locked());
});
app.get('/orders', async (_request, response) => {
  response.send(await page.orders(orders));
});
app.post('/orders', express.text({ type: '*/*' }), async (request, response) => {
  if (await decide(orders, new URLSearchParams(String(request.body))))
    response.redirect(303, ordersPath(counterKey));
  else response.status(409).send(page.undecided());
});

app.get('/pictures/:name', (request, response, next) => {
  const picture = pictures.get(request.params.name);
  if (picture) response.type('svg').send(picture);
  else next();
});
app.use((_request, response) => {
  response.status(404).send(page.missing());
});
const handleError: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (!isPaymentsError(error)) {
    next(error); // Express responds 400 or 413 to what it cannot read
    return;
  }
  console.error(error.message);
  response.status(502).send(page.failed());
};
app.use(handleError);

// Creates products. Leave this line out where PAYMENTS_BASE_URL is not the sandbox.
await stock(payments, shopUrl);
app.listen(Number(port), '127.0.0.1', () => {
  console.log(`Open ${shopUrl}, and ${shopUrl}${ordersPath(counterKey)} behind the counter`);
});
