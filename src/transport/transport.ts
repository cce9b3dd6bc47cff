import * as z from 'zod/mini';
import { ApiPromise, type Completed } from '../api-promise.js';
import { ApiError, ConnectionError, InvalidParamsError, type Issue, isPaymentsError } from '../errors.js';
import { describeIssues } from '../schemas/issues.js';
import { idProblem } from '../schemas/params.js';
import { onAbort } from './aborts.js';
import { attempt } from './attempt.js';
import { type CallOptions, callOptionProblems, ownFields } from './call-options.js';
import { openEnvelope, snippetOf } from './envelope.js';
import { type Answer, type Carrier, ExchangeFailure, type Outgoing } from './exchange.js';
import { type CallDescription, type Failure, noAnswer, outOfTime, refusal, unusable } from './failures.js';
import { type Hooks, tell } from './hooks.js';
import { redactor } from './redact.js';
import { backOffMs, longestRetryAfterMs, RetryBudget } from './retry.js';
import { shielded } from './shield.js';

/** The client's options, checked. */
export interface Settings {
  apiKey: string;
  /** Origin and path prefix, without a slash at the end. */
  baseUrl: URL;
  timeoutMs: number;
  totalTimeoutMs: number;
  maxRetries: number;
  headers: Readonly<Record<string, string>>;
  hooks: Hooks;
  userAgent: string;
  allowInsecureHttp: boolean;
  carrier: Carrier;
}

/** An operation of the API: its name in errors and hooks, and where it lives. */
export interface Operation {
  operation: string;
  method: string;
  /** The path template, such as `/v1/products/{id}`. */
  path: string;
  /** What a caller can do who does not know whether a write was done. */
  afterDoubt: string;
  /** Options of this call besides `CallOptions`; they mean nothing to the transport. */
  extraOptions?: readonly string[];
}

/** The checked parts of one request. */
export interface Parts {
  id?: string | undefined;
  query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  body?: unknown;
}

