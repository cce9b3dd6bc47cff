import * as z from 'zod/mini';
import { convertedField } from '../input/fields.js';
import { isObject, isPlainObject } from '../input/object.js';
import { mustBe } from '../input/read.js';
import { hasBlankOrControl, parseAbsoluteUrl, unsafeSchemes, urlText } from '../input/url.js';
import { kindAndText, quote } from '../input/visible.js';
import type { CurrencyCode } from './currency.js';
import type { Metadata } from './metadata.js';
import { readMoney } from './money.js';

/** The parameters of `products.create`. Spec, "POST /v1/products: create a product". */
export interface ProductCreateParams {
  /** 1 to 200 characters. */
  name: string;
  /** Decimal string with at most two decimals, at least `"0.01"`. */
  price: string;
  /** At most 1000 characters; `null` is the same as no description. */
  description?: string | null | undefined;
  /** Absolute URL; `null`, which another product may have, is the same as no image. */
  image?: string | URL | null | undefined;
  /** Three-letter ISO 4217 code. The service's default is USD. */
  currency?: CurrencyCode | undefined;
  /** Strings by name, kept with the product and returned with it. */
  metadata?: Metadata | undefined;
}

/** The body of a request that creates a product. */
export interface NewProduct extends Omit<ProductCreateParams, 'description' | 'image'> {
  /** At most 1000 characters. */
  description?: string | undefined;
  /** Absolute URL. */
  image?: string | undefined;
}

/** The parameters of `products.update`, with at least one field. Spec, "PATCH /v1/products/{id}: update a product". */
export type ProductUpdateParams = {
  [Field in keyof ProductCreateParams]?: Exclude<ProductCreateParams[Field], null> | undefined;
};

/** The parameters of `products.list`: the products to list, and the page. Spec, "GET /v1/products: list products". */
export interface ProductListParams {
  /** The status of the products to list. Default: any. */
  status?: 'ACTIVE' | 'ARCHIVED' | undefined;
  /** The number of the page, from 1. Default 1. */
  page?: number | undefined;
  /** The number of items per page, 1 to 100. Default 20. */
  size?: number | undefined;
}

/** The parameters of `checkouts.create`. Spec, "POST /v1/checkouts: create a checkout session". */
export interface CheckoutCreateParams {
  /** The product to sell. */
  productId: string;
  /** The absolute URL to which the customer returns after paying. */
  successUrl?: string | URL | undefined;
  /** The absolute URL to which the customer returns after cancelling. */
  cancelUrl?: string | URL | undefined;
  /** A campaign, store or app name shown on the payment page instead of the account's name. */
  displayMerchantName?: string | undefined;
}

/** The limits that the spec states. Both the sandbox and the client check against them. */
export const limits = {
  nameLength: 200,
  descriptionLength: 1000,
  price: /^\d+(\.\d{1,2})?$/,
  pageSize: 100,
} as const;

/** Returns the `error` of a parameter, which may quote the value that was passed. */
const paramError = (kind: string, example?: string) => mustBe(kind, example, kindAndText);

/** Returns the check of a maximum length. It counts code points, so that most emoji count as one character. */
const atMostCharacters = (most: number) =>
  z.refine<string>((value) => value.length <= most || [...value].length <= most, {
    error: ({ input }) => `has ${[...String(input)].length} characters. Pass at most ${most}.`,
  });

const name = z
  .string({ error: paramError(`a string of 1 to ${limits.nameLength} characters`) })
  .check(z.minLength(1, 'is empty. Pass at least one character.'), atMostCharacters(limits.nameLength));

const description = z
  .string({ error: paramError(`a string of at most ${limits.descriptionLength} characters`) })
  .check(atMostCharacters(limits.descriptionLength));

const noString = paramError('a string', 'a decimal string, such as "19.90"');
const price = z
  .string({ error: ({ input }) => noString({ input }) + priceForNumber(input) })
  .check(
    z.regex(limits.price, { error: ({ input }) => formProblem(String(input)), abort: true }),
    z.regex(/[1-9]/, { error: ({ input }) => `${quote(input)} is below the least price, "0.01".` }),
  );

function formProblem(value: string): string {
  return /^\d+\.\d{3,}$/.test(value)
    ? `${quote(value)} has more than two decimals. Pass at most two, such as "0.01".`
    : `${quote(value)} is not a decimal amount. Pass digits with at most two decimals, such as "19.90".`;
}

/** Returns the string to write for a number. An integer may count units or cents, and only the caller knows. */
function priceForNumber(value: unknown): string {
  if (value === undefined) return '';
  const units = typeof value === 'number' && value > 0 ? readMoney(value) : undefined;
  if (units === undefined) return ' Pass at most two decimals, such as "19.90".';
  const isCents = Number.isInteger(value) && Number(value) >= 100;
  const cents = isCents ? `, or "${units.slice(0, -5)}.${units.slice(-5, -3)}" if it counts cents` : '';
  return ` Pass "${units}"${cents}.`;
}

