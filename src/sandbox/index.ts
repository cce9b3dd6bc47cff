/**
 * The whole service on your own machine, for tests and for trying things out: products, checkouts, a payment page,
 * signed webhooks, a clock that can be moved and faults on order.
 *
 * @module
 */
export type {
  Diagnosis,
  DoctorOptions,
  Finding,
  FindingCode,
  ProbeName,
  ProbeResult,
} from '../doctor/diagnosis.js';
export { type Identification, type IdentifyOptions, identifyScheme } from '../doctor/identify.js';
export { createSandbox } from './sandbox.js';
export { SandboxError, type SandboxErrorCode } from './sandbox-error.js';
export type { ErrorKind, UnspecifiedChoices } from './service/unspecified.js';
export type {
  Attempt,
  Balance,
  CheckoutState,
  DeclineReason,
  Duration,
  EventState,
  Fault,
  ListenOptions,
  LoggedRequest,
  PageMessages,
  Paid,
  PaymentMethod,
  Product,
  RequestFault,
  Sandbox,
  SandboxCheckout,
  SandboxEvent,
  SandboxOptions,
  SandboxOrder,
  SandboxSnapshot,
  Tamper,
  WebhookFault,
  WebhookTarget,
} from './types.js';