/** Carries calls: key, attempts, envelope, schema. One for each client. */
export class Transport {
  readonly #settings: Settings;
  readonly #origin: string;
  readonly #prefix: string;
  /** Of every request to which its call adds none. */
  readonly #headers: { withBody: Outgoing['headers']; withoutBody: Outgoing['headers'] };
  readonly #redact: (text: string) => string;
  readonly #budget = new RetryBudget();

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#origin = settings.baseUrl.origin;
    this.#prefix = settings.baseUrl.pathname.replace(/(?<!\/)\/+$/, '');
    this.#headers = { withBody: headersOf(settings, true, {}), withoutBody: headersOf(settings, false, {}) };
    this.#redact = redactor([settings.apiKey, ...Object.values(settings.headers)]);
  }

  get allowInsecureHttp(): boolean {
    return this.#settings.allowInsecureHttp;
  }

  /** Sends one call. `parts` runs at once and may throw; everything that goes wrong rejects the promise. */
  send<T>(
    operation: Operation,
    schema: z.ZodMiniType<T>,
    options: CallOptions | undefined,
    parts: () => Parts,
  ): ApiPromise<T> {
    return new ApiPromise(this.complete(operation, schema, options, parts));
  }

  /** The same, for a caller that makes something else of the data before it hands out the promise. */
  async complete<T>(
    operation: Operation,
    schema: z.ZodMiniType<T>,
    options: CallOptions = {},
    parts: () => Parts,
  ): Promise<Completed<T>> {
    const startedAt = performance.now();
    const call: CallDescription = {
      ...operation,
      attempts: 0,
      host: this.#settings.baseUrl.host,
      redact: this.#redact,
    };
    try {
      const { limits, outgoing, secrets } = this.#prepare(operation, options, parts, startedAt);
      if (secrets.length > 0) call.redact = (text) => redactor(secrets)(this.#redact(text));
      limits.signal?.throwIfAborted();
      for (;;) {
        call.attempts++;
        const result = await this.#attempt(call, outgoing, schema, limits);
        if ('data' in result) {
          this.#budget.answered();
          const { data, answer } = result;
          const durationMs = performance.now() - startedAt;
          const facts = () => ({
            status: answer.status,
            headers: answer.headers(),
            attempts: call.attempts,
            durationMs,
          });
          return { data, facts };
        }
        await this.#waitToRetry(call, result, limits);
      }
    } catch (error) {
      if (isPaymentsError(error)) {
        const { method, path } = operation;
        const durationMs = performance.now() - startedAt;
        tell(this.#settings.hooks.error, {
          operation: operation.operation,
          method,
          path,
          attempt: call.attempts,
          durationMs,
          error,
        });
      }
      throw error;
    }
  }

  /** Reads all that the caller passed, before the first await; everything that is wrong with it ends here. */
  #prepare(operation: Operation, options: CallOptions, parts: () => Parts, startedAt: number) {
    try {
      const given = fieldsOf(options);
      const problems = given
        ? callOptionProblems(given, operation.extraOptions ?? [], this.#settings.totalTimeoutMs)
        : [{ path: 'options', message: 'is not an object.' }];
      const checked = besideProblems(parts, problems);
      if (!given || !checked || problems.length > 0) throw new InvalidParamsError(operation, problems);
      return {
        limits: this.#limits(given, startedAt),
        outgoing: this.#outgoing(operation, shielded(checked), given.headers),
        secrets: Object.values(given.headers ?? {}),
      };
    } catch (error) {
      if (isPaymentsError(error)) throw error;
      const message = 'cannot be read: a getter or toJSON in them threw. Pass plain data.';
      throw new InvalidParamsError(operation, [{ path: '', message }]);
    }
  }

  #limits(given: CallOptions, startedAt: number): Limits {
    return {
      timeoutMs: given.timeoutMs ?? this.#settings.timeoutMs,
      deadline: startedAt + (given.totalTimeoutMs ?? this.#settings.totalTimeoutMs),
      maxRetries: given.maxRetries ?? this.#settings.maxRetries,
      signal: given.signal,
    };
  }

  #outgoing(
    { method, path }: Operation,
    { id, query, body }: Parts,
    headers: CallOptions['headers'],
  ): Outgoing {
    const target =
      this.#prefix +
      (id === undefined ? path : path.replace('{id}', () => encodeURIComponent(id))) +
      queryText(query);
    const hasBody = body !== undefined;
    const usual = hasBody ? this.#headers.withBody : this.#headers.withoutBody;
    return {
      method,
      url: this.#origin + target,
      target,
      headers: headers === undefined ? usual : headersOf(this.#settings, hasBody, headers),
      body: hasBody ? JSON.stringify(body) : undefined,
    };
  }

  async #attempt<T>(
    call: CallDescription,
    outgoing: Outgoing,
    schema: z.ZodMiniType<T>,
    { timeoutMs, deadline, signal }: Limits,
  ): Promise<{ data: T; answer: Answer } | Failure> {
    const { carrier, hooks } = this.#settings;
    const facts = { operation: call.operation, method: call.method, path: call.path, attempt: call.attempts };
    const startedAt = performance.now();
    const left = deadline - startedAt;
    const limitMs = Math.min(timeoutMs, left);
    tell(hooks.request, { ...facts });
    let answer: Answer;
    try {
      answer = await attempt(carrier, outgoing, { limitMs, signal });
    } catch (failure) {
      if (!(failure instanceof ExchangeFailure)) throw failure;
      // The status alone says what became of the call, even where the body that explains it never came.
      if (failure.head && !isSuccess(failure.head.status)) return refusal(call, failure.head, {});
      return noAnswer(call, failure, { scope: left < timeoutMs ? 'total' : 'attempt', limitMs });
    }
    tell(hooks.response, { ...facts, status: answer.status, durationMs: performance.now() - startedAt });
    const result = read(call, answer, schema);
    return 'error' in result ? result : { data: result.data, answer };
  }

  /** Waits for the next attempt, or throws the failure when there is to be none. */
  async #waitToRetry(
    call: CallDescription,
    failure: Failure,
    { deadline, maxRetries, signal }: Limits,
  ): Promise<void> {
    const { error, retriable } = failure;
    if (retriable === 'never' && !(error instanceof ConnectionError)) this.#budget.answered();
    const allowed = retriable === 'any' || (retriable === 'reads' && call.method === 'GET');
    if (!allowed || call.attempts > maxRetries) throw error;
    const left = deadline - performance.now();
    const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
    if (asked > longestRetryAfterMs || (asked > 0 && asked >= left)) throw error;
    const delayMs = Math.max(asked, backOffMs(call.attempts));
    if (delayMs >= left) throw outOfTime(call, error);
    if (!this.#budget.spend()) throw error;
    const { operation, method, path, attempts } = call;
    tell(this.#settings.hooks.retry, { operation, method, path, attempt: attempts, delayMs, error });
    await sleep(delayMs, signal);
  }
}

interface Limits {
  timeoutMs: number;
  /** On the clock of `performance.now()`, which no change of the system's time moves. */
  deadline: number;
  maxRetries: number;
  signal: AbortSignal | undefined;
}

/** What an answer holds: the data that the schema makes of it, or why there is none. */
function read<T>(call: CallDescription, answer: Answer, schema: z.ZodMiniType<T>): { data: T } | Failure {
  const { status } = answer;
  if (status >= 300 && status < 400) {
    return unusable(
      call,
      answer,
      'redirect',
      `it redirects${redirectTarget(call, answer)}, and redirects are not followed, to keep the API key. Check baseUrl`,
    );
  }
  const envelope = openEnvelope(answer);
  if (!isSuccess(status)) {
    const { code, message } =
      envelope.kind === 'refusal' ? envelope : { code: undefined, message: undefined };
    return refusal(call, answer, { code, message, snippet: snippetOf(answer.body) });
  }
  if (envelope.kind === 'refusal')
    return refusal(call, answer, { ...envelope, snippet: snippetOf(answer.body) });
  if (envelope.kind === 'unusable') {
    const mayBeCut = envelope.reason === 'json' && !answer.delimited;
    return unusable(call, answer, envelope.reason, envelope.problem, {
      retriable: mayBeCut ? 'reads' : 'never',
    });
  }
  const parsed = z.safeParse(schema, envelope.data);
  if (parsed.success) return { data: parsed.data };
  if (envelope.data === undefined || envelope.data === null)
    return unusable(call, answer, 'envelope', 'it has no data');
  const issues = describeIssues(parsed.error.issues);
  const shown = issues.slice(0, 5).map(({ path, message }) => `${path || 'data'}: ${message}`);
  const problem = shown.join('; ') + (issues.length > 5 ? `; and ${issues.length - 5} more` : '');
  return unusable(call, answer, 'schema', problem, { issues, id: idOf(envelope.data) });
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The other host, which is all of a Location that is safe to print. */
function redirectTarget(call: CallDescription, answer: Answer): string {
  const location = answer.header('location');
  const base = `https://${call.host}`;
  if (location === null || !URL.canParse(location, base)) return '';
  const { host, protocol } = new URL(location, base);
  return ` to ${call.redact(host || protocol)}`;
}

/** The id in data that is otherwise unusable; text that could not be an id is none. */
function idOf(data: unknown): string | undefined {
  const id: unknown = typeof data === 'object' && data !== null && 'id' in data ? data.id : undefined;
  return typeof id === 'string' && idProblem(id) === undefined ? id : undefined;
}

function queryText(query: Parts['query']): string {
  if (query === undefined) return '';
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  return pairs.length === 0
    ? ''
    : `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)]))}`;
}

/** What a call adds goes over what its client adds. */
function headersOf(
  { apiKey, userAgent, headers }: Settings,
  hasBody: boolean,
  added: Readonly<Record<string, string>>,
): Outgoing['headers'] {
  const whole: Record<string, string> = { accept: 'application/json', 'user-agent': userAgent, ...headers };
  for (const [name, value] of Object.entries(added)) whole[name.toLowerCase()] = value;
  whole['x-api-key'] = apiKey;
  if (hasBody) whole['content-type'] = 'application/json';
  return whole;
}

function fieldsOf(options: unknown): CallOptions | undefined {
  return typeof options === 'object' && options !== null && !Array.isArray(options)
    ? ownFields<CallOptions>(options)
    : undefined;
}

/** The checked parameters; where they are refused, their problems come before those of the options. */
function besideProblems(parts: () => Parts, problems: Issue[]): Parts | undefined {
  try {
    return parts();
  } catch (error) {
    if (!(error instanceof InvalidParamsError)) throw error;
    problems.unshift(...error.issues);
    return undefined;
  }
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const timer = setTimeout(() => {
      forget();
      resolve();
    }, ms);
    const forget = onAbort(signal, () => {
      forget();
      clearTimeout(timer);
      reject(signal?.reason);
    });
  });
}
