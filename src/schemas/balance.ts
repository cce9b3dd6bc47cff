import * as z from 'zod/mini';
import type { CurrencyCode } from './currency.js';
import { moment } from './moment.js';
import { money } from './money.js';

/**
 * The balance of the merchant's account: decimal strings in one `currency`. The service does not document the meaning of
 * available, pending and frozen. Spec, "Balance".
 */
export interface Balance {
  /** The available amount, such as `"120.00"`. */
  available: string;
  /** The pending amount, such as `"45.50"`. */
  pending: string;
  /** The frozen amount, such as `"0.00"`. */
  frozen: string;
  /** The currency of all three amounts. */
  currency: CurrencyCode;
  /** The time of the last update by the service. */
  updatedAt: Date;
}

export const balanceSchema: z.ZodMiniType<Balance> = z.looseObject({
  available: money,
  pending: money,
  frozen: money,
  currency: z.string(),
  updatedAt: moment,
});
