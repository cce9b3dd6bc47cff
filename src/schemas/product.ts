import type { CurrencyCode } from './currency.js';
import type { Metadata } from './metadata.js';
import { type Pagination, pagination } from './pagination.js';
import { list, metadata, moment, nullableText, price, record, recordSchema, text } from './wire.js';

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
  /** Whether it can be sold. */
  status: ProductStatus;
  /** `{}` if it has none. */
  metadata: Metadata;
  /** When it was created. */
  createdAt: Date;
  /** When it was last changed. */
  updatedAt: Date;
}

/** What an update returns: the spec leaves `status` out of that response. */
export interface UpdatedProduct extends Omit<Product, 'status'> {
  /** Absent, unless the service sends it anyway. */
  status?: ProductStatus;
}

const fields = {
  id: text,
  name: text,
  description: nullableText,
  image: nullableText,
  price,
  currency: text,
  status: text,
  metadata,
  createdAt: moment,
  updatedAt: moment,
};

export const productSchema = recordSchema<Product>(fields);

export const updatedProductSchema = recordSchema<UpdatedProduct>(fields, ['status']);

/** One page of products as the service sends it. Spec, "Product list". */
export const productListSchema = recordSchema<{ items: Product[]; pagination: Pagination }>({
  items: list(record<Product>(fields)),
  pagination,
});
