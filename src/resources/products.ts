import { ApiPromise, type Completed } from '../api-promise.js';
import type { Issue } from '../errors.js';
import { ListPromise, Page } from '../pagination.js';
import {
  type ProductCreateParams,
  type ProductListParams,
  type ProductUpdateParams,
  productCreateParams,
  productListParams,
  productUpdateParams,
} from '../schemas/params.js';
import {
  type Product,
  productListSchema,
  productSchema,
  type UpdatedProduct,
  updatedProductSchema,
} from '../schemas/product.js';
import type { RequestParts } from '../transport/call.js';
import type { CallOptions } from '../transport/call-options.js';
import type { Transport } from '../transport/transport.js';
import { checkParams, idProblems } from './check.js';

const create = {
  operation: 'products.create',
  method: 'POST',
  path: '/v1/products',
  afterDoubt: 'Look for the product with products.list() before you create it again.',
};
const list = {
  operation: 'products.list',
  method: 'GET',
  path: '/v1/products',
  afterDoubt: '',
  extraOptions: ['prefetch'],
};
const update = {
  operation: 'products.update',
  method: 'PATCH',
  path: '/v1/products/{id}',
  afterDoubt:
    'Look the product up with products.list(), or send the same update again: it sets the same fields.',
};

/** Options of `products.list`. */
export interface ListOptions extends CallOptions {
  /** How many pages may be held at once while iterating, 1 to 8. Default 1: no page is requested before it is needed. */
  prefetch?: number | undefined;
}

/** `client.products`: what the merchant sells. */
export class ProductsResource {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Creates a product. It starts `ACTIVE` and can be sold at once.
   *
   * Not retried once it may have been sent: the service has no idempotency key.
   *
   * @throws {InvalidParamsError} a field breaks a limit; nothing was sent.
   * @throws {AuthenticationError} the key was refused.
   * @see Spec, "POST /v1/products: create a product"
   * @example
   * ```ts
   * const product = await payments.products.create({ name: 'Handmade mug', price: '19.90', currency: 'EUR' });
   * console.log(product.id, product.price);
   * ```
   */
  create(params: ProductCreateParams, options?: CallOptions): ApiPromise<Product> {
    return this.#transport.send(create, productSchema, options, () => ({
      body: checkParams(create, productCreateParams, params),
    }));
  }

  /**
   * Lists products: await it for one page, or iterate over it for every product from that page on.
   *
   * @throws {InvalidParamsError} `page`, `size` or `status` breaks a limit; nothing was sent.
   * @see Spec, "GET /v1/products: list products"
   * @example
   * ```ts
   * const page = await payments.products.list({ status: 'ACTIVE', size: 50 });
   * console.log(page.pagination.total);
   * for await (const product of payments.products.list({}, { prefetch: 4 })) console.log(product.name);
   * ```
   */
  list(params: ProductListParams = {}, options: ListOptions = {}): ListPromise<Product> {
    const page = async (own: ListOptions, read: () => ListParts): Promise<Completed<Page<Product>>> => {
      const { data, facts, parts } = await this.#transport.complete(list, productListSchema, own, read);
      const ask = (number: number) =>
        new ApiPromise(page(parts.options, () => ({ ...parts, query: { ...parts.query, page: number } })));
      return { data: new Page(data, { ask, prefetch: parts.options.prefetch ?? 1 }), facts };
    };
    return new ListPromise(page(options, () => readListParts(params, options)));
  }

  /**
   * Changes the fields that are given and leaves the others. The response has no `status`: the spec leaves it out.
   *
   * Not retried once it may have been sent: the service has no idempotency key.
   *
   * @throws {InvalidParamsError} a field breaks a limit, or there is none to change; nothing was sent.
   * @throws {NotFoundError} there is no product with this id.
   * @see Spec, "PATCH /v1/products/{id}: update a product"
   * @example
   * ```ts
   * const { id } = await payments.products.create({ name: 'Poster', price: '5.00' });
   * const updated = await payments.products.update(id, { price: '6.50' });
   * console.log(updated.price);
   * ```
   */
  update(id: string, params: ProductUpdateParams, options?: CallOptions): ApiPromise<UpdatedProduct> {
    return this.#transport.send(update, updatedProductSchema, options, () => ({
      body: checkParams(update, productUpdateParams, params, [...idProblems(id), ...emptyProblems(params)]),
      id,
    }));
  }
}

/** The parameters and options of every page of a list, without the page number. */
interface ListParts extends RequestParts {
  query: NonNullable<RequestParts['query']>;
  options: ListOptions;
}

/** Copied, so that later changes by the caller do not affect later pages. */
function readListParts(params: ProductListParams, given: ListOptions): ListParts {
  // Own fields alone: the copy must not make what a polluted prototype adds its own.
  const options: ListOptions = Object.assign(Object.create(null), given);
  options.headers = { ...options.headers };
  const query = checkParams(list, productListParams, params, prefetchProblems(options.prefetch ?? 1));
  return { query: { ...query }, options };
}

function emptyProblems(params: unknown): Issue[] {
  if (typeof params !== 'object' || params === null) return [];
  const given = Object.values(params).some((value) => value !== undefined);
  return given ? [] : [{ path: '', message: 'are empty. Pass at least one field to change.' }];
}

function prefetchProblems(prefetch: unknown): Issue[] {
  const right = typeof prefetch === 'number' && Number.isInteger(prefetch) && prefetch >= 1 && prefetch <= 8;
  return right ? [] : [{ path: 'options.prefetch', message: 'must be an integer from 1 to 8.' }];
}
