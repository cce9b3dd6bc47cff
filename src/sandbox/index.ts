/**
 * The whole service on your own machine, for tests and for trying things out: products, checkouts, a payment page,
 * signed webhooks, a clock that you can move and faults that you can set.
 *
 * @module
 */
export type { WebhookTarget } from '../doctor/delivery.js';
export type { Diagnosis, DoctorOptions, ProbeName, ProbeResult } from '../doctor/diagnosis.js';
export type { Finding, FindingCode } from '../doctor/findings.js';
export { type Identification, type IdentifyOptions, identifyScheme } from '../doctor/identify.js';
export { createSandbox } from './create.js';
export type { Tamper } from './delivery/signing.js';
export type { Fault, RequestFault, WebhookFault } from './faults.js';
export type { LoggedRequest } from './http/log.js';
export type { ListenOptions } from './http/reach.js';
export type { PageMessages } from './pages/payment/messages.js';
export type { Paid, Sandbox } from './sandbox.js';
export { SandboxError, type SandboxErrorCode } from './sandbox-error.js';
export type { CheckoutState, DeclineReason, PaymentMethod, SandboxCheckout } from './service/checkout.js';
export type { Duration } from './service/duration.js';
export type { Attempt, EventState, SandboxEvent } from './service/event.js';
export type { EventLink } from './service/event-links.js';
export type { Balance } from './service/ledger.js';
export type { SandboxOrder } from './service/order.js';
export type { Product } from './service/product.js';
export type { SandboxSnapshot } from './service/snapshot.js';
export type { ErrorKind, UnspecifiedChoices } from './service/unspecified.js';
export type { SandboxOptions } from './settings.js';
