import { InvalidParamsError } from '../errors.js';

/** Decimal strings of one currency. */
export interface FreeAmountParams {
  /** What the customer should pay: the highest amount that can be returned. */
  price: string;
  /** The amounts of unpaid orders, and of paid ones for a day: an open page may pay again. */
  taken: Iterable<string>;
  /** How far below the price an amount may be. */
  most: string;
  /** How far two amounts are apart. Default: `'0.01'`. A currency without decimals needs `'1'`. */
  step?: string | undefined;
}

/**
 * Returns the highest amount, at most `most` below the price, that is not taken, or `undefined` if none is left.
 * Choose and reserve it in one transaction: two customers at once must not get the same one.
 *
 * @throws {InvalidParamsError} an amount is not a decimal string.
 */
export function freeAmount(params: FreeAmountParams): string | undefined {
  const names = { price: undefined, taken: undefined, most: undefined, step: undefined };
  const { price, taken, most, step = '0.01' } = ownParams('freeAmount', params, names);
  for (const [name, sum] of Object.entries({ price, most, step })) {
    if (readAmount('freeAmount', name, sum) === '0' && name !== 'most')
      throw invalid('freeAmount', name, 'must be more than zero.');
  }
  if (typeof taken?.[Symbol.iterator] !== 'function' || typeof taken === 'string')
    throw invalid('freeAmount', 'taken', 'must be an array of amounts.');
  const used = new Set(Array.from(taken, (sum, at) => readAmount('freeAmount', `taken.${at}`, sum)));

  const decimals = Math.max(...[price, most, step].map((sum) => sum.split('.')[1]?.length ?? 0));
  const units = (sum: string) => {
    const [whole = '', fraction = ''] = sum.split('.');
    return BigInt(whole + fraction.padEnd(decimals, '0'));
  };
  const least = units(price) - units(most);
  for (let free = units(price); free > 0n && free >= least; free -= units(step)) {
    const digits = String(free).padStart(decimals + 1, '0');
    const amount = digits.replace(new RegExp(`(?=\\d{${decimals}}$)`), decimals > 0 ? '.' : '');
    if (!used.has(readAmount('freeAmount', 'price', amount))) return amount;
  }
  return undefined;
}

/** An amount without the zeros that change nothing: `19.90` and `19.9` are the same. */
export function readAmount(name: string, path: string, amount: unknown): string {
  if (typeof amount !== 'string' || !/^\d+(\.\d+)?$/.test(amount))
    throw invalid(name, path, 'must be a decimal string such as "19.90".');
  const [whole = '', decimals = ''] = amount.split('.');
  const kept = decimals.replace(/(?<!0)0+$/, '');
  return whole.replace(/^0+(?=\d)/, '') + (kept === '' ? '' : `.${kept}`);
}

/** The own properties: a polluted `Object.prototype` must not make returns trusted. */
export function ownParams<Params extends object>(
  name: string,
  params: Params,
  known: Readonly<Record<keyof Params, undefined>>,
): Params {
  if (typeof params !== 'object' || params === null) throw invalid(name, '', 'must be an object.');
  const unknown = Object.keys(params).find((key) => !Object.hasOwn(known, key));
  if (unknown === undefined) return { ...known, ...params };
  throw invalid(name, unknown, `is not a parameter. Known are ${Object.keys(known).join(', ')}.`);
}

export function invalid(name: string, path: string, message: string): InvalidParamsError {
  return new InvalidParamsError({ operation: name }, [{ path, message }]);
}
