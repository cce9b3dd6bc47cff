/**
 * Writes the whole catalogue to standard output as CSV.
 *
 *     node --env-file=.env export-products.ts > catalogue.csv     (Node 20: npx tsx --env-file=.env …)
 */
import { PaymentsClient } from 'merchant-payments';

const payments = new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL

/** Quotes a field, and keeps a spreadsheet from taking text for a formula. */
function field(value: string): string {
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return `"${text.replaceAll('"', '""')}"`;
}

console.log('id,name,price,currency,status,sku,createdAt');
for await (const product of payments.products.list({ size: 100 }, { prefetch: 4 })) {
  const { id, name, price, currency, status, metadata, createdAt } = product;
  console.log(
    [id, name, price, currency, status, metadata.sku ?? '', createdAt.toISOString()].map(field).join(','),
  );
}
