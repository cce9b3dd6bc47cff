import type * as z from 'zod/mini';
import { ApiPromise, type Completed } from '../api-promise.js';
import { InvalidParamsError, type Issue, isPaymentsError } from '../errors.js';
import type { Call, ClientSettings, Operation, Parts, Progress } from './call.js';
import { type CallOptions, callOptionProblems, lowerCased, ownFields } from './call-options.js';
import { tell } from './hooks.js';
import type { Sender } from './sender.js';
import { shielded } from './shield.js';

/** Checks calls, builds their requests, has them sent. One for each client. */
export class Transport {
  readonly #settings: ClientSettings;
  readonly #base: string;
  #sender: Sender | undefined;

  constructor(settings: ClientSettings) {
    this.#settings = settings;
    this.#base = settings.baseUrl.href.replace(/(?<!\/)\/+$/, '');
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
    const progress: Progress = { attempts: 0, outcome: 'not_sent' };
    const { hooks } = this.#settings;
    const { operation: name, method, path } = operation;
    const about = () => ({ operation: name, method, path, durationMs: performance.now() - startedAt });
    try {
      const call = this.#prepare(operation, options, parts, startedAt);
      const sender = this.#sender ?? (await this.#loadSender());
      const completed = await sender.send(call, schema, progress);
      tell(hooks.end, { ...about(), ...progress });
      return completed;
    } catch (error) {
      if (isPaymentsError(error)) tell(hooks.error, { ...about(), attempt: progress.attempts, error });
      tell(hooks.end, { ...about(), ...progress });
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
      const settings = this.#settings;
      const { body } = shielded(checked);
      return {
        operation,
        url: this.#base + pathOf(operation, shielded(checked)),
        headers: { ...settings.headers, ...lowerCased(given.headers) },
        body: body === undefined ? null : JSON.stringify(body),
        startedAt,
        timeoutMs: given.timeoutMs ?? settings.timeoutMs,
        totalTimeoutMs: given.totalTimeoutMs ?? settings.totalTimeoutMs,
        maxRetries: given.maxRetries ?? settings.maxRetries,
        signal: given.signal,
      };
    } catch (error) {
      if (isPaymentsError(error)) throw error;
      const message = 'cannot be read: a getter or toJSON in them threw. Pass plain data.';
      throw new InvalidParamsError(operation, [{ path: '', message }]);
    }
  }
}

/** The path of one request, with its query. */
function pathOf({ path }: Operation, { id, query = {} }: Parts): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  const own = id === undefined ? path : path.replace('{id}', () => encodeURIComponent(id));
  return text === '' ? own : `${own}?${text}`;
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
