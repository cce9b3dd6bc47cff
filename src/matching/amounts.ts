import * as z from 'zod/mini';
import { checkPrototype } from '../input/pollution.js';
import { readParams } from '../input/read.js';

/** Parameters of `freeAmount()`: decimal strings of one currency. */
export interface FreeAmountParams {
  /** The amount that the customer should pay, which is the highest that can be returned. At most two decimals, as a price has. */
  price: string;
  /** The amounts of unpaid orders, and of paid orders for a day, because a page that is still open may pay again. */
  taken: Iterable<string>;
  /** The most that an amount may be below the price. */
  most: string;
  /** The difference between two amounts. Default: `'0.01'`. A currency without decimals needs `'1'`. */
  step?: string | undefined;
}

const notDecimal = 'must be a decimal string such as "19.90".';

/** The schema of an amount, with any number of decimals. */
export const decimalAmount = z.string(notDecimal).check(z.regex(/^\d+(\.\d+)?$/, notDecimal));

/** The schema of an amount that a price can have. */
export const likeAPrice = decimalAmount.check(
  z.refine((amount) => /^\d+(\.\d{1,2})?$/.test(removeZeros(amount)), 'has more than two decimals.'),
);
/** The schema of a price that is more than zero. */
export const aboveZero = likeAPrice.check(
  z.refine((amount) => /[1-9]/.test(amount), 'must be more than zero.'),
);

const isIterable = (value: unknown) =>
  typeof value === 'object' && value !== null && Symbol.iterator in value;

const freeAmountParams = z.strictObject({
  price: aboveZero,
  taken: z.pipe(
    z.pipe(
      z.custom<Iterable<unknown>>(isIterable, 'must be an array of amounts.'),
      z.transform((taken) => Array.from(taken)),
    ),
    z.array(decimalAmount),
  ),
  most: likeAPrice,
  step: z._default(aboveZero, '0.01'),
});

/**
 * Returns the highest amount, at most `most` below the price, that is not taken, or `undefined` if none is left.
 * Choose and reserve it in one transaction: two customers at once must not get the same one.
 *
 * @throws {InvalidParamsError} an amount is not a decimal string, or has more decimals than a price.
 * @throws {ConfigurationError} `Object.prototype` has a field of its own.
 */
export function freeAmount(params: FreeAmountParams): string | undefined {
  checkPrototype();
  const { price, taken, most, step } = readParams('freeAmount', freeAmountParams, params);
  const used = new Set(taken.map(removeZeros));
  const isWhole = ![price, most, step].some((amount) => amount.includes('.'));
  for (const amount of amountsBelow({ price, most, step }))
    if (!used.has(removeZeros(amount))) return isWhole ? removeZeros(amount) : amount;
  return undefined;
}

/** Yields each amount from the price down to `most` below it, with two decimals. */
export function* amountsBelow({ price, most, step }: Record<'price' | 'most' | 'step', string>) {
  const least = hundredths(price) - hundredths(most);
  for (let amount = hundredths(price); amount > 0n && amount >= least; amount -= hundredths(step)) {
    const digits = String(amount).padStart(3, '0');
    yield `${digits.slice(0, -2)}.${digits.slice(-2)}`;
  }
}

/** Returns an amount of at most two decimals in hundredths. */
function hundredths(amount: string): bigint {
  const [whole = '', fraction = ''] = removeZeros(amount).split('.');
  return BigInt(whole + fraction.padEnd(2, '0'));
}

/** Returns an amount without the zeros that change nothing: `19.90` and `19.9` are the same. */
export function removeZeros(amount: string): string {
  const [whole = '', decimals = ''] = amount.split('.');
  const kept = decimals.replace(/(?<!0)0+$/, '');
  return whole.replace(/^0+(?=\d)/, '') + (kept === '' ? '' : `.${kept}`);
}
