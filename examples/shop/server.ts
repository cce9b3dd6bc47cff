/**
 * A small shop to click through, with the sandbox and the webhook between them: `npm start`. By hand:
 *
 *     npx merchant-payments exec --webhook-path /webhooks -- node shop/server.ts
 *
 * On Node 20, put `npx tsx` in place of `node`.
 */
import { createServer } from 'node:http';
import { isPaymentsError, PaymentsClient } from 'merchant-payments';
import { newCounterKey, ordersPath } from './counter.ts';
import { openOrders } from './orders.ts';
import { createShop } from './shop.ts';
import { stock } from './stock.ts';

const port = process.env.PORT ?? '3000';
const shopUrl = process.env.SHOP_URL ?? `http://127.0.0.1:${port}`;

try {
  const payments = new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL
  const counterKey = newCounterKey();
  process.umask(0o077); // shop.sqlite holds what customers bought: it is for this user only
  const orders = openOrders(process.env.PAYMENTS_WEBHOOK_SECRET);
  const shop = createShop({ payments, orders, shopUrl, counterKey });
  // Creates products. Leave this line out where PAYMENTS_BASE_URL is not the sandbox.
  await stock(payments, shopUrl);
  createServer(shop).listen(Number(port), '127.0.0.1', () => {
    console.log(`\n  Shop     ${shopUrl}\n  Orders   ${shopUrl}${ordersPath(counterKey)}`);
    if (process.env.SANDBOX_URL) console.log(`  Sandbox  ${process.env.SANDBOX_URL}`);
    console.log('\n  Buy something and pay with a test card. Ctrl-C stops everything.\n');
  });
} catch (error) {
  console.error(isPaymentsError(error) ? error.message : error);
  process.exitCode = 1;
}
