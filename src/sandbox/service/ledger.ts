import * as z from 'zod/mini';
import type { Balance } from '../../schemas/balance.js';
import { fromCents } from './cents.js';

export type { Balance };

const cents = z.pipe(
  z.string().check(z.regex(/^\d+$/)),
  z.transform((text: string) => BigInt(text)),
);

/** The account's money in cents, or hundredths of whatever the currency is. */
export const storedLedger = z.object({
  available: cents,
  pending: cents,
  frozen: cents,
  updatedAt: z.coerce.date(),
});

export type Ledger = z.output<typeof storedLedger>;

export const viewBalance = (ledger: Ledger, currency: string): Balance => ({
  available: fromCents(ledger.available),
  pending: fromCents(ledger.pending),
  frozen: fromCents(ledger.frozen),
  currency,
  updatedAt: new Date(ledger.updatedAt),
});
