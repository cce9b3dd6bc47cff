/**
 * A local sandbox that emulates the whole API, for tests and for trying things out: products, checkouts, a payment page,
 * signed webhooks, a clock that you can move and faults that you can set.
 *
 * @module merchant-payments/sandbox
 */

export type { Diagnosis, DoctorOptions } from '../doctor/doctor.js';
export type { ProbeResult } from '../doctor/examination.js';
export type { Finding, FindingCode } from '../doctor/findings.js';
export { type Identification, type IdentifyOptions, identifyScheme } from '../doctor/identify.js';
export type { ProbeName } from '../doctor/probes.js';
export type { SandboxErrorCode } from '../errors.js';
export type { Duration } from '../input/duration.js';
export type { Balance } from '../schemas/balance.js';
export type { NewProduct } from '../schemas/params.js';
export type { Product } from '../schemas/product.js';
export type { WebhookTarget } from '../sending/delivery.js';
export { SandboxError } from './checks.js';
export { createSandbox } from './create.js';
export type { Tamper } from './delivery/signing.js';
export type { Fault, RequestFault, WebhookFault } from './faults.js';
export type { LoggedRequest } from './http/log.js';
export type { ListenOptions } from './http/node.js';
export type { Paid, Sandbox } from './sandbox.js';
export type { FixedChoice, UnspecifiedChoices } from './service/choices.js';
export type { Attempt, EventLink, EventState, EventType, SandboxEvent } from './service/event.js';
export type {
  CheckoutState,
  DeclineReason,
  PaymentMethod,
  SandboxCheckout,
  SandboxOrder,
} from './service/records.js';
export type { SandboxSnapshot } from './service/snapshot.js';
export type { TriggerOptions } from './service/trigger.js';
export type { SandboxOptions, WebhookSigning } from './settings.js';
