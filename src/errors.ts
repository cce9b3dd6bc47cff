/**
 * The outcome of an operation, as far as it is known:
 *
 * - `not_sent`: the request cannot have reached the service; it is safe to retry
 * - `rejected`: the service refused it
 * - `unknown`: it may have been done
 * - `done`: the service confirmed it (an envelope with code 0), but the data could not be used
 */
export type Outcome = 'not_sent' | 'rejected' | 'unknown' | 'done';

/** One problem of a parameter or of a response, with the path of the field. */
export interface Issue {
  /** Dotted path of the field, such as `items.0.price`; empty for the whole value. */
  path: string;
  /** The problem, and what to write instead. */
  message: string;
}

const brand = Symbol.for('merchant-payments.error');

/**
 * Base of all errors of this package.
 *
 * `instanceof` holds across copies of the package, as when ESM and CommonJS meet in one process.
 */
export class PaymentsError extends Error {
  /** @internal */ static override readonly name: string = 'PaymentsError';
  /** Stable code for programs: one per class, or several for webhook errors. `switch` on it to narrow the error to its class. */
  readonly code!: ErrorCode;
  /** The outcome of the operation. Absent on webhook errors, which belong to no call. */
  declare readonly outcome?: Outcome | undefined;
  /** The name of the call, such as `products.create`; `request` for `client.request()`. */
  declare readonly operation?: string | undefined;
  /** The HTTP method. */
  declare readonly method?: string | undefined;
  /** The path template, such as `/v1/products/{id}`; for `client.request()`, the path that you passed. */
  declare readonly path?: string | undefined;
  /** The number of requests that were begun. */
  declare readonly attempts?: number | undefined;

  /** @internal */
  constructor(message: string, facts: { code?: ErrorCode; cause?: unknown; [fact: string]: unknown }) {
    const { cause, ...own } = facts;
    super(message, cause === undefined ? undefined : { cause });
    for (const [name, value] of Object.entries(own)) {
      const enumerable = name !== 'headers'; // the headers of an ApiError are too long for logs
      // The prototype of all objects may be polluted with a getter.
      const fact = { __proto__: null, value, enumerable, writable: true };
      if (value !== undefined) Object.defineProperty(this, name, fact);
    }
  }

  /** The name of the class, unless you set another. */
  override get name(): string {
    return this.constructor.name;
  }

  /** Sets the name that logs show instead of the class. */
  override set name(value: string) {
    Object.defineProperty(this, 'name', { value, writable: true, configurable: true });
  }

  /** Returns `name`, `message` and the facts, which are all safe to log. */
  toJSON(): Pick<Error, 'name' | 'message'> & Record<string, unknown> {
    return { name: this.name, message: this.message, ...Object.fromEntries(Object.entries(this)) };
  }

  /** @internal */
  get [brand](): true {
    return true;
  }

  /** True if the value is an instance of the class, from any copy of the package. */
  static override [Symbol.hasInstance]<Class extends ErrorClass>(
    this: Class,
    value: unknown,
  ): value is InstanceOf<Class> {
    if (!isNamed(this)) return Function.prototype[Symbol.hasInstance].call(this, value);
    if (typeof value !== 'object' || value === null || !(brand in value)) return false;
    for (let link: unknown = Object.getPrototypeOf(value); link; link = Object.getPrototypeOf(link)) {
      const itsClass = link.constructor;
      if (isNamed(itsClass) && itsClass.name === this.name) return true;
    }
    return false;
  }
}

/** The facts of an error, as its class declares them. */
export type FactsOf<T extends PaymentsError> = Omit<T, keyof Error | 'code' | 'toJSON' | typeof brand>;

type ErrorClass = Pick<typeof PaymentsError, 'prototype'>;

/** The type that `instanceof` narrows to: for `PaymentsError` itself the union of all classes, so that `code` narrows further. */
type InstanceOf<Class extends ErrorClass> = typeof PaymentsError extends Class
  ? AnyPaymentsError
  : Class['prototype'];

/**
 * True if a class belongs to this package. Its classes have their names as enumerable fields, which the built-in name of a
 * class is not. So the names survive a bundler that shortens class names, and Node prints them.
 */
function isNamed(value: unknown): value is { name: string } {
  return typeof value === 'function' && Object.prototype.propertyIsEnumerable.call(value, 'name');
}

/** True if a caught value is an error of this package, from any copy of it. `switch (error.code)` then narrows it. */
export function isPaymentsError(value: unknown): value is AnyPaymentsError {
  return value instanceof PaymentsError;
}

/**
 * Replaces an error's stack by one from here, so that the ten frames that Node keeps reach the caller's own line. Returns
 * the error.
 */
export function captureStack<Thrown>(error: Thrown): Thrown {
  if (isPaymentsError(error) && Object.isExtensible(error)) Error.captureStackTrace?.(error, captureStack);
  return error;
}

