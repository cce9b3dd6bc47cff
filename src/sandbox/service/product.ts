import * as z from 'zod/mini';
import type { Product } from '../../schemas/product.js';
import { twoDecimals } from './money.js';

export type { Product };

/** A product as stored, with its price as it was sent, so that `"19.9"` stays `"19.9"`. */
export const storedProduct = z.object({
  id: z.string(),
  name: z.string(),
  description: z.nullable(z.string()),
  image: z.nullable(z.string()),
  price: z.string(),
  currency: z.string(),
  status: z.enum(['ACTIVE', 'ARCHIVED']),
  metadata: z.record(z.string(), z.string()),
  createdAt: z.coerce.date(),
  updatedAt: z.coerce.date(),
}) satisfies z.ZodMiniType<Product>;

/** A product as the client returns it. */
export const viewProduct = (product: Product): Product => ({
  ...structuredClone(product),
  price: twoDecimals(product.price),
});
