import { convertedField } from '../input/fields.js';

const decimalText = /^-?\d+(?:\.\d+)?$/;
/**
 * A pattern of amounts among the numbers that JavaScript prints. A fraction below a millionth has an exponent, so it does
 * not match.
 */
const printedAmount = /^-?\d+(?:\.\d{1,2})?$/;

/** The schema of an amount in either of its wire forms, read as a decimal string with at least two decimals. */
export const money = convertedField(
  (value, refuse) => readMoney(value) ?? refuse(`expected a decimal amount${limitOf(value)}`),
);

/** The schema of an amount that cannot be negative: a price, or the sum that a customer pays. */
export const price = convertedField(
  (value, refuse) => readPrice(value) ?? refuse(`expected a decimal amount, not negative${limitOf(value)}`),
);

/**
 * Reads an amount from the wire as a decimal string with at least two decimals; returns `undefined` if the value
 * is not an amount.
 *
 * The service writes `"19.90"` in some responses and the number `19.9` in others (spec, "Representation notes").
 * A string keeps its decimals. No arithmetic is done on numbers: JavaScript prints the shortest string that parses to the
 * same number, which is the text that the sender wrote as long as a double distinguishes two decimals.
 */
export function readMoney(value: unknown): string | undefined {
  if (typeof value === 'string') return decimalText.test(value) ? withTwoDecimals(value) : undefined;
  if (typeof value !== 'number' || !isExact(value)) return undefined;
  const text = String(value);
  return printedAmount.test(text) ? withTwoDecimals(text) : undefined;
}

/** Reads an amount that cannot be negative. */
export function readPrice(value: unknown): string | undefined {
  const text = readMoney(value);
  return text?.startsWith('-') ? undefined : text;
}

/** Returns the additional limit of a number. A string has none, because it keeps its decimals. */
function limitOf(value: unknown): string {
  return typeof value === 'number' ? ', with at most two decimal places' : '';
}

/**
 * True if a number stands for one amount only. Beyond these limits two amounts share one double, so JSON.parse may have lost
 * a difference.
 */
function isExact(value: number): boolean {
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Math.abs(value) < 2 ** 46;
}

function withTwoDecimals(text: string): string {
  const point = text.indexOf('.');
  if (point === -1) return `${text}.00`;
  return text.length - point === 2 ? `${text}0` : text;
}
