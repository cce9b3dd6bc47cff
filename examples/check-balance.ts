/**
 * Compares the balance with your own orders, to notice a payment whose webhook never came. Run it daily:
 *
 *     node --env-file=.env check-balance.ts orders.json     (Node 20: npx tsx --env-file=.env …)
 *
 * Each run compares what came in since the last one, which it keeps in `balance.json`. A surplus is certain: no paid
 * order of yours explains it. Anything else proves nothing, because fees, payouts and refunds lower the balance, the
 * API shows none of them, and a missing webhook can hide behind them. Nor can it name the order: it only lists the
 * unpaid ones that ask for exactly the surplus.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { PaymentsClient } from 'merchant-payments';

/** Your own orders, exported from your database. `paidAt` is when your shop took the webhook, in ISO 8601. */
type Order = { id: string; amount: string; currency: string; paidAt: string | null };
type Run = { total: string; at: string };

const payments = new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL
const read = (file: string | URL): unknown => JSON.parse(readFileSync(file, 'utf8'));
const orders = read(process.argv[2] ?? new URL('orders.json', import.meta.url)) as Order[];
const last = existsSync('balance.json') ? (read('balance.json') as Run) : { total: '0.00', at: '' };
const at = new Date().toISOString();
const { available, pending, frozen, currency } = await payments.balance.retrieve();

// The balance has one currency. What becomes of payments in others is not documented.
const own = orders.filter((order) => order.currency === currency);
const total = cents(available) + cents(pending) + cents(frozen);
const paid = own
  .filter(({ paidAt }) => paidAt && paidAt > last.at && paidAt <= at)
  .reduce((sum, { amount }) => sum + cents(amount), 0n);
const surplus = total - cents(last.total) - paid;

console.log(
  `balance      ${text(total)} ${currency}, ${text(total - cents(last.total))} more than in the last run`,
);
console.log(`paid orders  ${text(paid)} ${currency} since then`);
if (own.length < orders.length)
  console.log('left out    ', orders.length - own.length, 'in other currencies');

if (surplus > 0n) {
  console.log(`${text(surplus)} ${currency} came in that no paid order explains. Is a webhook missing?`);
  for (const { id, amount } of own.filter(({ paidAt, amount }) => !paidAt && cents(amount) === surplus))
    console.log(`  order ${id} is unpaid and asks for ${amount} ${currency}`);
  process.exitCode = 1;
} else if (surplus < 0n) {
  console.log(
    `${text(-surplus)} ${currency} less than your paid orders: fees, payouts or refunds. This proves nothing.`,
  );
} else {
  console.log('They agree. Unless fees, payouts or refunds made up for it, no payment is missing.');
}
writeFileSync('balance.json', JSON.stringify({ total: text(total), at } satisfies Run));

/** Money as whole cents: floats would add up wrong. */
function cents(amount: string): bigint {
  const [, sign = '', units, fraction] = /^(-?)(\d+)(?:\.(\d{1,2})0*)?$/.exec(amount) ?? [];
  if (units === undefined) throw new Error(`"${amount}" is not an amount. Pass a string such as "19.90".`);
  return BigInt(sign + units + (fraction ?? '').padEnd(2, '0'));
}

function text(amount: bigint): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(3, '0');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
