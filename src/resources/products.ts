// This folder has the methods of the client: each names its operation, its parameters' schema and its response's.
import { ApiPromise, type Completed } from '../api-promise.js';
import type { Issue } from '../errors.js';
import { readInto } from '../input/read.js';
import { ListPromise, Page } from '../pagination.js';
import {
  idParams,
  newProductParams,
  type ProductCreateParams,
  type ProductListParams,
  type ProductUpdateParams,
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
import type { ReadParts } from '../transport/call.js';
import type { CallOptions, ListOptions } from '../transport/call-options.js';
import type { Transport } from '../transport/transport.js';

const create = {
  operation: 'products.create',
  method: 'POST',
  path: '/v1/products',
  recoveryHint: 'Look for the product with products.list() before you create it again.',
};
const list = { operation: 'products.list', method: 'GET', path: '/v1/products', isList: true };
const update = {
  operation: 'products.update',
  method: 'PATCH',
  path: '/v1/products/{id}',
  recoveryHint: 'Look the product up with products.list(), or send the same update again.',
};

/** The methods of `client.products`, for the products that the merchant sells. */
export class ProductsResource {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Creates a product. It starts `ACTIVE` and can be sold at once.
   *
   * The call is not retried once it may have been sent, because the service has no idempotency key.
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
        body: readInto(issues, newProductParams, params),
      })),
    );
  }

  /**
   * Lists products. Await the result for one page, or iterate over it for every product from that page on.
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
  list(params: ProductListParams = {}, options?: ListOptions): ListPromise<Product> {
    const readParts: ReadParts = (issues) => ({ query: readInto(issues, productListParams, params) });
    const loopController = new AbortController();
    return new ListPromise(
      this.#listPage(options, readParts, loopController),
      loopController,
      list.operation,
    );
  }

  /** Requests one page. It requests the other pages with the parameters and options that were read for the first call. */
  async #listPage(
    options: ListOptions | undefined,
    readFirst: ReadParts,
    firstController?: AbortController,
  ): Promise<Completed<Page<Product>>> {
    const listed = await this.#transport.send(list, productListSchema, options, readFirst, firstController);
    const ask = (page: number, loopController?: AbortController) =>
      new ApiPromise(
        this.#listPage(listed.options, () => ({ query: { ...listed.parts.query, page } }), loopController),
      );
    const source = { operation: list, prefetch: listed.options.prefetch ?? 1, ask };
    return { data: new Page(listed.data, source), facts: listed.facts };
  }

  /**
   * Changes the given fields and leaves the others. The response has no `status`: the spec leaves it out.
   *
   * The call is not retried once it may have been sent, because the service has no idempotency key.
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
        ...readInto(issues, idParams, { id }),
        body: checkUpdate(issues, params),
      })),
    );
  }
}

function checkUpdate(issues: Issue[], params: ProductUpdateParams): ProductUpdateParams | undefined {
  const body = readInto(issues, productUpdateParams, params);
  if (body && Object.values(body).every((value) => value === undefined))
    issues.push({ path: '', message: 'are empty. Pass at least one field to change.' });
  return body;
}
