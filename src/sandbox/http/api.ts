import type { Context } from 'hono';
import { Hono } from 'hono/tiny';
import {
  checkoutCreateParams,
  limits,
  productCreateParams,
  productListParams,
  productUpdateParams,
} from '../../schemas/params.js';
import type { SandboxContext } from '../context.js';
import { twoDecimals } from '../service/cents.js';
import type { ProductRecord } from '../service/records.js';
import { capacity } from '../service/store.js';
import { success } from './answers.js';
import { readObject } from './body.js';
import { type ApiEnv, type Exchange, Refusal } from './exchange.js';
import { readParameters } from './parameters.js';
import * as wire from './wire.js';

type Call = Context<ApiEnv>;

/** The six operations of the specification, under `/v1`. Key, log and errors are the caller's. */
export function documentedApi(context: SandboxContext): Hono<ApiEnv> {
  const { store, clock, payments, settings } = context;
  const { choices } = settings;
  const api = new Hono<ApiEnv>();

  /** The price in an answer to create or update. */
  function sentPrice(product: ProductRecord, exchange: Exchange): string {
    const normal = twoDecimals(product.price);
    if (normal !== product.price) exchange.mark('priceText');
    return choices.priceText === 'as-sent' ? product.price : normal;
  }

  api.post('/products', async (c: Call) => {
    const exchange = c.get('exchange');
    const body = withTextMetadata(await readObject(c.req.raw, exchange), exchange, choices.metadata);
    const params = readParameters(productCreateParams, body, exchange, choices);
    checkProduct(params, exchange, choices.nameLength);
    full(store.products, 'products');
    const product = payments.createProduct(params);
    return success(exchange, wire.createdProduct(product, sentPrice(product, exchange)));
  });

  api.get('/products', (c: Call) => {
    const exchange = c.get('exchange');
    const query = Object.fromEntries(
      Object.entries(c.req.query()).map(([name, text]) => [
        name,
        name !== 'status' && /^-?\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : text,
      ]),
    );
    const { status, page = 1, size = 20 } = readParameters(productListParams, query, exchange, choices);
    const all = [...store.products.values()].filter((one) => status === undefined || one.status === status);
    if (choices.listOrder === 'newest-first') all.reverse();
    const totalPages = Math.ceil(all.length / size);
    if (all.length > 1 || page > totalPages) exchange.mark('listOrder');
    return success(exchange, {
      items: all.slice((page - 1) * size, page * size).map(wire.listedProduct),
      pagination: { page, size, total: all.length, totalPages },
    });
  });

  api.patch('/products/:id', async (c: Call) => {
    const exchange = c.get('exchange');
    const body = withTextMetadata(await readObject(c.req.raw, exchange), exchange, choices.metadata);
    const product = store.products.get(c.req.param('id') ?? '');
    if (!product) throw new Refusal('unknown_id', 'There is no product with this id.');
    const params = readParameters(productUpdateParams, body, exchange, choices);
    checkProduct(params, exchange, choices.nameLength);
    Object.assign(product, params, { updatedAt: clock.now() });
    return success(exchange, wire.updatedProduct(product, sentPrice(product, exchange)));
  });

  api.post('/checkouts', async (c: Call) => {
    const exchange = c.get('exchange');
    const body = await readObject(c.req.raw, exchange);
    if (checkoutFields.some((name) => body[name] === undefined)) exchange.mark('checkoutRequired');
    const params = readParameters(checkoutCreateParams, body, exchange, choices);
    const missing = choices.checkoutRequired.filter((name) => params[name] === undefined);
    if (missing.length > 0) throw new Refusal('validation', `${missing.join(', ')}: missing.`);
    for (const name of ['successUrl', 'cancelUrl'] as const) refuseCredentials(params[name], name);
    const product = store.products.get(params.productId);
    if (!product) throw new Refusal('unknown_id', 'There is no product with this productId.');
    if (product.status === 'ARCHIVED')
      throw new Refusal('archived_product', 'The product is archived and cannot be used for checkout.');
    full(store.checkouts, 'checkouts');
    const amount = twoDecimals(product.price);
    if (amount !== product.price) exchange.mark('priceText');
    const checkout = payments.createCheckout({ ...params, amount, currency: product.currency });
    const url = context.checkoutUrl(checkout.id);
    exchange.mark('checkoutCreated');
    if (choices.checkoutCreated === 'url') return success(exchange, { url });
    exchange.mark('expiresIn');
    return success(exchange, wire.checkoutSession(checkout, url, choices.expiresIn.unit));
  });

  api.get('/checkouts/:id', (c: Call) => {
    const checkout = store.checkouts.get(c.req.param('id') ?? '');
    if (!checkout) throw new Refusal('unknown_id', 'There is no checkout with this id.');
    c.get('exchange').mark('expiresIn');
    return success(
      c.get('exchange'),
      wire.checkoutSession(checkout, context.checkoutUrl(checkout.id), choices.expiresIn.unit),
    );
  });

  api.get('/balance', (c: Call) => {
    if (store.orders.size > 0) c.get('exchange').mark('settlement', 'fees');
    return success(c.get('exchange'), wire.balance(store.ledger, settings.currency));
  });

  for (const [path, methods] of Object.entries(allowedMethods)) {
    api.all(path, (c: Call) => {
      const message = `${c.req.method} is no operation of this path. It takes ${methods}.`;
      throw new Refusal('wrong_method', message, { allow: methods });
    });
  }
  api.all('*', () => {
    throw new Refusal('unknown_path', 'There is nothing at this path.');
  });
  return api;
}

