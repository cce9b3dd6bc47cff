import { convertedField } from '../input/fields.js';

const decimalText = /^-?\d+(?:\.\d+)?$/;
/** A number that is an amount, as JavaScript prints it; a fraction below a millionth has an exponent. */
const printedAmount = /^-?\d+(?:\.\d{1,2})?$/;

/** An amount in either of its wire forms, read as a decimal string with at least two decimals. */
export const money = convertedField(
  (value, refuse) => readMoney(value) ?? refuse(`expected a decimal amount${limitOf(value)}`),
);

/** An amount that cannot be negative: a price, or what a customer pays. */
export const price = convertedField(
  (value, refuse) => readPrice(value) ?? refuse(`expected a decimal amount, not negative${limitOf(value)}`),
);

/**
 * Reads an amount from the wire as a decimal string with at least two decimals; returns `undefined` if it is none.
 *
 * The service writes `"19.90"` in some responses and the number `19.9` in others (spec, "Representation notes").
 * A string keeps its decimals. No arithmetic is done on numbers: JavaScript prints the shortest string that
 * parses to the same number, which is what the sender wrote as long as two decimals are exact in a double.
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

/** Says what holds for numbers alone: a string keeps its decimals. */
function limitOf(value: unknown): string {
  return typeof value === 'number' ? ', with at most two decimal places' : '';
}

/** True unless JSON.parse may have lost a difference: beyond these limits two amounts share one double. */
function isExact(value: number): boolean {
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Math.abs(value) < 2 ** 46;
}

function withTwoDecimals(text: string): string {
  const point = text.indexOf('.');
  if (point === -1) return `${text}.00`;
  return text.length - point === 2 ? `${text}0` : text;
}
