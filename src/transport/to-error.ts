import type { FactsOf, InvalidResponseReason, Issue, Outcome } from '../errors.js';
import * as errors from '../errors.js';
import { escapeInvisible } from '../input/visible.js';
import type { Operation } from './call.js';
import type { Failure, Phase } from './failure.js';
import { nameOf } from './hooks.js';
import { isSuccess, type RequestProgress, type ResponseHead, type ResponseHeaders } from './response.js';
import { type Retriable, readRetryAfterMs, retriableStatus } from './retry.js';

/** An attempt that failed: the caller's error, and the requests that may be tried again. */
export interface FailedAttempt {
  error: errors.PaymentsError;
  retriable: Retriable;
}

/** The facts of a call that error messages name. */
export interface CallDescription extends Operation {
  attempts: number;
  /** Host of `baseUrl`, for messages. */
  host: string;
  redact(text: string): string;
  /** The outcome of the attempts before. */
  earlierOutcome?: Outcome | undefined;
}

/** The time limit that ends an attempt first. */
export interface TimeLimit {
  scope: 'attempt' | 'total';
  /** The limit as the option sets it, in milliseconds. */
  limitMs: number;
  /** The time that is left for this attempt, in milliseconds. */
  leftMs: number;
}

/** Returns the error of an attempt that got no complete response, for a reason other than the caller's own abort. */
export function errorWithoutResponse(
  call: CallDescription,
  failure: Failure,
  { phase, head }: RequestProgress,
  limit: TimeLimit,
): FailedAttempt {
  const { kind } = failure;
  const { code, cause } = failure.details;
  // The status alone decides, even if the body that explains it never arrived.
  if (head && !isSuccess(head.status)) {
    const note = kind === 'fetch' ? ` The ${describeFetchMistake(call, failure)}.` : '';
    return errorOfRefusal(call, head, {}, note);
  }
  const own = phase === 'connect' ? 'not_sent' : 'unknown';
  // An earlier attempt may have been sent, even if the last one was not.
  const outcome = own === 'not_sent' ? (call.earlierOutcome ?? own) : own;
  if (head && kind === 'too_large')
    return errorOfUnusableResponse(call, head, {
      reason: 'too_large',
      problem: 'it is larger than 8 MiB',
      outcome,
    });
  if (kind === 'setup') {
    const thrown = cause === undefined ? '' : `: ${oneLine(safeText(call, String(cause)))}`;
    const message = `${call.operation}: nothing was sent, because the request could not be made${thrown}.`;
    return {
      error: new errors.ConfigurationError(message, { ...factsOf(call, outcome), cause }),
      retriable: 'never',
    };
  }
  const isTimeout = kind === 'timeout';
  const what = isTimeout ? describeTimeout(call, phase, limit) : describeFailure(call, failure, phase);
  const did = outcome === own ? what : `failed; its last attempt ${what}`;
  const message = `${call.method} ${call.path} ${did}.${describeOutcome(call, outcome)}`;
  const reason = isTimeout ? 'timeout' : call.redact(code ?? kind);
  const facts = { ...factsOf(call, outcome), phase, reason };
  const error = isTimeout
    ? new errors.TimeoutError(message, { ...facts, scope: limit.scope })
    : new errors.ConnectionError(message, facts);
  // A retry cannot pass a proxy that asks for credentials or forbids the host.
  const isForbidden = failure.details.tunnelStatus === 403 || failure.details.tunnelStatus === 407;
  const mayPass = isTimeout ? limit.scope === 'attempt' : kind === 'network' && !isForbidden;
  if (!mayPass) return { error, retriable: 'never' };
  return { error, retriable: phase === 'connect' ? 'any' : 'get' };
}

/** The code and message of a refusal, as the service sent them. */
export interface RefusalText {
  code?: number | string | undefined;
  message?: string | undefined;
  /** The whole body, which is shortened after secrets are removed. */
  snippet?: string | undefined;
}

