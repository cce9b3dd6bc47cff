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
import { type AnswerHead, type ExchangeFailure, isTlsCode, type Phase } from './exchange.js';
import { type Retriable, readRetryAfterMs, retriableStatus } from './retry.js';

/** An attempt that failed: what to tell the caller, and whether another may follow. */
export interface Failure {
  error: PaymentsError;
  retriable: Retriable;
}

/** What every failure of a call is described with. */
export interface CallDescription {
  operation: string;
  method: string;
  /** The path template, such as `/v1/products/{id}`. */
  path: string;
  attempts: number;
  /** What a caller can do who does not know whether a write was done. */
  afterDoubt: string;
  /** Origin of `baseUrl`, for messages. */
  host: string;
  redact(text: string): string;
}

type Scope = { scope: 'attempt' | 'total'; limitMs: number };

/** No complete answer, for a reason other than the caller's own abort. */
export function noAnswer(call: CallDescription, failure: ExchangeFailure, time: Scope): Failure {
  const { phase, reason } = failure;
  if (reason === 'too_large') {
    return unusable(call, { status: failure.head?.status ?? 0 }, 'too_large', 'it is larger than 8 MiB');
  }
  const outcome = outcomeOfPhase(phase);
  const facts = { ...factsOf(call, outcome), phase };
  if (reason === 'timeout') {
    const limit = time.scope === 'attempt' ? `timeoutMs (${time.limitMs} ms)` : 'totalTimeoutMs';
    const stage = phase === 'connect' ? `was not sent: no connection to ${call.host}` : stageOf(phase);
    const message = `${call.method} ${call.path} ${stage} within ${limit}.`;
    const error = new TimeoutError(message + doubt(call, outcome), { ...facts, scope: time.scope });
    return { error, retriable: time.scope === 'total' ? 'never' : phase === 'connect' ? 'any' : 'reads' };
  }
  const message = `${call.method} ${call.path} ${stageOf(phase)}: ${reasonInWords(call, phase, reason)}`;
  return {
    error: new ConnectionError(message + doubt(call, outcome), { ...facts, reason }),
    retriable: isPermanent(reason) ? 'never' : phase === 'connect' ? 'any' : 'reads',
  };
}

/** The call's time ran out while it waited for its next attempt. */
export function outOfTime(call: CallDescription, last: PaymentsError): TimeoutError {
  const phase = last instanceof ConnectionError ? last.phase : 'exchange';
  const outcome = last.outcome ?? 'unknown';
  return new TimeoutError(
    `${call.method} ${call.path}: totalTimeoutMs leaves no time for another attempt. The last one failed: ${last.message}`,
    { ...factsOf(call, outcome), phase, scope: 'total', cause: last },
  );
}

/** The service said no: by HTTP status, or by another envelope `code` than 0 under a success status. */
export function refusal(
  call: CallDescription,
  answer: AnswerHead,
  envelope: { code?: number | undefined; message?: string | undefined; snippet?: string | undefined },
): Failure {
  const byStatus = answer.status < 200 || answer.status > 299;
  const { code } = envelope;
  const kind = byStatus || code === undefined ? answer.status : code;
  const outcome = byStatus || (kind >= 400 && kind <= 599) ? outcomeOfStatus(kind) : 'rejected';
  const apiMessage = envelope.message === undefined ? undefined : shorten(call.redact(envelope.message));
  const facts: ApiFacts = {
    ...factsOf(call, outcome),
    status: answer.status,
    apiCode: code,
    apiMessage,
    retryAfterMs: readRetryAfterMs(answer.header('retry-after'), answer.header('date')),
    bodySnippet: envelope.snippet === undefined ? undefined : shorten(call.redact(envelope.snippet)),
  };
  const said = byStatus ? `${answer.status}` : `${answer.status} with code ${code}`;
  const words = apiMessage
    ?.trim()
    .replaceAll(/\s+/g, ' ')
    .replace(/(?<![\s.:])[\s.:]+$/, '');
  const message = `${call.method} ${call.path} answered ${said}${words ? ` ${words}` : ''}${advice(kind, facts.retryAfterMs)}`;
  return {
    error: apiError(kind, message + doubt(call, outcome), facts),
    retriable: byStatus ? retriableStatus(answer.status) : 'never',
  };
}

