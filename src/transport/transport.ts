import type * as z from 'zod/mini';
import { ApiPromise, type Completed } from '../api-promise.js';
import { InvalidParamsError, type Issue, isPaymentsError } from '../errors.js';
import { type CallOptions, callOptionProblems, ownFields } from './call-options.js';
import type { Outgoing } from './exchange.js';
import { type Hooks, tell } from './hooks.js';
import type { Call, Limits, Sender } from './sender.js';
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
  /** The option `fetch`. */
  fetch: typeof globalThis.fetch | undefined;
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

/** Checks and prepares calls, and has them sent. One for each client. */
export class Transport {
  readonly #settings: Settings;
  readonly #origin: string;
  readonly #prefix: string;
  /** Of every request to which its call adds none. */
  readonly #headers: { withBody: Outgoing['headers']; withoutBody: Outgoing['headers'] };
  #sender: Sender | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#origin = settings.baseUrl.origin;
    this.#prefix = settings.baseUrl.pathname.replace(/(?<!\/)\/+$/, '');
    this.#headers = { withBody: headersOf(settings, true, {}), withoutBody: headersOf(settings, false, {}) };
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
    try {
      const call = this.#prepare(operation, options, parts, startedAt);
      const sender = this.#sender ?? (await this.#loadSender());
      return await sender.send(call, schema);
    } catch (error) {
      if (isPaymentsError(error)) {
        const { operation: name, method, path } = operation;
        const durationMs = performance.now() - startedAt;
        const attempt = error.attempts ?? 0;
        tell(this.#settings.hooks.error, { operation: name, method, path, attempt, durationMs, error });
      }
      throw error;
    }
  }

  /** What sends is half of the client's code, ky with it, so it waits for the first call. */
  async #loadSender(): Promise<Sender> {
    const { Sender } = await import('./sender.js');
    this.#sender ??= new Sender(this.#settings);
    return this.#sender;
  }

  /** Reads all that the caller passed, before the first await; everything that is wrong with it ends here. */
  #prepare(operation: Operation, options: CallOptions, parts: () => Parts, startedAt: number): Call {
    try {
      const given = fieldsOf(options);
      const problems = given
        ? callOptionProblems(given, operation.extraOptions ?? [], this.#settings.totalTimeoutMs)
        : [{ path: 'options', message: 'is not an object.' }];
      const checked = besideProblems(parts, problems);
      if (!given || !checked || problems.length > 0) throw new InvalidParamsError(operation, problems);
      return {
        operation,
        startedAt,
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
