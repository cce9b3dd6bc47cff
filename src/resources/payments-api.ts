import type { Balance } from '../schemas/balance.js';
import type { CheckoutSession, CreatedCheckout } from '../schemas/checkout.js';
import type { Pagination } from '../schemas/pagination.js';
import type {
  CheckoutCreateParams,
  ProductCreateParams,
  ProductListParams,
  ProductUpdateParams,
} from '../schemas/params.js';
import type { Product, UpdatedProduct } from '../schemas/product.js';
import type { CallOptions, ListOptions } from '../transport/call-options.js';
import type { RawRequest } from './raw-request.js';

/**
 * The methods of a `PaymentsClient` with plain promises: a type for your own functions that take a client. A client of
 * another version of the package also has this type, and a test may replace any method with a function of its own.
 *
 * @example
 * ```ts
 * import type { PaymentsApi } from 'merchant-payments';
 *
 * async function pay(payments: Pick<PaymentsApi, 'checkouts'>, productId: string): Promise<string> {
 *   const { url } = await payments.checkouts.create({ productId });
 *   return url;
 * }
 * console.log(pay.name);
 * ```
 */
export interface PaymentsApi {
  /** The products that the merchant sells. */
  readonly products: ProductsApi;
  /** The sessions in which customers pay. */
  readonly checkouts: CheckoutsApi;
  /** The balance of the account. */
  readonly balance: BalanceApi;
  /** Calls an operation that this version has no method for. */
  request<T = unknown>(request: RawRequest, options?: CallOptions): Promise<T>;
}

/** The methods of `client.products`. */
export interface ProductsApi {
  /** Creates a product. */
  create(params: ProductCreateParams, options?: CallOptions): Promise<Product>;
  /** Lists products. Resolves to a page, which iterates over every product from there on. */
  list(params?: ProductListParams, options?: ListOptions): Promise<ProductPage>;
  /** Changes the given fields and leaves the others. */
  update(id: string, params: ProductUpdateParams, options?: CallOptions): Promise<UpdatedProduct>;
}

/** A page of products, with the part of `Page` that does not depend on the version of the package. */
export interface ProductPage extends AsyncIterable<Product> {
  /** The products of this page, in the order of the service. */
  readonly items: readonly Product[];
  /** The position of this page in the list. */
  readonly pagination: Pagination;
  /** True if the list goes on after this page. */
  readonly hasNextPage: boolean;
  /** Returns the next page, or `null` if this is the last. */
  nextPage(): Promise<ProductPage | null>;
}

/** The methods of `client.checkouts`. */
export interface CheckoutsApi {
  /** Creates a checkout session. */
  create(params: CheckoutCreateParams, options?: CallOptions): Promise<CreatedCheckout>;
  /** Reads a checkout session. */
  retrieve(id: string, options?: CallOptions): Promise<CheckoutSession>;
}

/** The methods of `client.balance`. */
export interface BalanceApi {
  /** Reads what the merchant's account holds. */
  retrieve(options?: CallOptions): Promise<Balance>;
}
