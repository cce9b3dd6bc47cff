/**
 * Fills the catalogue of the example shops with three products. Run it as often as you like: what is there stays.
 * The pictures are those of the shop on port 3000. For another one, set SHOP_URL=http://127.0.0.1:3020 first.
 *
 *     node --env-file=.env stock-the-shop.ts     (Node 20: npx tsx --env-file=.env stock-the-shop.ts)
 */
import { PaymentsClient } from 'merchant-payments';
import { stock } from './shop/stock.ts';

const payments = new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL
await stock(payments, process.env.SHOP_URL ?? 'http://127.0.0.1:3000');
for await (const { name, price, currency } of payments.products.list({ status: 'ACTIVE' }))
  console.log(`${name}: ${price} ${currency}`);
