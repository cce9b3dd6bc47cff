/**
 * Verifies webhook deliveries, and answers them. Loads neither the API client nor its dependencies.
 *
 * @module
 */
export { WebhookConfigError, WebhookPayloadError, WebhookVerificationError } from '../errors.js';
export type { CurrencyCode } from '../schemas/currency.js';
export type { OrderPaidEvent, UnknownEvent, WebhookEvent } from '../schemas/event.js';
export type { RawBody } from './body.js';
export type { ClaimOptions } from './claims.js';
export { handler } from './handler.js';
export type { WebhookHeaders } from './headers.js';
export { type NodeRequest, type NodeResponse, nodeHandler } from './node-handler.js';
export type { HandlerOptions } from './receiver.js';
export type { SignatureScheme, SignedMessage } from './scheme.js';
export type { WebhookSecret } from './secret.js';
export { type SignOptions, sign } from './sign.js';
export { type VerifyOptions, verify } from './verify.js';
