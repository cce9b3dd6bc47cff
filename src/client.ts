import { ApiPromise } from './api-promise.js';
import { type PaymentsClientOptions, readClientOptions } from './options.js';
import { BalanceResource } from './resources/balance.js';
import { CheckoutsResource } from './resources/checkouts.js';
import type { PaymentsApi } from './resources/payments-api.js';
import { ProductsResource } from './resources/products.js';
import { type RawRequest, readRawRequest, unchecked } from './resources/raw-request.js';
import type { CallOptions } from './transport/call-options.js';
import { Transport } from './transport/transport.js';

/**
 * Takes payments through the hosted checkout. Create one for the life of the process: it keeps connections open.
 *
 * @throws {ConfigurationError} an option is missing or invalid; the message lists every problem.
 * @example
 * ```ts
 * import { PaymentsClient } from 'merchant-payments';
 *
 * const payments = new PaymentsClient(); // PAYMENTS_API_KEY and PAYMENTS_BASE_URL
 * const product = await payments.products.create({ name: 'Handmade mug', price: '19.90' });
 * const checkout = await payments.checkouts.create({ productId: product.id });
 * console.log(checkout.url);
 * ```
 */
export class PaymentsClient implements PaymentsApi {
  /** The products that the merchant sells. */
  readonly products: ProductsResource;
  /** The sessions in which customers pay. */
  readonly checkouts: CheckoutsResource;
  /** The balance of the account. */
  readonly balance: BalanceResource;
  readonly #transport: Transport;

  constructor(options: PaymentsClientOptions = {}) {
    const settings = readClientOptions(options);
    this.#transport = new Transport(settings);
    this.products = new ProductsResource(this.#transport);
    this.checkouts = new CheckoutsResource(this.#transport, settings.allowInsecureHttp);
    this.balance = new BalanceResource(this.#transport);
  }

  /**
   * Calls an operation that this version has no method for, and returns the envelope's `data` without checking it against
   * `T`, or `undefined` if a write's response has no body. Key, time limits, retries and errors are the same as in every
   * other call; all methods but GET count as writes.
   *
   * @throws {InvalidParamsError} method, path, query or body is invalid; nothing was sent.
   * @example
   * ```ts
   * const data = await payments.request({ method: 'GET', path: '/v1/balance' });
   * console.log(data);
   * ```
   */
  request<T = unknown>(request: RawRequest, options?: CallOptions): ApiPromise<T> {
    return new ApiPromise(this.#requestRaw<T>(request, options));
  }

  /** Sends a raw request. The method is async, so that an error from reading the request rejects instead of throwing. */
  async #requestRaw<T>(request: RawRequest, options?: CallOptions) {
    const { operation, readParts } = readRawRequest(request);
    return this.#transport.send<T>(operation, unchecked, options, readParts);
  }
}
