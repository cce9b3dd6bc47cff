import {
  ApiError,
  type ApiFacts,
  AuthenticationError,
  type CallFacts,
  ConflictError,
  ConnectionError,
  InvalidRequestError,
  InvalidResponseError,
  type InvalidResponseReason,
  type Issue,
  NotFoundError,
  type Outcome,
  type PaymentsError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
  TimeoutError,
} from '../errors.js';
import type { Operation } from './call.js';
import {
  isSuccess,
  isTlsCode,
  type Phase,
  type ResponseHead,
  type ResponseHeaders,
  type SendFailure,
} from './fetch-contract.js';
import { type Retriable, readRetryAfterMs, retriableStatus } from './retry.js';
import { shielded } from './shield.js';

/** An attempt that failed: what to tell the caller, and whether another may follow. */
export interface FailedAttempt {
  error: PaymentsError;
  retriable: Retriable;
}

/** What error messages say about a call. */
export interface CallDescription extends Operation {
  attempts: number;
  /** Host of `baseUrl`, for messages. */
  host: string;
  redact(text: string): string;
}

/** The time limit that ends an attempt first. */
export interface TimeLimit {
  scope: 'attempt' | 'total';
  limitMs: number;
}

/** No complete response, for a reason other than the caller's own abort. */
export function noResponse(call: CallDescription, failure: SendFailure, limit: TimeLimit): FailedAttempt {
  const { phase, reason, head } = failure;
  if (reason === 'too_large') {
    return unusable(call, head?.status ?? 0, 'too_large', 'it is larger than 8 MiB');
  }
  const outcome = outcomeOfPhase(phase);
  const facts = { ...factsOf(call, outcome), phase };
  if (reason === 'stopped') {
    const message = `${outOfTimeText(call, limit)}: ${stageAtTimeout(call, phase)}.${doubt(call, outcome)}`;
    const error = new TimeoutError(message, { ...facts, scope: limit.scope });
    return { error, retriable: limit.scope === 'total' ? 'never' : phase === 'connect' ? 'any' : 'reads' };
  }
  const message = `${call.method} ${call.path} ${failureInWords(call, phase, reason)}${doubt(call, outcome)}`;
  const retriable = isPermanent(reason) ? 'never' : phase === 'connect' ? 'any' : 'reads';
  return { error: new ConnectionError(message, { ...facts, reason }), retriable };
}

/** The time limit would pass while waiting for the next attempt. */
export function outOfTime(call: CallDescription, last: PaymentsError, limitMs: number): TimeoutError {
  const phase = last instanceof ConnectionError ? last.phase : 'exchange';
  const outcome = last.outcome ?? 'unknown';
  return new TimeoutError(
    `${outOfTimeText(call, { scope: 'total', limitMs })}, too late for another one. The last one failed: ${last.message}`,
    { ...factsOf(call, outcome), phase, scope: 'total', cause: last },
  );
}

/** The service refused the call: by HTTP status, or with 2xx and an envelope `code` other than 0. */
export function refusal(
  call: CallDescription,
  { status, headers }: ResponseHead,
  envelope: { code?: number | undefined; message?: string | undefined; snippet?: string | undefined },
): FailedAttempt {
  const byStatus = !isSuccess(status);
  const { code, message: text, snippet } = shielded(envelope);
  const kind = byStatus || code === undefined ? status : code;
  const outcome = byStatus || (kind >= 400 && kind <= 599) ? outcomeOfStatus(kind) : 'rejected';
  const apiMessage = text === undefined ? undefined : shorten(call.redact(text));
  const redacted = headersOf(headers, call.redact);
  const facts: ApiFacts = {
    ...factsOf(call, outcome),
    status,
    apiCode: code,
    apiMessage,
    retryAfterMs: readRetryAfterMs(headers.get('retry-after'), headers.get('date')),
    headers: redacted,
    requestId: requestIdOf(redacted),
    bodySnippet: snippet === undefined ? undefined : shorten(call.redact(snippet)),
  };
  const said = byStatus ? `${status}` : `${status} with code ${code}`;
  const words = apiMessage
    ?.trim()
    .replaceAll(/\s+/g, ' ')
    .replace(/(?<![\s.:])[\s.:]+$/, '');
  const message = `${call.method} ${call.path} returned ${said}${words ? ` ${words}` : ''}${advice(kind, facts.retryAfterMs)}`;
  return {
    error: apiError(kind, message + doubt(call, outcome), facts),
    retriable: byStatus ? retriableStatus(status) : 'never',
  };
}

/** A 2xx response that cannot be used, or a redirect, which is never followed. */
export function unusable(
  call: CallDescription,
  status: number,
  reason: InvalidResponseReason,
  problem: string,
  more: { issues?: readonly Issue[]; id?: string | undefined; retriable?: Retriable } = {},
): FailedAttempt {
  const outcome = reason === 'redirect' ? 'unknown' : 'done';
  const { issues = [], id: read, retriable = 'never' } = shielded(more);
  const id = read === undefined ? undefined : call.redact(read);
  const facts = { ...factsOf(call, outcome), status, reason, issues, id };
  const its = id === undefined ? '' : ` Its id is ${JSON.stringify(id)}.`;
  const message = `${call.method} ${call.path} returned ${status}, but the response cannot be used: ${shorten(call.redact(problem), 1_000)}.`;
  return { error: new InvalidResponseError(message + its + doubt(call, outcome), facts), retriable };
}

