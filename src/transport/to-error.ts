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
import { visible } from '../schemas/visible.js';
import type { Operation } from './call.js';
import { isForeign, isSuccess, type ResponseHead, type ResponseHeaders } from './response.js';
import { type Retriable, readRetryAfterMs, retriableStatus } from './retry.js';
import type { Phase, SendFailure } from './send-failure.js';
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
  /** As the option says. */
  limitMs: number;
  /** What remains of it for this attempt. */
  leftMs: number;
}

/** No complete response, for a reason other than the caller's own abort. */
export function noResponse(call: CallDescription, failure: SendFailure, limit: TimeLimit): FailedAttempt {
  const { phase, kind, code, head } = failure;
  // The status alone decides, even if the body that explains it never arrived.
  if (head && !isSuccess(head.status)) {
    return refusal(call, head, kind === 'fetch' ? { note: ` The ${ofFetch(call, failure)}.` } : {});
  }
  const outcome = outcomeOfPhase(phase, head);
  if (head && kind === 'too_large')
    return unusable(call, head, 'too_large', 'it is larger than 8 MiB', { outcome });
  const facts = { ...factsOf(call, outcome), phase };
  const again: Retriable = phase === 'connect' ? 'any' : 'reads';
  if (kind === 'stopped') {
    const message = `${outOfTimeText(call, limit)}: ${stageAtTimeout(call, phase)}.${doubt(call, outcome)}`;
    const error = new TimeoutError(message, { ...facts, scope: limit.scope });
    return { error, retriable: limit.scope === 'total' ? 'never' : again };
  }
  const message = `${call.method} ${call.path} ${failureInWords(call, failure)}${doubt(call, outcome)}`;
  const reason = call.redact(code ?? kind);
  return {
    error: new ConnectionError(message, { ...facts, reason }),
    retriable: kind === 'network' ? again : 'never',
  };
}

/** What the body of a refusal says, in any of the usual forms. */
export interface Said {
  code?: number | string | undefined;
  message?: string | undefined;
  /** The whole body: it is shortened after secrets are removed. */
  snippet?: string | undefined;
  /** To add to the message. */
  note?: string | undefined;
}

/** The service refused the call: by HTTP status, or with 2xx and an envelope `code` other than 0. */
export function refusal(call: CallDescription, { status, headers }: ResponseHead, said: Said): FailedAttempt {
  const byStatus = !isSuccess(status);
  const { code, message: text, snippet, note = '' } = shielded(said);
  const kind = byStatus || typeof code !== 'number' ? status : code;
  const outcome = byStatus || (kind >= 400 && kind <= 599) ? outcomeOfStatus(kind) : 'rejected';
  const apiMessage = text === undefined ? undefined : shown(call, text);
  const redacted = headersOf(headers, call.redact);
  const facts: ApiFacts = {
    ...factsOf(call, outcome),
    status,
    apiCode: typeof code === 'string' ? shown(call, code) : code,
    apiMessage,
    retryAfterMs: readRetryAfterMs(headers.get('retry-after'), headers.get('date')),
    headers: redacted,
    requestId: requestIdOf(redacted),
    bodySnippet: snippet === undefined ? undefined : shown(call, snippet),
  };
  const returned = byStatus ? `${status}` : `${status} with code ${code}`;
  const words = oneLine(apiMessage ?? '').replace(/(?<![\s.:])[\s.:]+$/, '');
  const message = `${call.method} ${call.path} returned ${returned}${words && ` ${words}`}${advice(kind, facts.retryAfterMs)}`;
  return {
    error: apiError(kind, message + note + doubt(call, outcome), facts),
    retriable: byStatus ? retriableStatus(status) : 'never',
  };
}

