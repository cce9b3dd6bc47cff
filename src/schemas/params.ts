import * as z from 'zod/mini';
import type { CurrencyCode } from './currency.js';
import type { Metadata } from './metadata.js';
import { readMoney } from './money.js';
import { isPlainObject } from './object.js';
import { hasBlankOrControl, parseAbsoluteUrl, unsafeSchemes, urlText } from './url.js';

/** What `products.create` sends. Spec, "POST /v1/products: create a product". */
export interface ProductCreateParams {
  /** 1 to 200 characters. */
  name: string;
  /** Decimal string with at most two decimals, at least `"0.01"`. */
  price: string;
  /** At most 1000 characters; `null` is the same as none. */
  description?: string | null | undefined;
  /** Absolute URL. `null`, as another product may have it, is the same as none. */
  image?: string | URL | null | undefined;
  /** Three-letter ISO 4217 code. Default of the service: USD. */
  currency?: CurrencyCode | undefined;
  /** Strings by name, kept with the product and returned with it. */
  metadata?: Metadata | undefined;
}

/** A new product as it is sent. */
export interface NewProduct extends Omit<ProductCreateParams, 'description' | 'image'> {
  /** At most 1000 characters. */
  description?: string | undefined;
  /** Absolute URL. */
  image?: string | undefined;
}

