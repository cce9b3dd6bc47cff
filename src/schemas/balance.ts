import * as z from 'zod/mini';
import type { CurrencyCode } from './currency.js';
import { moment } from './moment.js';
import { money } from './money.js';

/**
 * The balance of the merchant's account: decimal strings in one `currency`. What counts as available, pending or frozen
 * is not documented. Spec, "Balance".
 */
export interface Balance {
  /** Such as `"120.00"`. */
  available: string;
  /** Such as `"45.50"`. */
  pending: string;
  /** Such as `"0.00"`. */
  frozen: string;
  /** The currency of all three amounts. */
  currency: CurrencyCode;
  /** When the service last updated it. */
  updatedAt: Date;
}

export const balanceSchema: z.ZodMiniType<Balance> = z.looseObject({
  available: money,
  pending: money,
  frozen: money,
  currency: z.string(),
  updatedAt: moment,
});
