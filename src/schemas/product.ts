import * as z from 'zod/mini';
import type { CurrencyCode } from './currency.js';
import { type Metadata, metadata } from './metadata.js';
import { moment } from './moment.js';
import { price } from './money.js';
import { nullIsAbsent, orNull } from './nullish.js';
import { type Pagination, paginationSchema } from './pagination.js';

/** `ACTIVE` can be sold, `ARCHIVED` cannot. Open: a status that the spec does not name yet stays a string. */
export type ProductStatus = 'ACTIVE' | 'ARCHIVED' | (string & {});

/** Something that a merchant sells. Spec, "Product". */
export interface Product {
  /** Id of the product, for `products.update()` and `checkouts.create()`. */
  id: string;
  /** 1 to 200 characters, shown to customers. */
  name: string;
  /** Up to 1000 characters; `null` if it has none. */
  description: string | null;
  /** URL of the image. */
  image: string | null;
  /** Decimal string with at least two decimals, such as `"19.90"`. */
  price: string;
  /** Currency of `price`. */
  currency: CurrencyCode;
  /** `ACTIVE` if it can be sold. */
  status: ProductStatus;
  /** `{}` if it has none. */
  metadata: Metadata;
  /** When it was created. */
  createdAt: Date;
  /** When it was last changed. */
  updatedAt: Date;
}

/** The product that an update returns: the spec leaves `status` out of that response. */
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

/** The spec allows 100 items. zod passes all issues of a list as the arguments of one call, which millions overflow. */
const mostItems = 1000;

/** One page of products as the service sends it. Spec, "Product list". */
export const productListSchema: z.ZodMiniType<{ items: Product[]; pagination: Pagination }> = z.looseObject({
  items: z.pipe(z.array(z.unknown()).check(z.maxLength(mostItems)), z.array(productSchema)),
  pagination: paginationSchema,
});
