import type * as z from 'zod/mini';
import type { Completed } from '../api-promise.js';
import { ApiError, ConnectionError } from '../errors.js';
import { onAbort } from './aborts.js';
import type { Call, ClientSettings, Progress } from './call.js';
import { readResponse } from './envelope.js';
import {
  type CallDescription,
  type FailedAttempt,
  headersOf,
  noResponse,
  outOfTime,
  refusal,
  requestIdNames,
} from './failures.js';
import { type CompleteResponse, isSuccess, SendFailure } from './fetch-contract.js';
import { tell } from './hooks.js';
import { Http } from './http.js';
import { redactor } from './redact.js';
import { backOffMs, longestRetryAfterMs, RetryBudget } from './retry.js';

/** Sends checked calls: attempts and the waits between them. One per client, loaded with its first call. */
export class Sender {
  readonly #settings: ClientSettings;
  readonly #http: Http;
  readonly #budget = new RetryBudget();

  constructor(settings: ClientSettings) {
    this.#settings = settings;
    this.#http = new Http(settings);
  }

  /** Rejects with an error of the package, or with the caller's `signal.reason`. */
  async send<T>(call: Call, schema: z.ZodMiniType<T>, progress: Progress): Promise<Completed<T>> {
    const { apiKey, baseUrl } = this.#settings;
    const names = Object.keys(call.headers).filter((name) => !requestIdNames.includes(name));
    const secrets = [apiKey, ...names.map((name) => call.headers[name] ?? '')];
    const description: CallDescription = {
      ...call.operation,
      attempts: 0,
      host: baseUrl.host,
      redact: redactor(secrets),
    };
    call.signal?.throwIfAborted();
    for (;;) {
      const attempts = ++description.attempts;
      progress.attempts = attempts;
      const result = await this.#attempt(call, description, schema, progress);
      if (!result.error) {
        progress.outcome = 'done';
        this.#budget.answered();
        const { status, headers } = result.response;
        const durationMs = performance.now() - call.startedAt;
        return {
          data: result.data,
          facts: () => ({ status, headers: headersOf(headers, (value) => value), attempts, durationMs }),
        };
      }
      progress.outcome = result.error.outcome ?? 'unknown';
      await this.#waitToRetry(call, description, result);
    }
  }

  async #attempt<T>(
    call: Call,
    description: CallDescription,
    schema: z.ZodMiniType<T>,
    progress: Progress,
  ): Promise<{ data: T; response: CompleteResponse; error: undefined } | FailedAttempt> {
    const { startedAt, timeoutMs, totalTimeoutMs, signal } = call;
    const { operation, method, path, attempts: attempt } = description;
    const began = performance.now();
    const left = startedAt + totalTimeoutMs - began;
    tell(this.#settings.hooks.request, { operation, method, path, attempt });
    signal?.throwIfAborted();
    let response: CompleteResponse;
    try {
      // In a process that was busy nothing may be left, and Node warns of a timer below 1 ms.
      response = await this.#http.attempt(call, Math.max(1, Math.min(timeoutMs, left)));
    } catch (failure) {
      if (!(failure instanceof SendFailure)) throw failure;
      const scope = left < timeoutMs ? 'total' : 'attempt';
      const limitMs = left < timeoutMs ? totalTimeoutMs : timeoutMs;
      // The status alone decides the outcome, even if the body that explains it never arrived.
      const failed =
        failure.head && !isSuccess(failure.head.status)
          ? refusal(description, failure.head, {})
          : noResponse(description, failure, { scope, limitMs });
      progress.outcome = failed.error.outcome ?? 'unknown';
      signal?.throwIfAborted();
      return failed;
    }
    const { status } = response;
    const durationMs = performance.now() - began;
    tell(this.#settings.hooks.response, { operation, method, path, attempt, status, durationMs });
    const result = readResponse(description, response, schema);
    return result.error ? result : { ...result, response };
  }

  /** Waits for the next attempt, or throws the failure if there is none. */
  async #waitToRetry(
    { startedAt, totalTimeoutMs, maxRetries, signal }: Call,
    description: CallDescription,
    { error, retriable }: FailedAttempt,
  ): Promise<void> {
    const { operation, method, path, attempts: attempt } = description;
    if (retriable === 'never' && !(error instanceof ConnectionError)) this.#budget.answered();
    const allowed = retriable === 'any' || (retriable === 'reads' && method === 'GET');
    if (!allowed || attempt > maxRetries) throw error;
    const left = startedAt + totalTimeoutMs - performance.now();
    const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
    if (asked > longestRetryAfterMs || (asked > 0 && asked >= left)) throw error;
    const delayMs = Math.max(asked, backOffMs(attempt));
    if (delayMs >= left) throw outOfTime(description, error, totalTimeoutMs);
    if (!this.#budget.spend()) throw error;
    tell(this.#settings.hooks.retry, { operation, method, path, attempt, delayMs, error });
    await sleep(delayMs, signal);
    // A busy process wakes up late.
    if (performance.now() - startedAt >= totalTimeoutMs) throw outOfTime(description, error, totalTimeoutMs);
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
