import * as z from 'zod/mini';
import { convertedField, field } from '../input/fields.js';
import { isObject, isPlainObject } from '../input/object.js';
import { hasBlankOrControl, parseAbsoluteUrl, unsafeSchemes, urlText } from '../input/url.js';
import { kindAndText, quote } from '../input/visible.js';
import type { CurrencyCode } from './currency.js';
import type { Metadata } from './metadata.js';
import { readMoney } from './money.js';

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

/** What to say of a value that is missing or of another type. */
function mustBe(type: string, value: unknown, wanted = type): string {
  return value === undefined ? `is missing. Pass ${wanted}.` : `must be ${type}, got ${kindAndText(value)}.`;
}

/** A string. `hint` says more of a value of another type. */
function text(
  type: string,
  problemOf: (value: string) => string | undefined = () => undefined,
  wanted = type,
  hint: (value: unknown) => string = () => '',
) {
  return field<string>((value) =>
    typeof value === 'string' ? problemOf(value) : mustBe(type, value, wanted) + hint(value),
  );
}

/** Counts code points, so that most emoji are one. */
function atMost(most: number, value: string): string | undefined {
  if (value.length <= most) return undefined;
  const length = [...value].length;
  return length > most ? `has ${length} characters. Pass at most ${most}.` : undefined;
}

const name = text(`a string of 1 to ${limits.nameLength} characters`, (value) =>
  value === '' ? 'is empty. Pass at least one character.' : atMost(limits.nameLength, value),
);

const description = text(`a string of at most ${limits.descriptionLength} characters`, (value) =>
  atMost(limits.descriptionLength, value),
);

const price = text('a string', priceProblem, 'a decimal string, such as "19.90"', priceForNumber);

function priceProblem(value: string): string | undefined {
  if (!limits.price.test(value)) {
    return /^\d+\.\d{3,}$/.test(value)
      ? `${quote(value)} has more than two decimals. Pass at most two, such as "0.01".`
      : `${quote(value)} is not a decimal amount. Pass digits with at most two decimals, such as "19.90".`;
  }
  return /[1-9]/.test(value) ? undefined : `${quote(value)} is below the least price, "0.01".`;
}

/** The string to write for a number. An integer may count units or cents, and only the caller knows. */
function priceForNumber(value: unknown): string {
  if (value === undefined) return '';
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

const anUrl = 'an absolute URL, such as "https://shop.example/thanks"';
const url = convertedField((given, refuse) => {
  const value = urlText(given);
  if (typeof value !== 'string') return refuse(mustBe(anUrl, value));
  const parsed = parseAbsoluteUrl(value);
  if (!parsed)
    return refuse(`${quote(value)} is not an absolute URL. Pass one such as "https://shop.example/thanks".`);
  return unsafeSchemes.includes(parsed.protocol)
    ? refuse(`has the scheme ${parsed.protocol}, which is not safe. Pass an https: URL.`)
    : value;
});

const theId = 'the id that the service assigned';

/** An id becomes one segment of the path and must not change the rest of it. */
export const idParam = text(
  'a string',
  (id) => idProblem(id)?.concat(`. Pass ${theId}.`),
  theId,
  (value) => (isObject(value) && typeof value.id === 'string' ? ' Pass its id, such as product.id.' : ''),
);

function idProblem(value: string): string | undefined {
  if (value === '') return 'is empty';
  if (value === '.' || value === '..') return `${quote(value)} would change the path`;
  if (value.length > 1024) return `has ${value.length} characters, and at most 1024 are sent`;
  if (hasBlankOrControl(value)) return 'contains white space or control characters';
  return /\p{Surrogate}/u.test(value) ? 'contains a lone surrogate, which cannot be sent' : undefined;
}

/** Not `z.record`, which drops a key `__proto__` without a word. */
const metadata = convertedField((value, refuse): Metadata => {
  if (!isPlainObject(value)) return refuse(mustBe('a plain object of string values', value));
  const pairs = Object.entries(value).map(([key, entry]): [string, string] => {
    if (key === '__proto__') return refuse('is reserved by JavaScript. Choose another name.', [key]);
    return [
      key,
      typeof entry === 'string' ? entry : refuse(`must be a string, got ${kindAndText(entry)}.`, [key]),
    ];
  });
  return Object.fromEntries(pairs);
});

function integer(wanted: string, most: number) {
  const isRight = (value: unknown) =>
    Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= most;
  return field<number>((value) => (isRight(value) ? undefined : mustBe(wanted, value)));
}

const status = field<'ACTIVE' | 'ARCHIVED'>((value) =>
  value === 'ACTIVE' || value === 'ARCHIVED' ? undefined : mustBe('"ACTIVE" or "ARCHIVED"', value),
);

const optionalFields = {
  description: z.optional(description),
  image: z.optional(url),
  currency: z.optional(currency),
  metadata: z.optional(metadata),
};

export const idParams = z.strictObject({ id: idParam });

export const productCreateParams = z.strictObject(
  { name, price, ...optionalFields },
  'must be an object, as in products.create({ name: "Mug", price: "19.90" }).',
) satisfies z.ZodMiniType<NewProduct>;

export const productUpdateParams = z.strictObject(
  { name: z.optional(name), price: z.optional(price), ...optionalFields },
  'must be an object, as in products.update(product.id, { price: "19.90" }).',
) satisfies z.ZodMiniType<ProductUpdateParams>;

export const productListParams = z.strictObject(
  {
    status: z.optional(status),
    page: z.optional(integer('an integer of at least 1', Number.MAX_SAFE_INTEGER)),
    size: z.optional(integer(`an integer from 1 to ${limits.pageSize}`, limits.pageSize)),
  },
  'must be an object, as in products.list({ page: 2 }).',
) satisfies z.ZodMiniType<ProductListParams>;

export const checkoutCreateParams = z.strictObject(
  {
    productId: idParam,
    successUrl: z.optional(url),
    cancelUrl: z.optional(url),
    displayMerchantName: z.optional(text('a string')),
  },
  'must be an object, as in checkouts.create({ productId: product.id }).',
) satisfies z.ZodMiniType<CheckoutCreateParams>;