/** Returns the error of a refusal: a status other than 2xx, or 2xx with an envelope `code` other than 0. */
export function errorOfRefusal(
  call: CallDescription,
  { status, headers }: ResponseHead,
  said: RefusalText,
  note = '',
): FailedAttempt {
  const byStatus = !isSuccess(status);
  const { code, message: text, snippet } = said;
  const kind = byStatus || typeof code !== 'number' ? status : code;
  const outcome = byStatus || (kind >= 400 && kind <= 599) ? outcomeOfStatus(kind) : 'rejected';
  const apiMessage = text === undefined ? undefined : safeText(call, text);
  const redacted = headersOf(headers, call.redact);
  const retryAfterMs = readRetryAfterMs(headers.get('retry-after'), headers.get('date'));
  const facts: FactsOf<errors.ApiError> = {
    ...factsOf(call, outcome),
    status,
    apiCode: typeof code === 'string' ? safeText(call, code) : code,
    apiMessage,
    retryAfterMs,
    headers: redacted,
    requestId: requestIdOf(redacted),
    bodySnippet: snippet === undefined ? undefined : safeText(call, snippet),
  };
  const [ErrorClass, meaning] = refusals.get(kind) ?? (kind >= 500 && kind <= 599 ? serverError : apiError);
  const advice = retryAfterMs ? meaning.replace('Wait', `Wait ${Math.ceil(retryAfterMs / 1000)} s`) : meaning;
  const returned = `${status}${byStatus ? '' : ` with code ${code}`}`;
  const message = `${call.method} ${call.path} returned ${returned}${sentenceOf(apiMessage)}${advice}${note}${describeOutcome(call, outcome)}`;
  return { error: new ErrorClass(message, facts), retriable: byStatus ? retriableStatus(status) : 'never' };
}

/** An error class, the meaning of its refusals, and advice, as far as the spec or the HTTP standard gives them. */
type Refusal = readonly [type: typeof errors.ApiError, meaning: string];

const apiError: Refusal = [errors.ApiError, ''];
const serverError: Refusal = [errors.ServerError, ' The service failed.'];
const invalidRequest: Refusal = [errors.InvalidRequestError, ' The request was refused.'];
const keyRefused =
  ' The API key was refused. Check that it and its prefix belong to this environment; regenerating a key in the dashboard disables the old one at once.';

const refusals: ReadonlyMap<number, Refusal> = new Map([
  [400, invalidRequest],
  [401, [errors.AuthenticationError, keyRefused]],
  [403, [errors.PermissionDeniedError, ' This API key is not allowed to do that.']],
  [
    404,
    [
      errors.NotFoundError,
      ' Check the id and baseUrl: an id is unknown in another environment, and in a sandbox that was started afresh.',
    ],
  ],
  [409, [errors.ConflictError, '']],
  [407, [errors.ApiError, ' The proxy asks for credentials. Put them in its URL.']],
  [413, invalidRequest],
  [422, invalidRequest],
  [429, [errors.RateLimitError, ' Wait before the next request.']],
]);

/** The problem of a response that cannot be used. */
export interface Problem {
  reason: InvalidResponseReason;
  /** The problem in words that follow a colon. */
  problem: string;
  outcome: Outcome;
  /** True if another server than the service sent the response. */
  isForeign?: boolean;
  issues?: readonly Issue[];
  /** Id of the created or changed resource. */
  id?: string | undefined;
}

/** Returns the error of a 2xx response that cannot be used, or of a redirect, which is never followed. */
export function errorOfUnusableResponse(
  call: CallDescription,
  { status, headers }: ResponseHead,
  { reason, problem, outcome, isForeign = false, issues = [], ...given }: Problem,
): FailedAttempt {
  const id = given.id === undefined ? undefined : call.redact(given.id);
  const requestId = requestIdOf(headersOf(headers, call.redact));
  const facts = { ...factsOf(call, outcome), status, reason, issues, id, requestId };
  const its = id === undefined ? '' : ` Its id is ${escapeInvisible(JSON.stringify(id))}.`;
  const where = isForeign ? ' Check baseUrl.' : '';
  const message = `${call.method} ${call.path} returned ${status}, but the response cannot be used: ${oneLine(safeText(call, problem, 1_000))}.`;
  return {
    error: new errors.InvalidResponseError(message + where + its + describeOutcome(call, outcome), facts),
    retriable: 'never',
  };
}

/**
 * Copies headers for the caller, without secrets. A header that `Headers` refuses, because HTTP does not allow its text, is
 * left out.
 */
export function headersOf(headers: ResponseHeaders, redact: (text: string) => string): Headers {
  const copy = new Headers();
  headers.forEach((value, name) => {
    try {
      if (redact(name) === name) copy.append(name, redact(value));
    } catch {}
  });
  return copy;
}

/** The names under which services and gateways send a request id. */
const requestIdNames: readonly string[] = ['x-request-id', 'request-id', 'x-correlation-id', 'cf-ray'];

export function requestIdOf(headers: Headers): string | undefined {
  return requestIdNames.map((name) => headers.get(name)).find((id) => id) ?? undefined;
}