/**
 * An option of `new PaymentsClient()` or a file of the package is missing or invalid, or an inbox cannot be used. Nothing
 * was sent.
 */
export class ConfigurationError extends PaymentsError {
  /** @internal */ static override readonly name: string = 'ConfigurationError';
  override readonly code = 'configuration_error' as const;

  /** @internal */
  constructor(message: string, facts: FactsOf<PaymentsError> & { cause?: unknown } = {}) {
    super(message, { outcome: 'not_sent', attempts: 0, ...facts });
  }
}

/** The parameters of a call are invalid, and nothing was sent. `issues` has every problem. */
export class InvalidParamsError extends PaymentsError {
  /** @internal */ static override readonly name: string = 'InvalidParamsError';
  override readonly code = 'invalid_params' as const;
  declare readonly outcome: 'not_sent';
  /** All problems at once. */
  declare readonly issues: readonly Issue[];

  /** @internal */
  constructor(call: { operation: string; method?: string; path?: string }, issues: readonly Issue[]) {
    const { operation, method, path } = call;
    const text = issues.map((issue) => `${issue.path || 'params'} ${issue.message}`).join(' ');
    super(`${operation}: ${text}`, { operation, method, path, issues, outcome: 'not_sent', attempts: 0 });
  }
}

/** No complete response arrived. */
export class ConnectionError extends PaymentsError {
  /** @internal */ static override readonly name: string = 'ConnectionError';
  override readonly code: 'connection_error' | 'timeout' = 'connection_error';
  declare readonly outcome: Outcome;
  /**
   * The point that the last attempt reached: `connect` (nothing was sent), `exchange` (it may have been sent; no response),
   * `body` (the response was cut off).
   */
  declare readonly phase: 'connect' | 'exchange' | 'body';
  /**
   * The reason: the code of the system, such as `ECONNREFUSED`; else `timeout`, `network`, `protocol` (not HTTP) or `fetch`
   * (a mistake of the option).
   */
  declare readonly reason: string;
}

/** Time ran out before a complete response arrived. */
export class TimeoutError extends ConnectionError {
  /** @internal */ static override readonly name: string = 'TimeoutError';
  override readonly code = 'timeout' as const;
  /** The limit that ended the call: `attempt` is `timeoutMs`, `total` is `totalTimeoutMs`. */
  declare readonly scope: 'attempt' | 'total';
}

/** The service refused the call or failed. */
export class ApiError extends PaymentsError {
  /** @internal */ static override readonly name: string = 'ApiError';
  override readonly code:
    | 'api_error'
    | 'authentication_error'
    | 'permission_denied'
    | 'not_found'
    | 'conflict'
    | 'invalid_request'
    | 'rate_limited'
    | 'server_error' = 'api_error';
  declare readonly outcome: Outcome;
  /** The HTTP status. */
  declare readonly status: number;
  /** The service's own code: the body's `code` or `error.code`, redacted. */
  declare readonly apiCode?: number | string | undefined;
  /** The service's own words: the body's `message`, `error.message` or `error`, redacted. */
  declare readonly apiMessage?: string | undefined;
  /** The wait that `Retry-After` asks for, in milliseconds. */
  declare readonly retryAfterMs?: number | undefined;
  /** The response's headers; a secret of the client that is echoed there is redacted. Not enumerable, so that logs stay short. */
  declare readonly headers: Headers;
  /** The id to quote to support: the first of `x-request-id`, `request-id`, `x-correlation-id` and `cf-ray`. */
  declare readonly requestId?: string | undefined;
  /** The beginning of the body, at most 200 characters, redacted. */
  declare readonly bodySnippet?: string | undefined;
}

/** The service refused the API key with 401. */
export class AuthenticationError extends ApiError {
  /** @internal */ static override readonly name: string = 'AuthenticationError';
  override readonly code = 'authentication_error' as const;
}

/** The service refused a known API key with 403, because the key may not do this. */
export class PermissionDeniedError extends ApiError {
  /** @internal */ static override readonly name: string = 'PermissionDeniedError';
  override readonly code = 'permission_denied' as const;
}

/** The service found nothing at the path or under the id, and returned 404. */
export class NotFoundError extends ApiError {
  /** @internal */ static override readonly name: string = 'NotFoundError';
  override readonly code = 'not_found' as const;
}

/** The service refused the call with 409, because of the present state of the resource. */
export class ConflictError extends ApiError {
  /** @internal */ static override readonly name: string = 'ConflictError';
  override readonly code = 'conflict' as const;
}

/** The service refused the content of the request with 400, 413 or 422. */
export class InvalidRequestError extends ApiError {
  /** @internal */ static override readonly name: string = 'InvalidRequestError';
  override readonly code = 'invalid_request' as const;
}