/** A copy for the caller, without secrets. */
export function headersOf(headers: ResponseHeaders, redact: (text: string) => string): Headers {
  const copy = new Headers();
  headers.forEach((value, name) => {
    copy.append(name, redact(value));
  });
  return copy;
}

/** The names under which services and gateways send a request id. It is for support, so it is no secret. */
export const requestIdNames: readonly string[] = ['x-request-id', 'request-id', 'x-correlation-id', 'cf-ray'];

function requestIdOf(headers: Headers): string | undefined {
  return requestIdNames.map((name) => headers.get(name)).find((id) => id) ?? undefined;
}

function factsOf({ operation, method, path, attempts }: CallDescription, outcome: Outcome): CallFacts {
  return { outcome, operation, method, path, attempts };
}

function outcomeOfPhase(phase: Phase): Outcome {
  return phase === 'connect' ? 'not_sent' : phase === 'exchange' ? 'unknown' : 'done';
}

function outcomeOfStatus(status: number): Outcome {
  if (status === 408) return 'unknown';
  if (status >= 400 && status < 500) return 'rejected';
  return [501, 505, 511].includes(status) ? 'rejected' : 'unknown';
}

function apiError(kind: number, message: string, facts: ApiFacts): ApiError {
  if (kind === 401) return new AuthenticationError(message, facts);
  if (kind === 403) return new PermissionDeniedError(message, facts);
  if (kind === 404) return new NotFoundError(message, facts);
  if (kind === 409) return new ConflictError(message, facts);
  if (kind === 429) return new RateLimitError(message, facts);
  if (kind === 400 || kind === 413 || kind === 422) return new InvalidRequestError(message, facts);
  return kind >= 500 && kind <= 599 ? new ServerError(message, facts) : new ApiError(message, facts);
}

/** What a refusal means and what to do, as far as the spec or the HTTP standard says. */
function advice(kind: number, retryAfterMs: number | undefined): string {
  if (kind === 401) {
    return (
      ': the API key was refused. Check that it and its prefix belong to this environment; ' +
      'regenerating a key in the dashboard disables the old one at once.'
    );
  }
  if (kind === 404)
    return ': nothing was found there. Check the id, and that baseUrl names the right environment.';
  if (kind === 403) return ': this API key is not allowed to do that.';
  if (kind === 409) return ': the state of the resource forbids it.';
  if (kind === 400 || kind === 413 || kind === 422) return ': the content of the request was refused.';
  if (kind === 429) {
    const wait = retryAfterMs ? `Wait ${Math.ceil(retryAfterMs / 1000)} s` : 'Wait';
    return `: too many requests. ${wait} before the next one.`;
  }
  return kind >= 500 && kind <= 599 ? ': the service failed.' : '.';
}

function outOfTimeText({ method, path, attempts }: CallDescription, { scope, limitMs }: TimeLimit): string {
  const ms = Math.round(limitMs);
  if (scope === 'attempt') return `${method} ${path} timed out after ${ms} ms (timeoutMs)`;
  const counted = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  return `${method} ${path} timed out after ${ms} ms (totalTimeoutMs) and ${counted}`;
}

function stageAtTimeout({ host }: CallDescription, phase: Phase): string {
  if (phase === 'connect') return `nothing was sent, because there was no connection to ${host}`;
  return phase === 'exchange'
    ? 'the request was sent, but no response arrived'
    : 'the response was incomplete';
}

function failureInWords({ host }: CallDescription, phase: Phase, reason: string): string {
  if (phase !== 'connect') {
    const code = reason === 'network' ? '' : ` (${reason})`;
    return phase === 'exchange'
      ? `was sent, but the connection failed before a response arrived${code}.`
      : `was sent, but the connection failed in the middle of the response${code}.`;
  }
  if (isTlsCode(reason)) {
    return `was not sent: the secure connection to ${host} failed with ${reason}. Check the scheme and host of baseUrl.`;
  }
  if (reason === 'ENOTFOUND')
    return `was not sent: the host ${host} does not resolve (ENOTFOUND). Check baseUrl.`;
  return `was not sent: ${host} could not be reached (${reason}).`;
}

/** Failures that a retry would repeat: rejected certificates, invalid gzip, and what is not HTTP, a response or an error. */
function isPermanent(reason: string): boolean {
  return (
    isTlsCode(reason) ||
    /^(?:HPE_|protocol|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_CONTENT_LENGTH|Z_DATA_ERROR|not_)/.test(reason)
  );
}

function doubt({ method, afterDoubt }: CallDescription, outcome: Outcome): string {
  if (method === 'GET') return '';
  if (outcome === 'unknown') return ` It may have been done. ${afterDoubt}`;
  return outcome === 'done' ? ` It was done. ${afterDoubt}` : '';
}

function shorten(text: string, length = 200): string {
  return text.slice(0, length);
}