function factsOf(call: CallDescription, outcome: Outcome) {
  return { outcome, ...nameOf(call), attempts: call.attempts };
}

function outcomeOfStatus(status: number): Outcome {
  const isRefused = status >= 400 && status < 500 && status !== 408;
  return isRefused || [501, 505, 511].includes(status) ? 'rejected' : 'unknown';
}

function describeTimeout({ host }: CallDescription, phase: Phase, { scope, limitMs }: TimeLimit): string {
  const reached = {
    connect: `nothing was sent, because there was no connection to ${host}`,
    exchange: 'no response arrived',
    body: 'the response was incomplete',
  };
  const option = scope === 'attempt' ? 'timeoutMs' : 'totalTimeoutMs';
  return `timed out after ${Math.round(limitMs)} ms (${option}): ${reached[phase]}`;
}

function describeFailure(call: CallDescription, failure: Failure, phase: Phase): string {
  const { kind, details } = failure;
  const what = details.code ?? details.detail;
  const why = what === undefined ? '' : ` (${oneLine(safeText(call, what))})`;
  const got = {
    connect: 'was not sent',
    exchange: 'got no response',
    body: 'got only a part of the response',
  };
  const { elsewhere, tunnelStatus } = details;
  if (tunnelStatus !== undefined) {
    return `${got[phase]}: the proxy ${safeText(call, elsewhere ?? '')} refused the tunnel (${tunnelStatus})`;
  }
  if (kind === 'fetch') return `failed, because the ${describeFetchMistake(call, failure)}`;
  if (kind === 'protocol') return `got a response that cannot be read as HTTP${why}. Check baseUrl`;
  if (kind === 'encoding') return `got a response that cannot be decompressed${why}`;
  // With the built-in transport, another host can only be a proxy; a `fetch` that the caller passed may have called any host.
  const other =
    elsewhere && (details.detail === undefined ? `the proxy ${elsewhere}` : `${elsewhere}, not the service,`);
  const host = other ? safeText(call, other) : call.host;
  const failed = `connection to ${host} failed${why}`;
  if (kind === 'tls') {
    const isUnknownIssuer = /^UNABLE_TO_|SELF_SIGNED/.test(details.code ?? '');
    const advice = isUnknownIssuer
      ? "If a company's proxy inspects TLS, start Node with NODE_EXTRA_CA_CERTS"
      : 'Check the scheme and host of baseUrl';
    return `${got[phase]}: the secure ${failed}. ${advice}${details.note ? `. ${details.note}` : ''}`;
  }
  if (phase !== 'connect') return `${got[phase]}: the ${failed}`;
  if (details.code === 'EMFILE' || details.code === 'ENFILE') {
    const whose = details.code === 'EMFILE' ? 'this process' : 'this machine';
    return `was not sent: ${whose} has no free file descriptor${why}. Lower maxConnections, or raise the limit (ulimit -n)`;
  }
  if (other) return `was not sent: ${host} could not be reached${why}`;
  return details.code === 'ENOTFOUND'
    ? `was not sent: the host ${host} does not resolve${why}. Check baseUrl`
    : `was not sent: ${host} could not be reached${why}`;
}

function describeFetchMistake(call: CallDescription, { details }: Failure): string {
  return `function passed as fetch ${oneLine(safeText(call, details.detail ?? '', 500))}`;
}

function describeOutcome({ method, recoveryHint = '' }: CallDescription, outcome: Outcome): string {
  if (method === 'GET') return '';
  if (outcome === 'unknown') return ` It may have been done. ${recoveryHint}`;
  return outcome === 'done' ? ` It was done. ${recoveryHint}` : '';
}

/**
 * Returns foreign text that is safe to show, without secrets or control characters. It is cut between two characters, never
 * inside one.
 */
function safeText({ redact }: CallDescription, text: string, length = 200): string {
  let start = '';
  for (const sign of redact(text).replaceAll('\r\n', '\n')) {
    const next = sign.replace(/[^\t\n]+/, escapeInvisible);
    if (start.length + next.length > length) break;
    start += next;
  }
  return start;
}

/** Returns the message of the service as one sentence, which follows the status. */
function sentenceOf(text = ''): string {
  const words = oneLine(text).replace(/(?<![\s.:])[\s.:]+$/, '');
  if (!/[^\s.:]/.test(words)) return '.';
  return `: ${words}${/[!?…]$/.test(words) ? '' : '.'}`;
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}
