/**
 * What became of the operation, as far as is known:
 *
 * - `not_sent`: the request cannot have reached the service; it is safe to retry
 * - `rejected`: the service refused it
 * - `unknown`: it may have been done
 * - `done`: the service responded with success, but the response could not be used
 */
export type Outcome = 'not_sent' | 'rejected' | 'unknown' | 'done';

/** One problem of a parameter or of a response: where it is, and what is wrong. */
export interface Issue {
  /** Dotted path of the field, such as `items.0.price`; empty for the whole value. */
  path: string;
  /** What is wrong, and what to write instead. */
  message: string;
}

/** The facts that every error of a call carries. */
export interface CallFacts {
  outcome: Outcome;
  /** Such as `products.create`; `request` for `client.request()`. */
  operation?: string | undefined;
  /** The HTTP method. */
  method?: string | undefined;
  /** The path template, such as `/v1/products/{id}`. */
  path?: string | undefined;
  /** How many requests were begun. */
  attempts: number;
}

const brand = Symbol.for('merchant-payments.error');

/**
 * Base of everything that this package throws.
 *
 * `instanceof` holds across copies of the package, as when ESM and CommonJS meet in one process.
 */
export class PaymentsError extends Error {
  /** @internal */
  static override readonly name: string = 'PaymentsError';
  /** Stable code for programs: one per class (webhook errors have several). */
  declare readonly code: string;
  /** What became of the operation. Absent on webhook errors, which belong to no call. */
  declare readonly outcome?: Outcome | undefined;
  /** Such as `products.create`; `request` for `client.request()`. */
  declare readonly operation?: string | undefined;
  /** The HTTP method. */
  declare readonly method?: string | undefined;
  /** The path template, such as `/v1/products/{id}`. */
  declare readonly path?: string | undefined;
  /** How many requests were begun. */
  declare readonly attempts?: number | undefined;

  /** @internal */
  constructor(message: string, facts: { code: string; cause?: unknown; [fact: string]: unknown }) {
    const { cause, ...own } = facts;
    super(message, cause === undefined ? undefined : { cause });
    for (const [name, value] of Object.entries(own)) {
      if (value !== undefined) Object.defineProperty(this, name, { value, enumerable: true, writable: true });
    }
  }

  /** The name of the class. */
  override get name(): string {
    return this.constructor.name;
  }

  /** @internal */
  get [brand](): true {
    return true;
  }

  /** @internal */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (!isNamed(this)) return Function.prototype[Symbol.hasInstance].call(this, value);
    if (typeof value !== 'object' || value === null || !(brand in value)) return false;
    for (let link: unknown = Object.getPrototypeOf(value); link; link = Object.getPrototypeOf(link)) {
      const itsClass = link.constructor;
      if (isNamed(itsClass) && itsClass.name === this.name) return true;
    }
    return false;
  }
}

/**
 * Whether a class is one of ours. They state their names as fields, which are enumerable, as no class's own name is;
 * so the names hold where a bundler shortens those of classes, and Node prints them.
 */
function isNamed(value: unknown): boolean {
  return typeof value === 'function' && Object.prototype.propertyIsEnumerable.call(value, 'name');
}

/** Whether a caught value is an error of this package, from whichever copy of it. */
export function isPaymentsError(value: unknown): value is PaymentsError {
  return value instanceof PaymentsError;
}

/** An option of `new PaymentsClient()` is missing or invalid. Nothing was sent. */
export class ConfigurationError extends PaymentsError {
  /** @internal */
  static override readonly name: string = 'ConfigurationError';

  /** @internal */
  constructor(message: string) {
    super(message, { code: 'configuration_error', outcome: 'not_sent', attempts: 0 });
  }
}

/** Parameters were refused before anything was sent; `issues` has every problem. */
export class InvalidParamsError extends PaymentsError {
  /** @internal */
  static override readonly name: string = 'InvalidParamsError';
  declare readonly outcome: 'not_sent';
  /** All problems at once. */
  declare readonly issues: readonly Issue[];

  /** @internal */
  constructor(call: { operation: string; method?: string; path?: string }, issues: readonly Issue[]) {
    const { operation, method, path } = call;
    const text = issues.map((issue) => `${issue.path || 'params'} ${issue.message}`).join(' ');
    super(`${operation}: ${text}`, {
      operation,
      method,
      path,
      issues,
      code: 'invalid_params',
      outcome: 'not_sent',
      attempts: 0,
    });
  }
}

