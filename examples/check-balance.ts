/**
 * Compares the balance with your own orders, to notice a payment whose webhook never came. Run it daily, or more often:
 *
 *     node --env-file=.env check-balance.ts orders.json     (Node 20: npx tsx --env-file=.env …)
 *
 * `balance.json` keeps how much came in, at the least: every rise of the balance, and every order that was marked as paid
 * over an hour ago. What exceeds your paid orders is a surplus. It is reported in each run until they explain it, also
 * after a payout.
 *
 * A surplus is certain, if nothing but payments raises the balance (a payout that comes back would), and if a payment is
 * in it within an hour after its webhook. The webhook may be lost, or only late.
 *
 * No surplus proves nothing: fees, payouts and refunds lower the balance, the API shows none of them, and a missing
 * webhook can hide behind those since the last run. Fees of later orders make a surplus smaller: look into it at once.
 * Whose it is, it cannot tell. It lists the unpaid orders that ask for exactly the surplus, or for what is new in it.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { PaymentsClient } from 'merchant-payments';

/**
 * All your orders, also refunded ones, and all payments that you hold, exported from your database. `paidAt` is when
 * your shop took the webhook, in ISO 8601. What you can explain otherwise, such as a top-up, gets a row too.
 */
type Order = { id: string; amount: string; currency: string; paidAt: string | null };
type Run = { total: string; cameIn: string; surplus: string };

/** The longest time between a webhook and the money of its order. The service documents no limit. */
const lateMs = 3_600_000;

const payments = new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL
const read = (file: string | URL): unknown => JSON.parse(readFileSync(file, 'utf8'));
const orders = read(process.argv[2] ?? new URL('orders.json', import.meta.url)) as Order[];
const none: Run = { total: '0.00', cameIn: '0.00', surplus: '0.00' };
const last = existsSync('balance.json') ? (read('balance.json') as Run) : none;
const { available, pending, frozen, currency } = await payments.balance.retrieve();

// The balance has one currency. What becomes of payments in others is not documented.
const own = orders.filter((order) => order.currency === currency);
const total = cents(available) + cents(pending) + cents(frozen);
const rise = total - cents(last.total);
const paid = sumPaidUntil(Number.POSITIVE_INFINITY);
const cameIn = max(cents(last.cameIn) + max(rise, 0n), sumPaidUntil(Date.now() - lateMs));
const surplus = max(cameIn - paid, 0n);

console.log(
  `balance      ${text(total)} ${currency}${last === none ? '' : `, ${text(rise)} more than in the last run`}`,
);
console.log(`came in      ${text(cameIn)} ${currency}, or more`);
console.log(`paid orders  ${text(paid)} ${currency}`);
if (own.length < orders.length)
  console.log('left out    ', orders.length - own.length, 'in other currencies');

if (surplus > 0n) {
  console.log(`${text(surplus)} ${currency} came in that no paid order explains. Is a webhook missing?`);
  const amounts = [surplus, surplus - cents(last.surplus)];
  for (const { id, amount } of own.filter(({ paidAt, amount }) => !paidAt && amounts.includes(cents(amount))))
    console.log(`  order ${id} is unpaid and asks for ${amount} ${currency}`);
  process.exitCode = 1;
} else {
  console.log(
    'Your paid orders explain what came in. Behind fees, payouts or refunds, a payment may be missing.',
  );
}
writeFileSync(
  'balance.json',
  JSON.stringify({ total: text(total), cameIn: text(cameIn), surplus: text(surplus) } satisfies Run),
);

function sumPaidUntil(time: number): bigint {
  const until = own.filter(({ paidAt }) => paidAt && Date.parse(paidAt) <= time);
  return until.reduce((sum, { amount }) => sum + cents(amount), 0n);
}

function max(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

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