/** What `products.update` sends: at least one field. Spec, "PATCH /v1/products/{id}: update a product". */
export type ProductUpdateParams = {
  [Field in keyof ProductCreateParams]?: Exclude<ProductCreateParams[Field], null> | undefined;
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
  successUrl?: string | URL | undefined;
  /** Where the customer returns after cancelling: an absolute URL. */
  cancelUrl?: string | URL | undefined;
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

/** What is wrong with a value of the right type, to follow the field's name in a message; `undefined` if nothing is. */
type Fault<T> = (value: T) => string | undefined;

function found<T>(fault: Fault<T>): z.core.$ZodCheck<T> {
  return z.check(({ value, issues }) => {
    const message = fault(value);
    if (message !== undefined) issues.push({ code: 'custom', message, input: value });
  });
}

/** The message for a value that is missing or of another type. */
function wants(wanted: string, type = wanted, such: Fault<unknown> = () => undefined) {
  return {
    error: ({ input }: { readonly input?: unknown }) => {
      if (input === undefined) return `is missing. Pass ${wanted}.`;
      return `must be ${type}, got ${whatItIs(input)}.${such(input) ?? ''}`;
    },
  };
}

const text = (wanted: string, fault: Fault<string> = () => undefined) =>
  z.string(wants(wanted)).check(found(fault));

const name = text(`a string of 1 to ${limits.nameLength} characters`, (value) => {
  const length = characters(value);
  if (length === 0) return 'is empty. Pass at least one character.';
  return length > limits.nameLength
    ? `has ${length} characters. Pass at most ${limits.nameLength}.`
    : undefined;
});

const description = text(`a string of at most ${limits.descriptionLength} characters`, (value) => {
  const length = characters(value);
  return length > limits.descriptionLength
    ? `has ${length} characters. Pass at most ${limits.descriptionLength}.`
    : undefined;
});

const price = z
  .string(wants('a decimal string, such as "19.90"', 'a string', priceForNumber))
  .check(found(priceFault));

function priceFault(value: string): string | undefined {
  if (!limits.price.test(value)) {
    return /^\d+\.\d{3,}$/.test(value)
      ? `${quote(value)} has more than two decimals. Pass at most two, such as "0.01".`
      : `${quote(value)} is not a decimal amount. Pass digits with at most two decimals, such as "19.90".`;
  }
  return /[1-9]/.test(value) ? undefined : `${quote(value)} is below the least price, "0.01".`;
}

/** The string to write for a number. An integer may count units or cents, and only the caller knows. */
function priceForNumber(value: unknown): string {
  const units = typeof value === 'number' && value > 0 ? readMoney(value) : undefined;
  if (units === undefined) return ' Pass at most two decimals, such as "19.90".';
  const isCents = Number.isInteger(value) && Number(value) >= 100;
  const cents = isCents ? `, or "${units.slice(0, -5)}.${units.slice(-5, -3)}" if it counts cents` : '';
  return ` Pass "${units}"${cents}.`;
}

const currency = text('a three-letter ISO code, such as "USD"', (value) => {
  if (/^[A-Z]{3}$/.test(value)) return undefined;
  return /^[A-Za-z]{3}$/.test(value)
    ? `${quote(value)} is not in upper case. Pass "${value.toUpperCase()}".`
    : `${quote(value)} is not a three-letter ISO code, such as "USD".`;
});

const url = z.pipe(
  z.transform(urlText),
  text('an absolute URL, such as "https://shop.example/thanks"', (value) => {
    const parsed = parseAbsoluteUrl(value);
    if (!parsed)
      return `${quote(value)} is not an absolute URL. Pass one such as "https://shop.example/thanks".`;
    return unsafeSchemes.includes(parsed.protocol)
      ? `has the scheme ${parsed.protocol}, which is not safe. Pass an https: URL.`
      : undefined;
  }),
);

/** An id becomes one segment of the path and must not change the rest of it. */
export const idParam = z.string(wants('the id that the service assigned', 'a string')).check(
  found((value: string) => {
    const fault = idFault(value);
    return fault && `${fault}. Pass the id that the service assigned.`;
  }),
);

function idFault(value: string): string | undefined {
  if (value === '') return 'is empty';
  if (value === '.' || value === '..') return `${quote(value)} would change the path`;
  if (value.length > 1024) return `has ${value.length} characters, and at most 1024 are sent`;
  if (hasBlankOrControl(value)) return 'contains white space or control characters';
  return /\p{Surrogate}/u.test(value) ? 'contains a lone surrogate, which cannot be sent' : undefined;
}

/** Not `z.record`, which drops a key `__proto__` without a word. */
const metadata: z.ZodMiniType<Metadata> = z.transform((value, { issues }): Metadata => {
  const refuse = (message: string, path: string[] = []) =>
    issues.push({ code: 'custom', message, input: value, path });
  if (!isPlainObject(value)) {
    refuse(`must be a plain object of string values, got ${whatItIs(value)}.`);
    return z.NEVER;
  }
  const copy: [string, string][] = [];
  for (const [key, entry] of Object.entries(value)) {
    if (key === '__proto__') refuse('is reserved by JavaScript. Choose another name.', [key]);
    else if (typeof entry === 'string') copy.push([key, entry]);
    else refuse(`must be a string, got ${whatItIs(entry)}.`, [key]);
  }
  return Object.fromEntries(copy);
});

function integer(wanted: string, least: number, most: number) {
  const isRight = (value: number) => Number.isSafeInteger(value) && value >= least && value <= most;
  return z.number(wants(wanted)).check(z.refine(isRight, wants(wanted)));
}

const shown = { description: z.optional(description), image: z.optional(url) };
const whatSells = { currency: z.optional(currency), metadata: z.optional(metadata) };

export const productCreateParams = z.strictObject({
  name,
  price,
  ...shown,
  ...whatSells,
}) satisfies z.ZodMiniType<NewProduct>;

/** As they are passed to the client: `null` is the same as absent. */
export const newProductParams = z.strictObject({
  name,
  price,
  description: orNull(shown.description),
  image: orNull(shown.image),
  ...whatSells,
}) satisfies z.ZodMiniType<ProductCreateParams>;

export const productUpdateParams = z.strictObject({
  name: z.optional(name),
  price: z.optional(price),
  ...shown,
  ...whatSells,
}) satisfies z.ZodMiniType<ProductUpdateParams>;

export const productListParams = z.strictObject({
  status: z.optional(z.enum(['ACTIVE', 'ARCHIVED'], wants('"ACTIVE" or "ARCHIVED"'))),
  page: z.optional(integer('an integer of at least 1', 1, Number.MAX_SAFE_INTEGER)),
  size: z.optional(integer(`an integer from 1 to ${limits.pageSize}`, 1, limits.pageSize)),
}) satisfies z.ZodMiniType<ProductListParams>;

export const checkoutCreateParams = z.strictObject({
  productId: idParam,
  successUrl: z.optional(url),
  cancelUrl: z.optional(url),
  displayMerchantName: z.optional(text('a string')),
}) satisfies z.ZodMiniType<CheckoutCreateParams>;

function orNull<T>(schema: z.ZodMiniType<T>) {
  return z.optional(
    z.pipe(
      z.transform((value: unknown): unknown => value ?? undefined),
      schema,
    ),
  );
}

/** A value for a message: short, on one line, and only if it is a string, number or boolean. */
export function quote(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : whatItIs(value);
}

/** What a value of the wrong type is. */
function whatItIs(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'boolean') return String(value);
  if (typeof value === 'string' || typeof value === 'number') return `the ${typeof value} ${quote(value)}`;
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Characters as people count them in a limit: code points, so that an emoji is one. */
function characters(value: string): number {
  let count = 0;
  for (const _ of value) count++;
  return count;
}