/** The service refused the call with 429, after too many requests. `retryAfterMs` is the wait, if the service names one. */
export class RateLimitError extends ApiError {
  /** @internal */ static override readonly name: string = 'RateLimitError';
  override readonly code = 'rate_limited' as const;
}

/** The service failed with a 5xx status. */
export class ServerError extends ApiError {
  /** @internal */ static override readonly name: string = 'ServerError';
  override readonly code = 'server_error' as const;
}

/** The reason for which a response could not be used. */
export type InvalidResponseReason =
  | 'redirect'
  | 'empty'
  | 'content_type'
  | 'json'
  | 'envelope'
  | 'schema'
  | 'too_large'
  | 'encoding'
  /** A list changed too much while a loop read it. */
  | 'changed';

/** A response that cannot be used. For a write, `outcome` says if the write was done. */
export class InvalidResponseError extends PaymentsError {
  /** @internal */ static override readonly name: string = 'InvalidResponseError';
  override readonly code = 'invalid_response' as const;
  declare readonly outcome: Outcome;
  /** The problem of the response. */
  declare readonly reason: InvalidResponseReason;
  /** The HTTP status. */
  declare readonly status: number;
  /** The fields that broke the contract, the first hundred of them; empty unless `reason` is `schema`. */
  declare readonly issues: readonly Issue[];
  /** Id of the created or changed resource, if it could be read. */
  declare readonly id?: string | undefined;
  /** The id to quote to support: the first of `x-request-id`, `request-id`, `x-correlation-id` and `cf-ray`. */
  declare readonly requestId?: string | undefined;
}

/**
 * An option, the secret, or the form of body or headers is invalid: the merchant's own mistake. The event may be real, so
 * respond with 500, in case the service retries.
 */
export class WebhookConfigError extends PaymentsError {
  /** @internal */ static override readonly name: string = 'WebhookConfigError';
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
  /** The length in bytes. */
  bytes: number;
  /** The SHA-256 in lower-case hex. */
  sha256: string;
}

/** The delivery is not proved authentic or fresh: respond with 400. */
export class WebhookVerificationError extends PaymentsError {
  /** @internal */ static override readonly name: string = 'WebhookVerificationError';
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
  /** The distance of the timestamp from the clock, in seconds, positive in the past; only with the two freshness codes. */
  declare readonly skewSeconds?: number | undefined;
  /** The body that was verified, to tell a changed body from a wrong secret; only with `signature_mismatch`. */
  declare readonly received?: ReceivedBody | undefined;

  /** @internal */
  constructor(
    message: string,
    code: WebhookVerificationError['code'],
    facts: Pick<WebhookVerificationError, 'skewSeconds' | 'received'> = {},
  ) {
    super(message, { code, httpStatus: 400, ...facts });
  }
}

/**
 * The delivery is authentic, but it cannot be handled: this version cannot read it (respond with 500), or its order was paid
 * before with another content (`conflicting_event`, 409). Alert somebody.
 */
export class WebhookPayloadError extends PaymentsError {
  /** @internal */ static override readonly name: string = 'WebhookPayloadError';
  declare readonly code: 'invalid_json' | 'invalid_event' | 'conflicting_event';
  /** The status to respond with: 409 for `conflicting_event`. */
  declare readonly httpStatus: 500 | 409;

  /** @internal */
  constructor(message: string, code: WebhookPayloadError['code']) {
    super(message, { code, httpStatus: code === 'conflicting_event' ? 409 : 500 });
  }
}

/** Any error of the client, the webhooks or the inbox: `switch (error.code)` narrows it to its class and its facts. */
export type AnyPaymentsError =
  | ConfigurationError
  | InvalidParamsError
  | (ConnectionError & { readonly code: 'connection_error' })
  | TimeoutError
  | ApiError
  | InvalidResponseError
  | WebhookConfigError
  | WebhookVerificationError
  | WebhookPayloadError
  | InboxError
  | OrderBookError;

/**
 * An error of the inbox: `commit()` or `done()` was refused, your function took too long, tables were dropped, or the
 * database was locked.
 */
export interface InboxError extends PaymentsError {
  readonly code: 'inbox_commit' | 'inbox_busy' | 'inbox_parked' | 'inbox_tables';
}

/**
 * An error of the order book: it has no such order or payment, the state of that order or payment forbids the call, or another
 * transaction has just changed it (`order_changed`: try again). Nothing was written.
 */
export interface OrderBookError extends PaymentsError {
  readonly code: 'order_unknown' | 'order_conflict' | 'order_changed';
}

/** Every code of this package's errors, those of the inbox and the sandbox included. */
export type ErrorCode = AnyPaymentsError['code'] | SandboxErrorCode;

/** The codes of the sandbox's errors. */
export type SandboxErrorCode =
  | 'invalid_options'
  | 'unknown_id'
  | 'not_payable'
  | 'no_webhook'
  | 'wait_timeout'
  | 'port_taken'
  | 'closed';
