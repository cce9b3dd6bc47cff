/**
 * Three ways through a list.
 *
 *     npx merchant-payments exec -- npx tsx examples/list-products.ts
 */
import { PaymentsClient } from 'merchant-payments';

const payments = new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL
await payments.products.create({ name: 'Handmade mug', price: '19.90' });
await payments.products.create({ name: 'Poster', price: '5.00' });

// Every product, page after page. Pages are asked for as they are needed.
for await (const product of payments.products.list({ status: 'ACTIVE' })) {
  console.log(`${product.name}: ${product.price} ${product.currency}`);
}

// The same with up to four pages under way at once, for long lists.
let count = 0;
for await (const _ of payments.products.list({ size: 100 }, { prefetch: 4 })) count++;
console.log(`${count} products`);

// Page by page, as behind "Next" buttons.
const page = await payments.products.list({ page: 1, size: 1 });
console.log(
  `page ${page.pagination.page} of ${page.pagination.totalPages}: ${page.items.map((product) => product.name)}`,
);
const next = await page.nextPage();
console.log(
  next ? `page ${next.pagination.page}: ${next.items.map((product) => product.name)}` : 'that was all',
);
