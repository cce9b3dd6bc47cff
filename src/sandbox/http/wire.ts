import { fromCents } from '../service/cents.js';
import type { CheckoutRecord, ProductRecord } from '../service/records.js';
import type { Ledger } from '../service/store.js';

// Records as the service sends them, quirks included. Spec, "Representation notes".

/** The answer to create: price as text, milliseconds. */
export const createdProduct = (product: ProductRecord, price: string) => ({
  id: product.id,
  name: product.name,
  description: product.description,
  image: product.image,
  price,
  currency: product.currency,
  status: product.status,
  metadata: product.metadata,
  createdAt: product.createdAt,
  updatedAt: product.updatedAt,
});

/** The answer to update: as to create, without `status`. */
export function updatedProduct(product: ProductRecord, price: string) {
  const { status: _, ...shown } = createdProduct(product, price);
  return shown;
}

/** An item of the list: price as a number, ISO 8601 times. */
export const listedProduct = (product: ProductRecord) => ({
  ...createdProduct(product, product.price),
  price: Number(product.price),
  createdAt: new Date(product.createdAt).toISOString(),
  updatedAt: new Date(product.updatedAt).toISOString(),
});

export const checkoutSession = (checkout: CheckoutRecord, url: string, unit: 'ms' | 's') => ({
  id: checkout.id,
  productId: checkout.productId,
  amount: checkout.amount,
  currency: checkout.currency,
  url,
  expiresAt: unit === 's' ? Math.floor(checkout.expiresAt / 1000) : checkout.expiresAt,
  createdAt: checkout.createdAt,
});

export const balance = (ledger: Ledger, currency: string) => ({
  available: fromCents(ledger.available),
  pending: fromCents(ledger.pending),
  frozen: fromCents(ledger.frozen),
  currency,
  updatedAt: ledger.updatedAt,
});
