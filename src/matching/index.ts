/**
 * Finds which of your orders a payment is for, and gives open orders amounts that can be told apart. For any runtime.
 *
 * @module merchant-payments/matching
 */
export { InvalidParamsError, PaymentsError } from '../errors.js';
export { type FreeAmountParams, freeAmount } from './free-amount.js';
export { type MatchResult, matchPayments } from './match-payments.js';
export type { MatchParams, UnmatchedPayment, UnpaidOrder } from './params.js';