/** A 2xx response that cannot be used, or a redirect, which is never followed. */
export function unusable(
  call: CallDescription,
  { status, headers }: ResponseHead,
  reason: InvalidResponseReason,
  problem: string,
  more: { outcome?: Outcome; issues?: readonly Issue[]; id?: string | undefined; retriable?: Retriable } = {},
): FailedAttempt {
  const { outcome = 'done', issues = [], id: read, retriable = 'never' } = shielded(more);
  const id = read === undefined ? undefined : call.redact(read);
  const requestId = requestIdOf(headersOf(headers, call.redact));
  const facts = { ...factsOf(call, outcome), status, reason, issues, id, requestId };
  const its = id === undefined ? '' : ` Its id is ${JSON.stringify(id)}.`;
  // Whatever is not from the service came from somewhere else.
  const where = outcome === 'unknown' ? ' Check baseUrl.' : '';
  const message = `${call.method} ${call.path} returned ${status}, but the response cannot be used: ${oneLine(shown(call, problem, 1_000))}.`;
  return { error: new InvalidResponseError(message + where + its + doubt(call, outcome), facts), retriable };
}

/** A copy for the caller, without secrets. */
export function headersOf(headers: ResponseHeaders, redact: (text: string) => string): Headers {
  const copy = new Headers();
  headers.forEach((value, name) => {
    copy.append(name, redact(value));
  });
  return copy;
}

/** The names under which services and gateways send a request id. */
const requestIdNames: readonly string[] = ['x-request-id', 'request-id', 'x-correlation-id', 'cf-ray'];

export function requestIdOf(headers: Headers): string | undefined {
  return requestIdNames.map((name) => headers.get(name)).find((id) => id) ?? undefined;
}

function factsOf({ operation, method, path, attempts }: CallDescription, outcome: Outcome): CallFacts {
  return { outcome, operation, method, path, attempts };
}

function outcomeOfPhase(phase: Phase, head: ResponseHead | undefined): Outcome {
  if (phase === 'connect') return 'not_sent';
  return phase === 'body' && !(head && isForeign(head.headers)) ? 'done' : 'unknown';
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
  return phase === 'exchange' ? 'no response arrived' : 'the response was incomplete';
}

function failureInWords(call: CallDescription, failure: SendFailure): string {
  const { host } = call;
  const { phase, kind, code, detail } = failure;
  const what = code ?? detail;
  const why = what === undefined ? '' : ` (${oneLine(shown(call, what))})`;
  if (kind === 'fetch') return `failed, because the ${ofFetch(call, failure)}.`;
  if (kind === 'tls') {
    const got = phase === 'connect' ? 'was not sent' : 'got no response';
    return `${got}: the secure connection to ${host} failed${why}. Check the scheme and host of baseUrl.`;
  }
  if (phase === 'connect') {
    if (code === 'ENOTFOUND') return `was not sent: the host ${host} does not resolve${why}. Check baseUrl.`;
    return `was not sent: ${host} could not be reached${why}.`;
  }
  if (kind === 'protocol') return `got a response that cannot be read as HTTP${why}. Check baseUrl.`;
  if (kind === 'encoding') return `got a response that cannot be decompressed${why}.`;
  const got = phase === 'exchange' ? 'no response' : 'only a part of the response';
  return `got ${got}: the connection to ${host} failed${why}.`;
}

function ofFetch(call: CallDescription, { detail = '' }: SendFailure): string {
  return `function passed as fetch ${oneLine(shown(call, detail, 500))}`;
}

function doubt({ method, afterDoubt }: CallDescription, outcome: Outcome): string {
  if (method === 'GET') return '';
  if (outcome === 'unknown') return ` It may have been done. ${afterDoubt}`;
  return outcome === 'done' ? ` It was done. ${afterDoubt}` : '';
}

/** Text of others: without secrets, shortened between two characters, and nothing in it acts on a terminal. */
function shown({ redact }: CallDescription, text: string, length = 200): string {
  const start = redact(text)
    .slice(0, 4 * length)
    .replaceAll('\r\n', '\n');
  return start
    .replace(/[^\t\n]+/g, visible)
    .slice(0, length)
    .replace(/[\ud800-\udbff]$/, '');
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}
