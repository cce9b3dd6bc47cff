import type { Balance } from '../../schemas/balance.js';

/** Returns a decimal string with at most two decimals as a count of hundredths. */
export function toCents(amount: string): bigint {
  const [whole = '', decimals = ''] = amount.split('.');
  return BigInt(whole + decimals.padEnd(2, '0'));
}

/** Returns hundredths as a decimal string with two decimals. */
export function fromCents(cents: bigint): string {
  const digits = cents.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Returns a decimal string with two decimals: `"19.9"` becomes `"19.90"`. */
export const twoDecimals = (amount: string): string => fromCents(toCents(amount));

/** The account's money in cents, or hundredths of the balance's currency. */
export type Ledger = { available: bigint; pending: bigint; updatedAt: Date };

export const viewBalance = (ledger: Ledger, currency: string): Balance => ({
  available: fromCents(ledger.available),
  pending: fromCents(ledger.pending),
  // The specification does not say what freezes money, so none is frozen.
  frozen: '0.00',
  currency,
  updatedAt: new Date(ledger.updatedAt),
});