/** A success that cannot be used, or a redirect, which is never followed. */
export function unusable(
  call: CallDescription,
  answer: { status: number },
  reason: InvalidResponseReason,
  problem: string,
  more: { issues?: readonly Issue[]; id?: string | undefined; retriable?: Retriable } = {},
): Failure {
  const outcome = reason === 'redirect' ? 'unknown' : 'done';
  const resourceId = more.id === undefined ? undefined : call.redact(more.id);
  const facts = {
    ...factsOf(call, outcome),
    status: answer.status,
    reason,
    issues: more.issues ?? [],
    id: resourceId,
  };
  const id = resourceId === undefined ? '' : ` Its id is ${JSON.stringify(resourceId)}.`;
  const why = shorten(call.redact(problem), 1_000);
  const message = `${call.method} ${call.path} answered ${answer.status}, and the answer cannot be used: ${why}.`;
  return {
    error: new InvalidResponseError(message + id + doubt(call, outcome), facts),
    retriable: more.retriable ?? 'never',
  };
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

/** What a refusal means and what to do about it, where the spec or the HTTP standard says so. */
function advice(kind: number, retryAfterMs: number | undefined): string {
  if (kind === 401) {
    return (
      ': the API key was refused. Check that it and its prefix belong to this environment; ' +
      'regenerating a key in the dashboard disables the old one at once.'
    );
  }
  if (kind === 404)
    return ': nothing was found there. Check the id, and that baseUrl names the right environment.';
  if (kind === 403) return ': this API key may not do that.';
  if (kind === 409) return ': the state of the resource forbids it.';
  if (kind === 400 || kind === 413 || kind === 422) return ': the content of the request was refused.';
  if (kind === 429) {
    const wait = retryAfterMs ? `Wait ${Math.ceil(retryAfterMs / 1000)} s` : 'Wait a while';
    return `: too many requests. ${wait} before the next one.`;
  }
  return kind >= 500 && kind <= 599 ? ': the service failed.' : '.';
}

function stageOf(phase: Phase): string {
  if (phase === 'connect') return 'was not sent';
  return phase === 'exchange' ? 'was sent, but not answered' : 'was answered, but not to the end';
}

function reasonInWords(call: CallDescription, phase: Phase, reason: string): string {
  if (phase !== 'connect')
    return reason === 'network' ? 'the connection failed.' : `the connection failed (${reason}).`;
  if (isTlsCode(reason))
    return `the secure connection to ${call.host} failed with ${reason}. Check the scheme and host of baseUrl.`;
  if (reason === 'ENOTFOUND') return `the host ${call.host} is not known (ENOTFOUND). Check baseUrl.`;
  return `${call.host} could not be reached (${reason}).`;
}

/** Faults that another attempt meets again: refused certificates, answers that are not HTTP, data that is no gzip. */
function isPermanent(reason: string): boolean {
  return (
    isTlsCode(reason) ||
    /^(?:HPE_|HTTPParserError|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_CONTENT_LENGTH|Z_DATA_ERROR|not_a_response|not_an_error)/.test(
      reason,
    )
  );
}

function doubt({ method, afterDoubt }: CallDescription, outcome: Outcome): string {
  if (method === 'GET') return '';
  if (outcome === 'unknown') return ` It may have been done. ${afterDoubt}`;
  return outcome === 'done' ? ` It was done. ${afterDoubt}` : '';
}

function shorten(text: string, length = 200): string {
  return text.length > length ? text.slice(0, length) : text;
}
