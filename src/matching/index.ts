/**
 * Finds which of your orders a payment is for, and gives open orders amounts that can be told apart. For any runtime.
 *
 * @module merchant-payments/matching
 */
export { ConfigurationError, InvalidParamsError, PaymentsError } from '../errors.js';
export type { Duration } from '../input/duration.js';
export { type FreeAmountParams, freeAmount } from './amounts.js';
export type { MatchParams, MatchResult, UnmatchedPayment, UnpaidOrder } from './match-payments.js';
export { matchPayments } from './match-payments.js';
