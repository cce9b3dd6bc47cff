/**
 * Prints what the account holds as a table, amounts aligned at the decimal point.
 *
 *     npx merchant-payments exec -- node print-balance.ts     (Node 20: npx tsx print-balance.ts)
 */
import { PaymentsClient } from 'merchant-payments';

const payments = new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL
const { available, pending, frozen, currency, updatedAt } = await payments.balance.retrieve();

const rows = Object.entries({ available, pending, frozen });
const width = Math.max(...rows.map(([, amount]) => amount.length));
for (const [name, amount] of rows) console.log(`${name.padEnd(10)} ${amount.padStart(width)} ${currency}`);
console.log(`as of ${updatedAt.toISOString()}`);
