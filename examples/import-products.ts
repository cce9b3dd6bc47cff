/**
 * Creates a product for each row of a CSV file with the columns name, price, currency and sku. Products that exist
 * already (by sku) stay as they are, so you can run it again. Refused rows are reported at the end.
 *
 *     npm install csv-parse
 *     npx merchant-payments exec -- node import-products.ts products.csv     (Node 20: npx tsx …)
 */
import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse';
import { isPaymentsError, PaymentsClient } from 'merchant-payments';

const payments = new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL
const file = process.argv[2] ?? new URL('products.csv', import.meta.url);
const rows = (await createReadStream(file)
  .pipe(parse({ columns: true, trim: true, skip_empty_lines: true, bom: true }))
  .toArray()) as Record<'name' | 'price' | 'currency' | 'sku', string>[];

const known = new Set<string | undefined>();
for await (const { metadata } of payments.products.list({ size: 100 }, { prefetch: 4 }))
  known.add(metadata.sku);

const refused: string[] = [];
let created = 0;
for (const [index, { name, price, currency, sku }] of rows.entries()) {
  if (!known.has(sku)) {
    try {
      await payments.products.create({ name, price, currency, metadata: { sku } });
      created++;
    } catch (error) {
      // A key that is refused, or a service that is down, stops the import; a bad row does not.
      if (!isPaymentsError(error) || !['invalid_params', 'invalid_request'].includes(error.code)) throw error;
      refused.push(`line ${String(index + 2)} (${sku}): ${error.message}`);
    }
  }
  progress(index + 1, rows.length);
}
const already = rows.length - created - refused.length;
console.log(
  `\n${String(created)} created, ${String(already)} already there, ${String(refused.length)} refused`,
);
for (const line of refused) console.log(`  ${line}`);
process.exitCode = refused.length > 0 ? 1 : 0;

function progress(done: number, total: number): void {
  if (!process.stdout.isTTY) return;
  const filled = Math.round((30 * done) / total);
  process.stdout.write(`\r${'█'.repeat(filled)}${'░'.repeat(30 - filled)} ${String(done)}/${String(total)}`);
}
