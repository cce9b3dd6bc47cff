import { SandboxError, shown } from '../checks.js';
import { type Ledger, viewBalance } from '../service/money.js';
import type { Product, StoredCheckout } from '../service/records.js';
import type { RequestNotes } from './log.js';
import type { Refusal } from './table.js';

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

export function checkoutSession(checkout: StoredCheckout, url: string, unit: 'ms' | 's') {
  const { id, productId, amount, currency, expiresAt, createdAt } = checkout;
  const expires = unit === 's' ? Math.floor(expiresAt.getTime() / 1000) : expiresAt.getTime();
  return { id, productId, amount, currency, url, expiresAt: expires, createdAt: createdAt.getTime() };
}

export const balance = (ledger: Ledger, currency: string) => ({
  ...viewBalance(ledger, currency),
  updatedAt: ledger.updatedAt.getTime(),
});

export const success = (notes: RequestNotes, data: unknown): Response =>
  json(notes, 200, { code: 0, message: 'success', data });

/** The one error whose body the spec shows. */
export const unauthorized = (notes: RequestNotes): Response =>
  json(notes, 401, { code: 401, message: 'Unauthorized' });

/** Every other error, as chosen. */
export function refused({ code, message, headers }: Refusal, notes: RequestNotes): Response {
  const { choices } = notes;
  notes.mark('errors', 'errorStatus');
  if (choices.errors !== 'envelope') {
    const response: unknown = choices.errors(code, message);
    if (response instanceof Response) return response;
    const problem = `unspecified.errors returned ${shown(response)} for "${code}". Return a Response.`;
    throw new SandboxError('invalid_options', problem);
  }
  const status = choices.statusOf(code);
  return json(notes, status, { code: status, message }, headers);
}

function json(notes: RequestNotes, status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = JSON.stringify(body);
  notes.responseBody = text;
  return new Response(text, { status, headers: { 'content-type': 'application/json', ...headers } });
}
