import * as z from 'zod/mini';
import type { CurrencyCode } from './currency.js';
import type { Metadata } from './metadata.js';
import { readMoney } from './money.js';
import { isPlainObject } from './object.js';
import { hasBlankOrControl, parseAbsoluteUrl, unsafeSchemes } from './url.js';

/** What `products.create` sends. Spec, "POST /v1/products: create a product". */
export interface ProductCreateParams {
  /** 1 to 200 characters. */
  name: string;
  /** Decimal string with at most two decimals, at least `"0.01"`. */
  price: string;
  /** At most 1000 characters. */
  description?: string | undefined;
  /** Absolute URL. */
  image?: string | undefined;
  /** Three-letter ISO 4217 code. Default of the service: USD. */
  currency?: CurrencyCode | undefined;
  /** Strings by name, kept with the product and returned with it. */
  metadata?: Metadata | undefined;
}

/** What `products.update` sends: at least one field. Spec, "PATCH /v1/products/{id}: update a product". */
export type ProductUpdateParams = {
  [Field in keyof ProductCreateParams]?: ProductCreateParams[Field] | undefined;
};

/** Which products, and which page of them. Spec, "GET /v1/products: list products". */
export interface ProductListParams {
  /** Only products in this status. Default: all. */
  status?: 'ACTIVE' | 'ARCHIVED' | undefined;
  /** 1-based. Default 1. */
  page?: number | undefined;
  /** Items per page, 1 to 100. Default 20. */
  size?: number | undefined;
}

/** What `checkouts.create` sends. Spec, "POST /v1/checkouts: create a checkout session". */
export interface CheckoutCreateParams {
  /** The product to sell. */
  productId: string;
  /** Where the customer returns after paying: an absolute URL. */
  successUrl?: string | undefined;
  /** Where the customer returns after cancelling: an absolute URL. */
  cancelUrl?: string | undefined;
  /** A campaign, store or app name shown on the payment page instead of the account's name. */
  displayMerchantName?: string | undefined;
}

/** The limits that the spec states, each once. Sandbox and client check against these. */
export const limits = {
  nameLength: 200,
  descriptionLength: 1000,
  price: /^\d+(\.\d{1,2})?$/,
  pageSize: 100,
} as const;

/** What is wrong with a value, to follow the field's name in a message; `undefined` if nothing is. */
type Problem = (value: unknown) => string | undefined;

function checked<T>(is: (value: unknown) => value is T, problem: Problem): z.ZodMiniType<T> {
  return z.transform((value, context): T => {
    const message = problem(value);
    if (message === undefined && is(value)) return value;
    context.issues.push({ code: 'custom', message: message ?? 'has the wrong type', input: value });
    return z.NEVER;
  });
}

const loneSurrogate = /\p{Surrogate}/u;
const isString = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';

/** A string that passes `problem`; for anything else the message says what it is and what to pass. */
function text(wanted: string, problem: (value: string) => string | undefined): z.ZodMiniType<string> {
  return checked(isString, (value) => {
    if (value === undefined) return `is missing. Pass ${wanted}.`;
    return isString(value) ? problem(value) : `${whatItIs(value)}. Pass ${wanted}.`;
  });
}

const name = text(`a string of 1 to ${limits.nameLength} characters`, (value) => {
  const length = characters(value);
  if (length >= 1 && length <= limits.nameLength) return undefined;
  return length === 0
    ? 'is empty. Pass at least one character.'
    : `has ${length} characters. Pass at most ${limits.nameLength}.`;
});

const description = text(`a string of at most ${limits.descriptionLength} characters`, (value) => {
  const length = characters(value);
  return length <= limits.descriptionLength
    ? undefined
    : `has ${length} characters. Pass at most ${limits.descriptionLength}.`;
});

const price = checked(isString, (value) => {
  if (value === undefined) return 'is missing. Pass a decimal string, such as "19.90".';
  if (!isString(value)) {
    const text = isNumber(value) && value > 0 ? readMoney(value) : undefined;
    return text === undefined
      ? `${whatItIs(value)}. Pass a decimal string with at most two decimals, such as "19.90".`
      : `${whatItIs(value)}. Pass a string: "${text}".`;
  }
  if (!limits.price.test(value)) {
    return /^\d+\.\d{3,}$/.test(value)
      ? `${quote(value)} has more than two decimals. Pass at most two, such as "0.01".`
      : `${quote(value)} is not a decimal amount. Pass digits with at most two decimals, such as "19.90".`;
  }
  return /[1-9]/.test(value) ? undefined : `${quote(value)} is below the least price, "0.01".`;
});

const currency = text('a three-letter ISO code, such as "USD"', (value) => {
  if (/^[A-Z]{3}$/.test(value)) return undefined;
  return /^[A-Za-z]{3}$/.test(value)
    ? `${quote(value)} is not in upper case. Pass "${value.toUpperCase()}".`
    : `${quote(value)} is not a three-letter ISO code, such as "USD".`;
});

