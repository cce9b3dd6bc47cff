/**
 * Verifies webhook deliveries and responds to them. Loads neither the API client nor its dependencies.
 *
 * The service does not document how it signs: the default scheme is a guess.
 *
 * @module merchant-payments/webhooks
 */
export { WebhookConfigError, WebhookPayloadError, WebhookVerificationError } from '../errors.js';
export type { HooksOf } from '../input/hooks.js';
export type { CurrencyCode } from '../schemas/currency.js';
export type { OrderPaidEvent, UnknownEvent, WebhookEvent } from '../schemas/event.js';
export type { RawBody } from './body.js';
export type { LateSecret } from './checks.js';
export type { Delivery } from './delivery.js';
export { handler } from './handler.js';
export type { WebhookHeaders } from './headers.js';
export type { DeliveryFacts, WebhookHookFacts, WebhookHooks } from './hooks.js';
export {
  type FrameworkRequest,
  type FrameworkResponse,
  type NodeListener,
  type NodeRequest,
  type NodeResponse,
  nodeHandler,
} from './node-handler.js';
export type { AcceptOptions, HandlerOptions, OnOptions } from './on-or-accept.js';
export { type RecoverOptions, recover } from './recover.js';
export type { RefusedDelivery } from './refused.js';
export type { ReceiverOptions } from './responder.js';
export type { SignatureScheme, SignedMessage } from './scheme.js';
export type { WebhookSecret } from './secret.js';
export { type SignOptions, sign } from './sign.js';
export { type VerifyOptions, verify } from './verify.js';
