import { ApiPromise, type Completed } from '../api-promise.js';
import type { Issue } from '../errors.js';
import { ListPromise, Page } from '../pagination.js';
import { readFields } from '../schemas/fields.js';
import { isObject, ownFields } from '../schemas/object.js';
import {
  checkId,
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
  isList: true,
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
   * @see docs/service.md, "POST /v1/products"
   * @example
   * ```ts
   * const product = await payments.products.create({ name: 'Handmade mug', price: '19.90', currency: 'EUR' });
   * console.log(product.id, product.price);
   * ```
   */
  create(params: ProductCreateParams, options?: CallOptions): ApiPromise<Product> {
    return new ApiPromise(
      this.#transport.send(create, productSchema, options, (issues) => ({
        body: readFields(issues, productCreateParams, withoutNulls(params)),
      })),
    );
  }

  /**
   * Lists products: await it for one page, or iterate over it for every product from that page on.
   *
   * @throws {InvalidParamsError} `page`, `size` or `status` breaks a limit; nothing was sent.
   * @see docs/service.md, "GET /v1/products"
   * @example
   * ```ts
   * const page = await payments.products.list({ status: 'ACTIVE', size: 50 });
   * console.log(page.pagination.total);
   * for await (const product of payments.products.list({}, { prefetch: 4 })) console.log(product.name);
   * ```
   */
  list(params: ProductListParams = {}, options: ListOptions = {}): ListPromise<Product> {
    const read = async (
      own: ListOptions,
      parts: (issues: Issue[]) => ListParts,
    ): Promise<Completed<Page<Product>>> => {
      const { data, facts, parts: all } = await this.#transport.send(list, productListSchema, own, parts);
      const { prefetch = 1, signal } = all.options;
      const ask = (page: number, until = signal) =>
        new ApiPromise(
          read({ ...all.options, signal: until }, () => ({ ...all, query: { ...all.query, page } })),
        );
      return { data: new Page(data, { prefetch, ask, linked: () => this.#transport.linked(signal) }), facts };
    };
    return new ListPromise(
      read(options, (issues) => readListParts(issues, params, options)),
      list.operation,
    );
  }

  /**
   * Changes the fields that are given and leaves the others. The response has no `status`: the spec leaves it out.
   *
   * Not retried once it may have been sent: the service has no idempotency key.
   *
   * @throws {InvalidParamsError} a field breaks a limit, or there is none to change; nothing was sent.
   * @throws {NotFoundError} there is no product with this id.
   * @see docs/service.md, "PATCH /v1/products/{id}"
   * @example
   * ```ts
   * const { id } = await payments.products.create({ name: 'Poster', price: '5.00' });
   * const updated = await payments.products.update(id, { price: '6.50' });
   * console.log(updated.price);
   * ```
   */
  update(id: string, params: ProductUpdateParams, options?: CallOptions): ApiPromise<UpdatedProduct> {
    return new ApiPromise(
      this.#transport.send(update, updatedProductSchema, options, (issues) => ({
        id: checkId(issues, id),
        body: checkUpdate(issues, params),
      })),
    );
  }
}

/** The parameters and options of every page of a list, without the page number. */
interface ListParts extends RequestParts {
  query: NonNullable<RequestParts['query']>;
  options: ListOptions;
}

/** Copied, so that later changes by the caller do not affect later pages. */
function readListParts(issues: Issue[], params: ProductListParams, given: ListOptions): ListParts {
  // Own fields alone: the copy must not make what a polluted prototype adds its own.
  const options: ListOptions = ownFields(given) ?? {};
  options.headers = { ...options.headers };
  return { query: { ...readFields(issues, productListParams, params) }, options };
}

/** `null`, as another product may have it, is the same as absent for `description` and `image`. */
function withoutNulls(params: unknown): unknown {
  if (!isObject(params)) return params;
  const isAbsent = (name: string, value: unknown) =>
    value === null && (name === 'description' || name === 'image');
  return Object.fromEntries(Object.entries(params).filter(([name, value]) => !isAbsent(name, value)));
}

function checkUpdate(issues: Issue[], params: ProductUpdateParams): ProductUpdateParams | undefined {
  if (isObject(params) && Object.values(params).every((value) => value === undefined))
    issues.push({ path: '', message: 'are empty. Pass at least one field to change.' });
  return readFields(issues, productUpdateParams, params);
}