/** The paths of the specification and what they take. */
const allowedMethods: Record<string, string> = {
  '/products': 'GET, POST',
  '/products/:id': 'PATCH',
  '/checkouts': 'POST',
  '/checkouts/:id': 'GET',
  '/balance': 'GET',
};

/** Whether the specification has this path, in whatever method. */
export function isDocumentedPath(path: string): boolean {
  return /^\/v1\/(?:products(?:\/[^/]+)?|checkouts(?:\/[^/]+)?|balance)$/.test(path);
}

const checkoutFields = ['productId', 'successUrl', 'cancelUrl', 'displayMerchantName'] as const;

/** Numbers and booleans in `metadata` as text: the spec has arbitrary values, shown as strings. */
function withTextMetadata(
  body: Record<string, unknown>,
  exchange: Exchange,
  choice: 'to-text' | 'text-only',
): Record<string, unknown> {
  const { metadata } = body;
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return body;
  const entries = Object.entries(metadata);
  if (entries.every(([, value]) => typeof value === 'string')) return body;
  exchange.mark('metadata');
  if (choice === 'text-only') return body;
  const asText = (value: unknown) =>
    typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  return { ...body, metadata: Object.fromEntries(entries.map(([name, value]) => [name, asText(value)])) };
}

function checkProduct(
  params: { name?: string | undefined; image?: string | undefined },
  exchange: Exchange,
  counted: 'code-points' | 'utf-16',
): void {
  if (params.name !== undefined && params.name.length > limits.nameLength) {
    exchange.mark('nameLength');
    if (counted === 'utf-16')
      throw new Refusal(
        'validation',
        `name: has ${params.name.length} UTF-16 units. Pass at most ${limits.nameLength}.`,
      );
  }
  if (params.image === undefined) return;
  if (!/^https?:$/.test(new URL(params.image).protocol))
    throw new Refusal('validation', 'image: is not an http: or https: URL.');
  refuseCredentials(params.image, 'image');
}

/** A URL with a user name in it can show another host than it leads to. */
function refuseCredentials(url: string | undefined, name: string): void {
  if (url === undefined) return;
  const { username, password } = new URL(url);
  if (username !== '' || password !== '')
    throw new Refusal('validation', `${name}: holds a user name or password. Pass a URL without them.`);
}

function full(map: ReadonlyMap<string, unknown>, what: string): void {
  if (map.size >= capacity)
    throw new Refusal(
      'too_many_objects',
      `The sandbox holds ${capacity} ${what}, and takes no more. Reset it.`,
    );
}
