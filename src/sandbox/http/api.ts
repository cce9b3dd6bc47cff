import type { Context } from 'hono';
import { Hono } from 'hono/tiny';
import {
  checkoutCreateParams,
  productCreateParams,
  productListParams,
  productUpdateParams,
} from '../../schemas/params.js';
import type { SandboxContext } from '../context.js';
import type { StoredCheckout } from '../service/checkout.js';
import { twoDecimals } from '../service/money.js';
import type { Product } from '../service/product.js';
import { capacity } from '../service/store.js';
import { readObject } from './body.js';
import { type ApiEnv, Refusal, type RequestNotes } from './notes.js';
import { readParameters } from './parameters.js';
import { success } from './responses.js';
import { checkCredentials, readProduct } from './silent-limits.js';
import { type RouteTable, serveTable } from './table.js';
import * as wire from './wire.js';

type Call = Context<ApiEnv>;

/** The operations of the specification, under `/v1`. The caller handles key, log and errors. */
export function documentedApi(context: SandboxContext) {
  const { store, clock, payments, settings, reach } = context;
  const { choices } = settings;

  /** A checkout as its retrieval shows it. */
  function session(checkout: StoredCheckout, notes: RequestNotes): Response {
    notes.mark('expiresIn');
    const url = reach.checkoutUrl(checkout.id);
    return success(notes, wire.checkoutSession(checkout, url, choices.expiresIn.unit));
  }

  async function createProduct(c: Call) {
    const notes = c.get('notes');
    const params = readProduct(productCreateParams, await readObject(c.req.raw, notes), notes);
    full(store.products, 'products');
    const product = payments.createProduct(params);
    markPrice(product, notes);
    return success(notes, wire.createdProduct(product));
  }

  function listProducts(c: Call) {
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
  }

  async function updateProduct(c: Call) {
    const notes = c.get('notes');
    const body = await readObject(c.req.raw, notes);
    const product = found(store.products.get(c.req.param('id') ?? ''), 'product with this id');
    const params = readProduct(productUpdateParams, body, notes);
    if (Object.keys(params).length === 0)
      notes.limit('emptyUpdate', 'The body has no field to update. Send at least one.');
    Object.assign(product, params, { updatedAt: new Date(clock.now()) });
    markPrice(product, notes);
    return success(notes, wire.updatedProduct(product));
  }

  async function createCheckout(c: Call) {
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
    markPrice(product, notes);
    const amount = twoDecimals(product.price);
    const checkout = payments.createCheckout({ ...params, amount, currency: product.currency });
    notes.mark('checkoutCreated');
    if (choices.checkoutCreated === 'session') return session(checkout, notes);
    return success(notes, { url: reach.checkoutUrl(checkout.id) });
  }

  const retrieveCheckout = (c: Call) =>
    session(found(store.checkouts.get(c.req.param('id') ?? ''), 'checkout with this id'), c.get('notes'));

  function retrieveBalance(c: Call) {
    const notes = c.get('notes');
    if (store.orders.size > 0) notes.mark('settlement', 'fees');
    return success(notes, wire.balance(store.ledger, settings.currency));
  }

  const operations: RouteTable<ApiEnv> = {
    '/products': { GET: listProducts, POST: createProduct },
    '/products/:id': { PATCH: updateProduct },
    '/checkouts': { POST: createCheckout },
    '/checkouts/:id': { GET: retrieveCheckout },
    '/balance': { GET: retrieveBalance },
  };
  const api = new Hono<ApiEnv>();
  serveTable(api, operations, (c, allow) => {
    const message = `${c.req.method} is not an operation of this path. It has ${allow}.`;
    throw new Refusal('wrong_method', message, { allow });
  });
  api.all('*', () => {
    throw new Refusal('unknown_path', 'There is nothing at this path.');
  });
  const paths = Object.keys(operations).map((path) => path.replace(/:\w+/, '[^/]+'));
  const documented = new RegExp(`^/v1(?:${paths.join('|')})$`);
  /** `isDocumented` tells whether the specification has a path, for any method. */
  return { api, isDocumented: (path: string) => documented.test(path) };
}

/** A price is returned as it was sent, which only shows where it was sent without two decimals. */
function markPrice({ price }: Product, notes: RequestNotes): void {
  if (twoDecimals(price) !== price) notes.mark('priceText');
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
