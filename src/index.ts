/**
 * Exports the client, which manages products, checkout sessions and the balance, and the functions for webhooks as `webhooks`.
 *
 * @module merchant-payments
 */
import * as webhooks from './webhooks/index.js';

export type { ApiPromise, ResponseFacts, WithResponse } from './api-promise.js';
export { PaymentsClient } from './client.js';
export {
  type AnyPaymentsError,
  ApiError,
  AuthenticationError,
  ConfigurationError,
  ConflictError,
  ConnectionError,
  type ErrorCode,
  type InboxError,
  InvalidParamsError,
  InvalidRequestError,
  InvalidResponseError,
  type InvalidResponseReason,
  type Issue,
  isPaymentsError,
  NotFoundError,
  type Outcome,
  PaymentsError,
  PermissionDeniedError,
  RateLimitError,
  type ReceivedBody,
  ServerError,
  TimeoutError,
  WebhookConfigError,
  WebhookPayloadError,
  WebhookVerificationError,
} from './errors.js';
export type { PaymentsClientOptions } from './options.js';
export type { ListPromise, Page } from './pagination.js';
export type { BalanceResource } from './resources/balance.js';
export type { CheckoutsResource } from './resources/checkouts.js';
export type {
  BalanceApi,
  CheckoutsApi,
  PaymentsApi,
  ProductPage,
  ProductsApi,
} from './resources/payments-api.js';
export type { ProductsResource } from './resources/products.js';
export type { RawRequest } from './resources/raw-request.js';
export type { Balance } from './schemas/balance.js';
export type { CheckoutSession, CreatedCheckout } from './schemas/checkout.js';
export type { CurrencyCode } from './schemas/currency.js';
export type { OrderPaidEvent, UnknownEvent, WebhookEvent } from './schemas/event.js';
export type { Metadata } from './schemas/metadata.js';
export type { Pagination } from './schemas/pagination.js';
export type {
  CheckoutCreateParams,
  ProductCreateParams,
  ProductListParams,
  ProductUpdateParams,
} from './schemas/params.js';
export type { Product, ProductStatus, UpdatedProduct } from './schemas/product.js';
export type { CallOptions, ListOptions } from './transport/call-options.js';
export type { Fetch } from './transport/given-fetch.js';
export type { EndFacts, HookFacts, Hooks } from './transport/hooks.js';
export type { Delivery } from './webhooks/delivery.js';
export { webhooks };
