/**
 * A local sandbox that emulates the whole API, for tests and for trying things out: products, checkouts, a payment page,
 * signed webhooks, a clock that you can move and faults that you can set.
 *
 * @module merchant-payments/sandbox
 */

export type { Diagnosis, DoctorOptions, ProbeName, ProbeResult } from '../doctor/diagnosis.js';
export type { Finding, FindingCode } from '../doctor/findings.js';
export { type Identification, type IdentifyOptions, identifyScheme } from '../doctor/identify.js';
export type { NewProduct } from '../schemas/params.js';
export type { WebhookTarget } from '../sending/delivery.js';
export { createSandbox } from './create.js';
export type { Tamper } from './delivery/signing.js';
export type { Fault, RequestFault, WebhookFault } from './faults.js';
export type { LoggedRequest } from './http/log.js';
export type { ListenOptions } from './http/reach.js';
export type { PageMessages } from './pages/payment/messages.js';
export type { Paid, Sandbox } from './sandbox.js';
export { SandboxError, type SandboxErrorCode } from './sandbox-error.js';
export type {
  CheckoutState,
  DeclineReason,
  PaymentMethod,
  SandboxCheckout,
  SandboxOrder,
} from './service/checkout.js';
export type { Duration } from './service/duration.js';
export type { Attempt, EventState, SandboxEvent } from './service/event.js';
export type { EventLink } from './service/event-links.js';
export type { EventType } from './service/event-types.js';
export type { Balance } from './service/money.js';
export type { Product } from './service/product.js';
export type { SandboxSnapshot } from './service/snapshot.js';
export type { TriggerOptions } from './service/trigger.js';
export type { ErrorKind, FixedChoice, UnspecifiedChoices } from './service/unspecified.js';
export type { SandboxOptions, WebhookSigning } from './settings.js';