/** No complete response arrived. */
export class ConnectionError extends PaymentsError {
  /** @internal */
  static override readonly name: string = 'ConnectionError';
  declare readonly outcome: Outcome;
  /** How far it got: `connect` (nothing was sent), `exchange` (sent, no response), `body` (the response was cut off). */
  declare readonly phase: 'connect' | 'exchange' | 'body';
  /** Why the connection failed: the system's code, such as `ECONNREFUSED`; else `timeout`, `protocol` (not HTTP) or `network`. */
  declare readonly reason: string;

  /** @internal */
  constructor(
    message: string,
    facts: CallFacts & {
      phase: 'connect' | 'exchange' | 'body';
      reason: string;
      code?: string;
      scope?: 'attempt' | 'total';
      cause?: unknown;
    },
  ) {
    super(message, { ...facts, code: facts.code ?? 'connection_error' });
  }
}

/** Time ran out before a complete response arrived. */
export class TimeoutError extends ConnectionError {
  /** @internal */
  static override readonly name: string = 'TimeoutError';
  /** Which limit: `attempt` is `timeoutMs`, `total` is `totalTimeoutMs`. */
  declare readonly scope: 'attempt' | 'total';

  /** @internal */
  constructor(
    message: string,
    facts: CallFacts & {
      phase: 'connect' | 'exchange' | 'body';
      scope: 'attempt' | 'total';
      cause?: unknown;
    },
  ) {
    super(message, { ...facts, code: 'timeout', reason: 'timeout' });
  }
}

/** What an `ApiError` knows of the response. */
export interface ApiFacts extends CallFacts {
  /** The HTTP status. */
  status: number;
  /** The service's own number: `code` of the envelope, where the body had one. */
  apiCode?: number | undefined;
  /** `message` of the envelope, redacted. */
  apiMessage?: string | undefined;
  /** The wait that `Retry-After` asks for, in milliseconds. */
  retryAfterMs?: number | undefined;
  /** The response's headers, redacted. */
  headers: Headers;
  /** The first of `x-request-id`, `request-id`, `x-correlation-id` and `cf-ray`, redacted. */
  requestId?: string | undefined;
  /** The beginning of the body, at most 200 characters, redacted. */
  bodySnippet?: string | undefined;
}

/** The service refused the call or failed. */
export class ApiError extends PaymentsError {
  /** @internal */
  static override readonly name: string = 'ApiError';
  declare readonly outcome: Outcome;
  /** The HTTP status. */
  declare readonly status: number;
  /** The service's own number: `code` of the envelope, where the body had one. */
  declare readonly apiCode?: number | undefined;
  /** `message` of the envelope, redacted. */
  declare readonly apiMessage?: string | undefined;
  /** The wait that `Retry-After` asks for, in milliseconds. */
  declare readonly retryAfterMs?: number | undefined;
  /** The response's headers; a secret of the client that is echoed there is redacted. Not enumerable, so that logs stay short. */
  declare readonly headers: Headers;
  /** What to quote to support: the first of `x-request-id`, `request-id`, `x-correlation-id` and `cf-ray`. */
  declare readonly requestId?: string | undefined;
  /** The beginning of the body, at most 200 characters, redacted. */
  declare readonly bodySnippet?: string | undefined;

  /** @internal */
  constructor(message: string, { headers, ...facts }: ApiFacts, code = 'api_error') {
    super(message, { ...facts, code });
    Object.defineProperty(this, 'headers', { value: headers, writable: true, configurable: true });
  }
}

/** 401: the API key was refused. */
export class AuthenticationError extends ApiError {
  /** @internal */
  static override readonly name: string = 'AuthenticationError';

  /** @internal */
  constructor(message: string, facts: ApiFacts) {
    super(message, facts, 'authentication_error');
  }
}

/** 403: the key is known, but may not do this. */
export class PermissionDeniedError extends ApiError {
  /** @internal */
  static override readonly name: string = 'PermissionDeniedError';

  /** @internal */
  constructor(message: string, facts: ApiFacts) {
    super(message, facts, 'permission_denied');
  }
}

/** 404: there is nothing at that path or under that id. */
export class NotFoundError extends ApiError {
  /** @internal */
  static override readonly name: string = 'NotFoundError';

  /** @internal */
  constructor(message: string, facts: ApiFacts) {
    super(message, facts, 'not_found');
  }
}

/** 409: the state of the resource forbids it. */
export class ConflictError extends ApiError {
  /** @internal */
  static override readonly name: string = 'ConflictError';

  /** @internal */
  constructor(message: string, facts: ApiFacts) {
    super(message, facts, 'conflict');
  }
}

