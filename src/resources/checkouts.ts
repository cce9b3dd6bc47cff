import { ApiPromise } from '../api-promise.js';
import { readInto } from '../input/read.js';
import { type CheckoutSession, type CreatedCheckout, checkoutSchemas } from '../schemas/checkout.js';
import { type CheckoutCreateParams, checkoutCreateParams, idParams } from '../schemas/params.js';
import type { CallOptions } from '../transport/call-options.js';
import type { Transport } from '../transport/transport.js';

const create = {
  operation: 'checkouts.create',
  method: 'POST',
  path: '/v1/checkouts',
  recoveryHint: 'A session that no customer is sent to charges nobody, so it is safe to create another.',
};
const retrieve = { operation: 'checkouts.retrieve', method: 'GET', path: '/v1/checkouts/{id}' };

/** The methods of `client.checkouts`, for the sessions in which customers pay. */
export class CheckoutsResource {
  readonly #transport: Transport;
  readonly #schemas: ReturnType<typeof checkoutSchemas>;

  /** @internal */
  constructor(transport: Transport, allowInsecureHttp: boolean) {
    this.#transport = transport;
    this.#schemas = checkoutSchemas(allowInsecureHttp);
  }

  /**
   * Creates a checkout session and returns the hosted payment page's `url`: redirect the customer there.
   *
   * Only `url` is guaranteed; `id` and the other fields are present if the service sends them.
   * The call is not retried once it may have been sent, because the service has no idempotency key.
   *
   * @throws {InvalidParamsError} a field breaks a limit; nothing was sent.
   * @throws {AuthenticationError} the key was refused.
   * @see docs/service.md, "POST /v1/checkouts"
   * @example
   * ```ts
   * const { id: productId } = await payments.products.create({ name: 'Handmade mug', price: '19.90' });
   * const checkout = await payments.checkouts.create({
   *   productId,
   *   successUrl: 'https://shop.example/thanks',
   *   cancelUrl: 'https://shop.example/cart',
   * });
   * console.log(checkout.url);
   * ```
   */
  create(params: CheckoutCreateParams, options?: CallOptions): ApiPromise<CreatedCheckout> {
    return new ApiPromise(
      this.#transport.send(create, this.#schemas.created, options, (issues) => ({
        body: readInto(issues, checkoutCreateParams, params),
      })),
    );
  }

  /**
   * Reads a checkout session. It shows the amount to pay, but not if it was paid: only the webhook tells you that.
   *
   * @throws {NotFoundError} there is no session with this id.
   * @see docs/service.md, "GET /v1/checkouts/{id}"
   * @example
   * ```ts
   * const product = await payments.products.create({ name: 'Poster', price: '5.00' });
   * const { id } = await payments.checkouts.create({ productId: product.id });
   * if (id) console.log((await payments.checkouts.retrieve(id)).expiresAt);
   * ```
   */
  retrieve(id: string, options?: CallOptions): ApiPromise<CheckoutSession> {
    return new ApiPromise(
      this.#transport.send(retrieve, this.#schemas.session, options, (issues) =>
        readInto(issues, idParams, { id }),
      ),
    );
  }
}
