/**
 * Compares the balance with your own orders, to notice a payment whose webhook never came.
 *
 *     node --env-file=.env check-balance.ts orders.json     (Node 20: npx tsx --env-file=.env …)
 *
 * A surplus is certain: money came in that no paid order of yours explains. Anything else proves nothing, because
 * fees, payouts and refunds lower the balance, the API shows none of them, and a missing webhook can hide behind them.
 * It cannot name the order either: it only lists the unpaid ones that ask for exactly the surplus.
 */
import { readFileSync } from 'node:fs';
import { PaymentsClient } from 'merchant-payments';

/** Your own orders, exported from your database. Amounts are decimal strings, `paid` is what your shop believes. */
type Order = { id: string; amount: string; currency: string; paid: boolean };

const payments = new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL
const orders: Order[] = JSON.parse(readFileSync(process.argv[2] ?? 'orders.json', 'utf8'));
const { available, pending, frozen, currency } = await payments.balance.retrieve();

// The balance has one currency. What becomes of payments in others is not documented.
const own = orders.filter((order) => order.currency === currency);
const total = cents(available) + cents(pending) + cents(frozen);
const paid = own.filter((order) => order.paid).reduce((sum, { amount }) => sum + cents(amount), 0n);
const surplus = total - paid;

console.log(
  `balance      ${text(total)} ${currency}: available ${available}, pending ${pending}, frozen ${frozen}`,
);
console.log(`paid orders  ${text(paid)} ${currency}`);
if (own.length < orders.length) console.log(`left out     ${orders.length - own.length} in other currencies`);

if (surplus > 0n) {
  console.log(`${text(surplus)} ${currency} came in that no paid order explains. Is a webhook missing?`);
  for (const { id, amount } of own.filter((order) => !order.paid && cents(order.amount) === surplus))
    console.log(`  order ${id} is unpaid and asks for ${amount} ${currency}`);
  process.exitCode = 1;
} else if (surplus < 0n) {
  console.log(
    `${text(-surplus)} ${currency} less than your paid orders: fees, payouts or refunds. This proves nothing.`,
  );
} else {
  console.log('They agree. Unless fees, payouts or refunds made up for it, no payment is missing.');
}

/** Money as whole cents: floats would add up wrong. */
function cents(amount: string): bigint {
  const [, sign, units, fraction] = /^(-?)(\d+)(?:\.(\d{1,2})0*)?$/.exec(amount) ?? [];
  if (units === undefined)
    throw new Error(`${JSON.stringify(amount)} is no amount. Pass a string such as "19.90".`);
  return BigInt(sign + units + (fraction ?? '').padEnd(2, '0'));
}

function text(amount: bigint): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(3, '0');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
