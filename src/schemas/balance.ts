import type * as z from 'zod/mini';
import type { CurrencyCode } from './currency.js';
import { moment, money, record, text } from './wire.js';

/** The balance of the merchant's account. All amounts are decimal strings in one `currency`. What the three
 * mean is not documented. Spec, "Balance". */
export interface Balance {
  /** As the service calls it. */
  available: string;
  /** As the service calls it. */
  pending: string;
  /** As the service calls it. */
  frozen: string;
  /** The currency of all three amounts. */
  currency: CurrencyCode;
  /** When the service last updated it. */
  updatedAt: Date;
}

export const balanceSchema = record({
  available: money,
  pending: money,
  frozen: money,
  currency: text,
  updatedAt: moment,
}) satisfies z.ZodMiniType<Balance>;