const url = text('an absolute URL, such as "https://shop.example/thanks"', (value) => {
  const parsed = parseAbsoluteUrl(value);
  if (!parsed)
    return `${quote(value)} is not an absolute URL. Pass one such as "https://shop.example/thanks".`;
  return unsafeSchemes.includes(parsed.protocol)
    ? `has the scheme ${parsed.protocol}, which is not safe. Pass an https: URL.`
    : undefined;
});

const id = checked(isString, idProblem);

/** What is wrong with an id. It becomes one segment of the path and must not change the rest of it. */
export function idProblem(value: unknown): string | undefined {
  const problem = idFault(value);
  return problem && `${problem}. Pass the id that the service assigned.`;
}

function idFault(value: unknown): string | undefined {
  if (value === undefined) return 'is missing';
  if (!isString(value)) return whatItIs(value);
  if (value === '') return 'is empty';
  if (value === '.' || value === '..') return `${quote(value)} would change the path`;
  if (value.length > 1024) return `has ${value.length} characters, and at most 1024 are sent`;
  if (hasBlankOrControl(value)) return 'contains white space or control characters';
  return loneSurrogate.test(value) ? 'contains a lone surrogate, which cannot be sent' : undefined;
}

const metadata: z.ZodMiniType<Metadata> = z.transform((value, context): Metadata => {
  const refuse = (message: string, key?: string) => {
    context.issues.push({ code: 'custom', message, input: value, path: key === undefined ? [] : [key] });
  };
  if (!isPlainObject(value)) {
    const found = kind(value) === 'an object' ? 'is not a plain object' : whatItIs(value);
    refuse(`${found}. Pass an object of string values.`);
    return z.NEVER;
  }
  const entries = Object.entries(value);
  for (const [key, entry] of entries) {
    if (key === '__proto__') refuse('is reserved by JavaScript. Choose another name.', key);
    else if (!isString(entry)) refuse(`${whatItIs(entry)}. Pass a string.`, key);
  }
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => isString(entry[1])));
});

function integer(least: number, most: number): z.ZodMiniType<number> {
  const wanted =
    most === Infinity ? `an integer of at least ${least}` : `an integer from ${least} to ${most}`;
  return checked(isNumber, (value) =>
    isNumber(value) && Number.isSafeInteger(value) && value >= least && value <= most
      ? undefined
      : `${isNumber(value) ? `${quote(value)} is out of range` : whatItIs(value)}. Pass ${wanted}.`,
  );
}

const isStatus = (value: unknown): value is 'ACTIVE' | 'ARCHIVED' =>
  value === 'ACTIVE' || value === 'ARCHIVED';
const status = checked(isStatus, (value) =>
  isStatus(value)
    ? undefined
    : `${isString(value) ? `${quote(value)} is not a status to filter by` : whatItIs(value)}. Pass "ACTIVE" or "ARCHIVED".`,
);

export const productCreateParams = z.strictObject({
  name,
  price,
  description: z.optional(description),
  image: z.optional(url),
  currency: z.optional(currency),
  metadata: z.optional(metadata),
}) satisfies z.ZodMiniType<ProductCreateParams>;

export const productUpdateParams = z.strictObject({
  name: z.optional(name),
  price: z.optional(price),
  description: z.optional(description),
  image: z.optional(url),
  currency: z.optional(currency),
  metadata: z.optional(metadata),
}) satisfies z.ZodMiniType<ProductUpdateParams>;

export const productListParams = z.strictObject({
  status: z.optional(status),
  page: z.optional(integer(1, Infinity)),
  size: z.optional(integer(1, limits.pageSize)),
}) satisfies z.ZodMiniType<ProductListParams>;

export const checkoutCreateParams = z.strictObject({
  productId: id,
  successUrl: z.optional(url),
  cancelUrl: z.optional(url),
  displayMerchantName: z.optional(text('a string', () => undefined)),
}) satisfies z.ZodMiniType<CheckoutCreateParams>;

/** A value for a message: short, on one line, and only if it is a string, number or boolean. */
export function quote(value: unknown): string {
  if (isString(value)) return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  return isNumber(value) || typeof value === 'boolean' ? String(value) : kind(value);
}

/** What a value of the wrong type is, to follow the field's name in a message. */
function whatItIs(value: unknown): string {
  const plain = isString(value) || isNumber(value) || typeof value === 'boolean';
  return plain ? `${quote(value)} is ${kind(value)}` : `is ${kind(value)}`;
}

function kind(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'undefined';
  if (isString(value)) return 'a string';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Characters as people count them in a limit: code points, so that an emoji is one. */
function characters(value: string): number {
  let count = 0;
  for (const _ of value) count++;
  return count;
}
