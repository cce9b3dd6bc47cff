import type { Context } from 'hono';
import { Hono } from 'hono/tiny';
import {
  checkoutCreateParams,
  productCreateParams,
  productListParams,
  productUpdateParams,
} from '../../schemas/params.js';
import type { Product } from '../../schemas/product.js';
import type { SandboxContext } from '../context.js';
import { errorStatuses } from '../service/choices.js';
import { excerpt } from '../service/event.js';
import { twoDecimals, viewBalance } from '../service/money.js';
import type { StoredCheckout } from '../service/records.js';
import { capacity, findIn } from '../service/store.js';
import { checkCredentials, readObject, readParameters, readProduct } from './input.js';
import type { ApiEnv, RequestNotes } from './log.js';
import { type operations, Refusal, serveTable, type Table } from './table.js';

/** Serves the operations of the specification. The caller handles key, log and errors. */
export function documentedApi(context: SandboxContext) {
  const { store, clock, payments, settings, listening } = context;
  const { choices } = settings;

  function session({ id, productId, amount, currency, ...times }: StoredCheckout, notes: RequestNotes) {
    notes.mark('expiresIn');
    const [createdAt, ms] = [times.createdAt.getTime(), times.expiresAt.getTime()];
    const expiresAt = choices.expiresIn.unit === 's' ? Math.floor(ms / 1000) : ms;
    return { id, productId, amount, currency, url: listening.checkoutUrl(id), expiresAt, createdAt };
  }

  const work: Record<(typeof operations)[number], Table<ApiEnv>[string]> = {
    'GET /v1/products': ({ req, var: { notes } }) => {
      const query = Object.entries(req.query()).map(([name, text]) => {
        const isNumber = name !== 'status' && /^-?\d{1,15}(\.\d{1,9})?$/.test(text);
        return [name, isNumber ? Number(text) : text];
      });
      const params = readParameters(productListParams, Object.fromEntries(query), notes);
      const { status, page = 1, size = 20 } = params;
      const all = [...store.products.values()].filter((one) => status === undefined || one.status === status);
      all.reverse();
      const totalPages = Math.ceil(all.length / size);
      if (all.length > 1 || page > totalPages) notes.mark('listOrder');
      return {
        items: all.slice((page - 1) * size, page * size).map(listedProduct),
        pagination: { page, size, total: all.length, totalPages },
      };
    },
    'POST /v1/products': async ({ req, var: { notes } }) => {
      const params = readProduct(productCreateParams, await readObject(req.raw, notes), notes);
      refuseIfFull(store.products, 'products');
      return createdProduct(payments.createProduct(params), notes);
    },
    'PATCH /v1/products/:id': async ({ req, var: { notes } }) => {
      const body = await readObject(req.raw, notes);
      const product = findIn(store.products, 'product', req.param('id'));
      const params = readProduct(productUpdateParams, body, notes);
      if (Object.keys(params).length === 0)
        notes.limit('emptyUpdate', 'The body has no field to update. Send at least one.');
      Object.assign(product, params, { updatedAt: new Date(clock.now()) });
      const { status: _, ...updated } = createdProduct(product, notes);
      return updated;
    },
    'POST /v1/checkouts': async ({ req, var: { notes } }) => {
      const body = await readObject(req.raw, notes);
      const fields = Object.keys(checkoutCreateParams.def.shape);
      if (fields.some((name) => body[name] === undefined)) notes.mark('checkoutRequired');
      const params = readParameters(checkoutCreateParams, body, notes);
      checkCredentials(params.successUrl, 'successUrl', notes);
      checkCredentials(params.cancelUrl, 'cancelUrl', notes);
      const product = findIn(store.products, 'product', params.productId);
      if (product.status === 'ARCHIVED')
        throw new Refusal('archived_product', 'The product is archived and cannot be used for checkout.');
      refuseIfFull(store.checkouts, 'checkouts');
      markPrice(product, notes);
      const amount = twoDecimals(product.price);
      const checkout = payments.createCheckout({ ...params, amount, currency: product.currency });
      notes.mark('checkoutCreated');
      if (choices.checkoutCreated === 'session') return session(checkout, notes);
      return { url: listening.checkoutUrl(checkout.id) };
    },
    'GET /v1/checkouts/:id': ({ req, var: { notes } }) =>
      session(findIn(store.checkouts, 'checkout session', req.param('id')), notes),
    'GET /v1/balance': ({ var: { notes } }) => {
      if (store.orders.size > 0) notes.mark('settlement');
      const { ledger } = store;
      return { ...viewBalance(ledger, settings.currency), updatedAt: ledger.updatedAt.getTime() };
    },
  };
  const api = new Hono<ApiEnv>();
  const respond = (c: Context<ApiEnv>, data: object) =>
    json(c.get('notes'), 200, { code: 0, message: 'success', data });
  serveTable(api, work, respond, '/v1/*');
  return api;
}

/** Marks the choice that a price is returned as it was sent, which shows only if it was sent without two decimals. */
function markPrice({ price }: Product, notes: RequestNotes): void {
  if (twoDecimals(price) !== price) notes.mark('priceText');
}

/** Throws a refusal if the sandbox holds the most objects of a kind. */
function refuseIfFull(map: ReadonlyMap<string, unknown>, what: string): void {
  const problem = `The sandbox holds ${capacity} ${what} and accepts no more. Reset it.`;
  if (map.size >= capacity) throw new Refusal('too_many_objects', problem);
}

// The functions below write objects as the service does, quirks included. Spec, "Representation notes".

/** Returns a product as create responds, and update does without `status`: the price as the string that was sent, times in milliseconds. */
function createdProduct(product: Product, notes: RequestNotes) {
  markPrice(product, notes);
  const [createdAt, updatedAt] = [product.createdAt.getTime(), product.updatedAt.getTime()];
  return { ...product, description: product.description ?? undefined, createdAt, updatedAt };
}

/** Returns a product as an item of the list: the price as a number, times in ISO 8601. */
const listedProduct = (product: Product) => ({
  ...product,
  description: product.description ?? undefined,
  price: Number(product.price),
});

/** Returns the 401, the only error whose body the spec shows. */
export const unauthorizedResponse = (notes: RequestNotes) =>
  json(notes, 401, { code: 401, message: 'Unauthorized' });

/** Returns every other error, in the form of the 401. */
export function errorResponse({ code, message, headers }: Refusal, notes: RequestNotes): Response {
  notes.mark('errors', 'errorStatus');
  const status = errorStatuses[code];
  return json(notes, status, { code: status, message }, headers);
}

function json(notes: RequestNotes, status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = JSON.stringify(body);
  notes.responseBody = excerpt(text);
  return new Response(text, { status, headers: { 'content-type': 'application/json', ...headers } });
}
