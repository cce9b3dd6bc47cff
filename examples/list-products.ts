/**
 * Three ways through a list.
 *
 *     npx merchant-payments exec -- node list-products.ts     (Node 20: npx tsx list-products.ts)
 */
import { PaymentsClient, type Product } from 'merchant-payments';
import { stock } from './shop/stock.ts';

const payments = new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL
await stock(payments, 'http://127.0.0.1:3000'); // a new sandbox is empty

// Every product. Pages are requested as they are needed.
for await (const product of payments.products.list({ status: 'ACTIVE' })) {
  console.log(`${product.name}: ${product.price} ${product.currency}`);
}

// The same with up to four pages in flight, for long lists.
let count = 0;
for await (const _ of payments.products.list({ size: 100 }, { prefetch: 4 })) count++;
console.log(count, 'products');

// Page by page, as behind "Next" buttons.
const page = await payments.products.list({ page: 1, size: 2 });
console.log(`page 1 of ${String(page.pagination.totalPages)}: ${names(page.items)}`);
const next = await page.nextPage(); // null after the last page
console.log(`page 2: ${names(next?.items ?? [])}`);

function names(products: readonly Product[]): string {
  return products.map(({ name }) => name).join(', ');
}
