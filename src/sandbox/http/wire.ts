import type { SandboxCheckout } from '../service/checkout.js';
import { type Ledger, viewBalance } from '../service/money.js';
import type { Product } from '../service/product.js';

// What the service sends, quirks included. Spec, "Representation notes".

/** The response to create: price as a string as it was sent, milliseconds. */
export const createdProduct = (product: Product) => ({
  ...product,
  description: product.description ?? undefined,
  createdAt: product.createdAt.getTime(),
  updatedAt: product.updatedAt.getTime(),
});

/** The response to update: as to create, without `status`. */
export function updatedProduct(product: Product) {
  const { status: _, ...shown } = createdProduct(product);
  return shown;
}

/** An item of the list: price as a number, ISO 8601 times. */
export const listedProduct = (product: Product) => ({
  ...product,
  description: product.description ?? undefined,
  price: Number(product.price),
});

export const checkoutSession = (
  { id, productId, amount, currency, expiresAt, createdAt }: Omit<SandboxCheckout, 'url'>,
  url: string,
  unit: 'ms' | 's',
) => ({
  id,
  productId,
  amount,
  currency,
  url,
  expiresAt: unit === 's' ? Math.floor(expiresAt.getTime() / 1000) : expiresAt.getTime(),
  createdAt: createdAt.getTime(),
});

export const balance = (ledger: Ledger, currency: string) => ({
  ...viewBalance(ledger, currency),
  updatedAt: ledger.updatedAt.getTime(),
});