/** 400, 413 or 422: the service refused the request's content. */
export class InvalidRequestError extends ApiError {
  /** @internal */
  static override readonly name: string = 'InvalidRequestError';

  /** @internal */
  constructor(message: string, facts: ApiFacts) {
    super(message, facts, 'invalid_request');
  }
}

/** 429: too many requests; `retryAfterMs` says how long to wait, if the service did. */
export class RateLimitError extends ApiError {
  /** @internal */
  static override readonly name: string = 'RateLimitError';

  /** @internal */
  constructor(message: string, facts: ApiFacts) {
    super(message, facts, 'rate_limited');
  }
}

/** 5xx: the service failed. */
export class ServerError extends ApiError {
  /** @internal */
  static override readonly name: string = 'ServerError';

  /** @internal */
  constructor(message: string, facts: ApiFacts) {
    super(message, facts, 'server_error');
  }
}

/** Why a response could not be used. */
export type InvalidResponseReason =
  | 'redirect'
  | 'empty'
  | 'content_type'
  | 'json'
  | 'envelope'
  | 'schema'
  | 'too_large'
  | 'encoding';

/** A response that cannot be used. For a write, `outcome` says whether it was done. */
export class InvalidResponseError extends PaymentsError {
  /** @internal */
  static override readonly name: string = 'InvalidResponseError';
  declare readonly outcome: Outcome;
  /** What was wrong with the response. */
  declare readonly reason: InvalidResponseReason;
  /** The HTTP status. */
  declare readonly status: number;
  /** Which fields broke the contract; empty unless `reason` is `schema`. */
  declare readonly issues: readonly Issue[];
  /** Id of the created or changed resource, where it could be read. */
  declare readonly id?: string | undefined;

  /** @internal */
  constructor(
    message: string,
    facts: CallFacts & {
      reason: InvalidResponseReason;
      status: number;
      issues: readonly Issue[];
      id?: string | undefined;
    },
  ) {
    super(message, { ...facts, code: 'invalid_response' });
  }
}

/** The merchant's own mistake: the event may be real, so respond with 500 and let the service retry. */
export class WebhookConfigError extends PaymentsError {
  /** @internal */
  static override readonly name: string = 'WebhookConfigError';
  declare readonly code: 'invalid_secret' | 'invalid_body' | 'invalid_headers' | 'invalid_options';
  /** The status to respond with. */
  declare readonly httpStatus: 500;

  /** @internal */
  constructor(message: string, code: WebhookConfigError['code']) {
    super(message, { code, httpStatus: 500 });
  }
}

/** A body as it was given to `verify()`. */
export interface ReceivedBody {
  /** Its length. */
  bytes: number;
  /** Its SHA-256 in lower-case hex. */
  sha256: string;
}

/** What a `WebhookVerificationError` may say of the delivery. */
export interface VerificationFacts {
  /** How far the timestamp is from the clock, in seconds: positive when it lies in the past. */
  skewSeconds?: number | undefined;
  /** The body that was verified. */
  received?: ReceivedBody | undefined;
}

/** The delivery is not proved authentic or fresh: respond with 400. */
export class WebhookVerificationError extends PaymentsError {
  /** @internal */
  static override readonly name: string = 'WebhookVerificationError';
  declare readonly code:
    | 'missing_signature'
    | 'missing_timestamp'
    | 'duplicate_header'
    | 'malformed_signature'
    | 'malformed_timestamp'
    | 'signature_mismatch'
    | 'timestamp_too_old'
    | 'timestamp_in_future';
  /** The status to respond with. */
  declare readonly httpStatus: 400;
  /** With the two freshness codes: how far the timestamp is from the clock, in seconds; positive in the past. */
  declare readonly skewSeconds?: number | undefined;
  /** With `signature_mismatch`: the body that was verified, to tell a changed body from a wrong secret. */
  declare readonly received?: ReceivedBody | undefined;

  /** @internal */
  constructor(message: string, code: WebhookVerificationError['code'], facts: VerificationFacts = {}) {
    super(message, { code, httpStatus: 400, ...facts });
  }
}

/** Authentic, but this version cannot read it: alert somebody, respond with 500. */
export class WebhookPayloadError extends PaymentsError {
  /** @internal */
  static override readonly name: string = 'WebhookPayloadError';
  declare readonly code: 'invalid_json' | 'invalid_event';
  /** The status to respond with. */
  declare readonly httpStatus: 500;

  /** @internal */
  constructor(message: string, code: WebhookPayloadError['code']) {
    super(message, { code, httpStatus: 500 });
  }
}
