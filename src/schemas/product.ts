// This folder says in TypeScript and zod what the specification says of requests, responses and events.
import * as z from 'zod/mini';
import type { CurrencyCode } from './currency.js';
import { type Metadata, metadata } from './metadata.js';
import { moment } from './moment.js';
import { price } from './money.js';
import { nullIsAbsent, orNull } from './nullish.js';
import { type Pagination, paginationSchema } from './pagination.js';

/** The status of a product: `ACTIVE` can be sold, `ARCHIVED` cannot. A status that the spec does not name is kept as a string. */
export type ProductStatus = 'ACTIVE' | 'ARCHIVED' | (string & {});

/** A product that a merchant sells. Spec, "Product". */
export interface Product {
  /** Id of the product, for `products.update()` and `checkouts.create()`. */
  id: string;
  /** 1 to 200 characters, shown to customers. */
  name: string;
  /** Up to 1000 characters; `null` if the product has no description. */
  description: string | null;
  /** URL of the image; `null` if the product has none. */
  image: string | null;
  /** Decimal string with at least two decimals, such as `"19.90"`. */
  price: string;
  /** Currency of `price`. */
  currency: CurrencyCode;
  /** `ACTIVE` if it can be sold. */
  status: ProductStatus;
  /** The merchant's own key-value pairs; `{}` if there are none. */
  metadata: Metadata;
  /** The time at which the product was created. */
  createdAt: Date;
  /** The time of the last change. */
  updatedAt: Date;
}

/** The product that an update returns. The spec leaves `status` out of that response. */
export interface UpdatedProduct extends Omit<Product, 'status'> {
  /** Absent, unless the service sends it anyway. */
  status?: ProductStatus;
}

const product = z.looseObject({
  id: z.string(),
  name: z.string(),
  description: orNull(z.string()),
  image: orNull(z.string()),
  price,
  currency: z.string(),
  status: z.string(),
  metadata,
  createdAt: moment,
  updatedAt: moment,
});

export const productSchema: z.ZodMiniType<Product> = product;

export const updatedProductSchema: z.ZodMiniType<UpdatedProduct> = nullIsAbsent<UpdatedProduct>(
  z.looseObject({ ...product.shape, status: z.exactOptional(z.string()) }),
);

/**
 * The most items of a page; the spec allows 100. zod passes all issues of a list as the arguments of one call, and millions
 * of them overflow the stack.
 */
const mostItems = 1000;

/** One page of products as the service sends it. Spec, "Product list". */
export const productListSchema: z.ZodMiniType<{ items: Product[]; pagination: Pagination }> = z.looseObject({
  items: z.pipe(z.array(z.unknown()).check(z.maxLength(mostItems)), z.array(productSchema)),
  pagination: paginationSchema,
});
