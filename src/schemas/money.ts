const decimalText = /^-?\d+(?:\.\d+)?$/;
/** How an amount in a number is printed; a fraction below a millionth has an exponent. */
const printedAmount = /^-?\d+(?:\.\d{1,2})?$/;

/**
 * Reads an amount from the wire as a decimal string with at least two decimals, or `undefined` if invalid.
 *
 * The service writes `"19.90"` in some responses and the number `19.9` in others (spec, "Representation notes").
 * A string keeps its decimals. No arithmetic is done on numbers: JavaScript prints the shortest string that
 * parses to the same number, which is what the sender wrote as long as two decimals are exact in a double.
 */
export function readMoney(value: unknown): string | undefined {
  if (typeof value === 'string') return decimalText.test(value) ? twoDecimals(value) : undefined;
  if (typeof value !== 'number' || !isExact(value)) return undefined;
  const text = String(value);
  return printedAmount.test(text) ? twoDecimals(text) : undefined;
}

/** Reads an amount that cannot be negative: a price, or what a customer pays. */
export function readPrice(value: unknown): string | undefined {
  const text = readMoney(value);
  return text?.startsWith('-') ? undefined : text;
}

/** Beyond these limits two amounts share one double, so JSON.parse has already lost the difference. */
function isExact(value: number): boolean {
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Math.abs(value) < 2 ** 46;
}

function twoDecimals(text: string): string {
  const point = text.indexOf('.');
  if (point === -1) return `${text}.00`;
  return text.length - point === 2 ? `${text}0` : text;
}
