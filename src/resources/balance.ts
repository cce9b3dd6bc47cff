import { ApiPromise } from '../api-promise.js';
import { type Balance, balanceSchema } from '../schemas/balance.js';
import type { CallOptions } from '../transport/call-options.js';
import type { Transport } from '../transport/transport.js';

const retrieve = { operation: 'balance.retrieve', method: 'GET', path: '/v1/balance' };

/** The methods of `client.balance`. */
export class BalanceResource {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Reads what the merchant's account holds.
   *
   * @throws {AuthenticationError} the key was refused.
   * @see docs/service.md, "GET /v1/balance"
   * @example
   * ```ts
   * const { available, currency } = await payments.balance.retrieve();
   * console.log(`${available} ${currency} available`);
   * ```
   */
  retrieve(options?: CallOptions): ApiPromise<Balance> {
    return new ApiPromise(this.#transport.send(retrieve, balanceSchema, options, () => undefined));
  }
}
