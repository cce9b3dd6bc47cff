import type { Context } from 'hono';
import { Hono } from 'hono/tiny';
import {
  checkoutCreateParams,
  productCreateParams,
  productListParams,
  productUpdateParams,
} from '../../schemas/params.js';
import type { SandboxContext } from '../context.js';
import { twoDecimals } from '../service/cents.js';
import type { StoredCheckout } from '../service/checkout.js';
import type { Product } from '../service/product.js';
import { capacity } from '../service/store.js';
import { readObject } from './body.js';
import { type ApiEnv, Refusal, type RequestNotes } from './notes.js';
import { readParameters } from './parameters.js';
import { success } from './responses.js';
import { checkCredentials, readProduct } from './silent-limits.js';
import * as wire from './wire.js';

type Call = Context<ApiEnv>;

/** The six operations of the specification, under `/v1`. The caller handles key, log and errors. */
export function documentedApi(context: SandboxContext): Hono<ApiEnv> {
  const { store, clock, payments, settings, reach } = context;
  const { choices } = settings;
  const api = new Hono<ApiEnv>();

  /** The price in a response to create or update. */
  function sentPrice(product: Product, notes: RequestNotes): string {
    const normal = twoDecimals(product.price);
    if (normal !== product.price) notes.mark('priceText');
    return choices.priceText === 'as-sent' ? product.price : normal;
  }

  /** A checkout as its retrieval shows it. */
  function session(checkout: StoredCheckout, notes: RequestNotes): Response {
    notes.mark('expiresIn');
    const url = reach.checkoutUrl(checkout.id);
    return success(notes, wire.checkoutSession(checkout, url, choices.expiresIn.unit));
  }

  api.post('/products', async (c: Call) => {
    const notes = c.get('notes');
    const params = readProduct(productCreateParams, await readObject(c.req.raw, notes), notes);
    full(store.products, 'products');
    const product = payments.createProduct(params);
    return success(notes, wire.createdProduct(product, sentPrice(product, notes)));
  });

  api.get('/products', (c: Call) => {
    const notes = c.get('notes');
    const query = Object.entries(c.req.query()).map(([name, text]) => {
      const isNumber = name !== 'status' && /^-?\d{1,15}(\.\d{1,9})?$/.test(text);
      return [name, isNumber ? Number(text) : text];
    });
    const {
      status,
      page = 1,
      size = 20,
    } = readParameters(productListParams, Object.fromEntries(query), notes);
    const all = [...store.products.values()].filter((one) => status === undefined || one.status === status);
    if (choices.listOrder === 'newest-first') all.reverse();
    const totalPages = Math.ceil(all.length / size);
    if (all.length > 1 || page > totalPages) notes.mark('listOrder');
    return success(notes, {
      items: all.slice((page - 1) * size, page * size).map(wire.listedProduct),
      pagination: { page, size, total: all.length, totalPages },
    });
  });

  api.patch('/products/:id', async (c: Call) => {
    const notes = c.get('notes');
    const body = await readObject(c.req.raw, notes);
    const product = found(store.products.get(c.req.param('id') ?? ''), 'product with this id');
    const params = readProduct(productUpdateParams, body, notes);
    if (Object.keys(params).length === 0) {
      const problem = 'The body has no field to update. Send at least one.';
      notes.limit('emptyUpdate', choices.emptyUpdate === 'reject' && problem);
    }
    Object.assign(product, params, { updatedAt: new Date(clock.now()) });
    return success(notes, wire.updatedProduct(product, sentPrice(product, notes)));
  });

  api.post('/checkouts', async (c: Call) => {
    const notes = c.get('notes');
    const body = await readObject(c.req.raw, notes);
    if (checkoutFields.some((name) => body[name] === undefined)) notes.mark('checkoutRequired');
    const params = readParameters(checkoutCreateParams, body, notes);
    const missing = choices.checkoutRequired.filter((name) => params[name] === undefined);
    if (missing.length > 0) throw new Refusal('validation', `${missing.join(', ')}: missing.`);
    checkCredentials(params.successUrl, 'successUrl', notes);
    checkCredentials(params.cancelUrl, 'cancelUrl', notes);
    const product = found(store.products.get(params.productId), 'product with this productId');
    if (product.status === 'ARCHIVED')
      throw new Refusal('archived_product', 'The product is archived and cannot be used for checkout.');
    full(store.checkouts, 'checkouts');
    const amount = twoDecimals(product.price);
    if (amount !== product.price) notes.mark('priceText');
    const checkout = payments.createCheckout({ ...params, amount, currency: product.currency });
    notes.mark('checkoutCreated');
    if (choices.checkoutCreated === 'session') return session(checkout, notes);
    return success(notes, { url: reach.checkoutUrl(checkout.id) });
  });

  api.get('/checkouts/:id', (c: Call) =>
    session(found(store.checkouts.get(c.req.param('id') ?? ''), 'checkout with this id'), c.get('notes')),
  );

  api.get('/balance', (c: Call) => {
    const notes = c.get('notes');
    if (store.orders.size > 0) notes.mark('settlement', 'fees');
    return success(notes, wire.balance(store.ledger, settings.currency));
  });

  for (const [path, methods] of Object.entries(allowedMethods)) {
    api.all(path, (c: Call) => {
      const message = `${c.req.method} is not an operation of this path. It has ${methods}.`;
      throw new Refusal('wrong_method', message, { allow: methods });
    });
  }
  api.all('*', () => {
    throw new Refusal('unknown_path', 'There is nothing at this path.');
  });
  return api;
}

/** The paths of the specification and their operations. */
const allowedMethods: Record<string, string> = {
  '/products': 'GET, POST',
  '/products/:id': 'PATCH',
  '/checkouts': 'POST',
  '/checkouts/:id': 'GET',
  '/balance': 'GET',
};

/** Whether the specification has this path, for any method. */
export function isDocumentedPath(path: string): boolean {
  return /^\/v1\/(?:products(?:\/[^/]+)?|checkouts(?:\/[^/]+)?|balance)$/.test(path);
}

const checkoutFields = ['productId', 'successUrl', 'cancelUrl', 'displayMerchantName'] as const;

function found<One>(object: One | undefined, what: string): One {
  if (object === undefined) throw new Refusal('unknown_id', `There is no ${what}.`);
  return object;
}

function full(map: ReadonlyMap<string, unknown>, what: string): void {
  if (map.size >= capacity)
    throw new Refusal(
      'too_many_objects',
      `The sandbox holds ${capacity} ${what} and accepts no more. Reset it.`,
    );
}