const currency = z.string({ error: paramError('a three-letter ISO code, such as "USD"') }).check(
  z.regex(/^[A-Z]{3}$/, {
    error: ({ input }) =>
      /^[A-Za-z]{3}$/.test(String(input))
        ? `${quote(input)} is not in upper case. Pass "${String(input).toUpperCase()}".`
        : `${quote(input)} is not a three-letter ISO code, such as "USD".`,
  }),
);

const noUrl = paramError('an absolute URL, such as "https://shop.example/thanks"');
const url = convertedField((given, refuse) => {
  const value = urlText(given);
  if (typeof value !== 'string') return refuse(noUrl({ input: value }));
  const parsed = parseAbsoluteUrl(value);
  if (!parsed)
    return refuse(`${quote(value)} is not an absolute URL. Pass one such as "https://shop.example/thanks".`);
  return unsafeSchemes.includes(parsed.protocol)
    ? refuse(`has the scheme ${parsed.protocol}, which is not safe. Pass an https: URL.`)
    : value;
});

const theId = 'the id that the service assigned';
const noId = paramError('a string', theId);
const hasId = (value: unknown) => isObject(value) && typeof value.id === 'string';

/** The schema of an id, which becomes one segment of the path and must not change the other segments. */
export const idParam = z
  .string({
    error: ({ input }) => noId({ input }) + (hasId(input) ? ' Pass its id, such as product.id.' : ''),
  })
  .check(
    z.refine((id) => idProblem(id) === undefined, {
      error: ({ input }) => `${idProblem(String(input))}. Pass ${theId}.`,
    }),
  );

function idProblem(value: string): string | undefined {
  if (value === '') return 'is empty';
  if (value === '.' || value === '..') return `${quote(value)} would change the path`;
  if (value.length > 1024) return `has ${value.length} characters, and at most 1024 are sent`;
  if (hasBlankOrControl(value)) return 'contains white space or control characters';
  return /\p{Surrogate}/u.test(value) ? 'contains a lone surrogate, which cannot be sent' : undefined;
}

/** The schema of metadata that is sent. `z.record` would silently drop a key `__proto__`. */
const metadata = convertedField((value, refuse): Metadata => {
  if (!isPlainObject(value)) return refuse(paramError('a plain object of string values')({ input: value }));
  const pairs = Object.entries(value).map(([key, entry]): [string, string] => {
    if (key === '__proto__') return refuse('is reserved by JavaScript. Choose another name.', [key]);
    return [
      key,
      typeof entry === 'string' ? entry : refuse(`must be a string, got ${kindAndText(entry)}.`, [key]),
    ];
  });
  return Object.fromEntries(pairs);
});

function count(kind: string, most: number) {
  const error = paramError(kind);
  const fits = (value: number) => Number.isInteger(value) && value >= 1 && value <= most;
  return z.number({ error }).check(z.refine(fits, { error }));
}

const optionalFields = {
  description: z.optional(description),
  image: z.optional(url),
  currency: z.optional(currency),
  metadata: z.optional(metadata),
};

/** Returns the schema of an optional field that may also be `null`, as in a product that was read. */
const orNull = <T>(schema: z.ZodMiniType<T>) =>
  z.optional(
    z.pipe(
      z.transform((value: unknown): unknown => value ?? undefined),
      z.optional(schema),
    ),
  );

export const idParams = z.strictObject({ id: idParam });

export const productCreateParams = z.strictObject(
  { name, price, ...optionalFields },
  'must be an object, as in products.create({ name: "Mug", price: "19.90" }).',
) satisfies z.ZodMiniType<NewProduct>;

/** The schema of the parameters of `products.create`, which may be copied from another product. */
export const newProductParams = z.extend(productCreateParams, {
  description: orNull(description),
  image: orNull(url),
}) satisfies z.ZodMiniType<NewProduct>;

export const productUpdateParams = z.strictObject(
  { name: z.optional(name), price: z.optional(price), ...optionalFields },
  'must be an object, as in products.update(product.id, { price: "19.90" }).',
) satisfies z.ZodMiniType<ProductUpdateParams>;

export const productListParams = z.strictObject(
  {
    status: z.optional(z.enum(['ACTIVE', 'ARCHIVED'], { error: paramError('"ACTIVE" or "ARCHIVED"') })),
    page: z.optional(count('an integer of at least 1', Number.MAX_SAFE_INTEGER)),
    size: z.optional(count(`an integer from 1 to ${limits.pageSize}`, limits.pageSize)),
  },
  'must be an object, as in products.list({ page: 2 }).',
) satisfies z.ZodMiniType<ProductListParams>;

export const checkoutCreateParams = z.strictObject(
  {
    productId: idParam,
    successUrl: z.optional(url),
    cancelUrl: z.optional(url),
    displayMerchantName: z.optional(z.string({ error: paramError('a string') })),
  },
  'must be an object, as in checkouts.create({ productId: product.id }).',
) satisfies z.ZodMiniType<CheckoutCreateParams>;
