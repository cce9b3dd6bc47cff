import type * as z from 'zod/mini';
import type { Completed } from '../api-promise.js';
import { ApiError, ConnectionError } from '../errors.js';
import { onAbort } from './aborts.js';
import type { Call, ClientSettings, Limits, Outgoing, Progress } from './call.js';
import { readResponse } from './envelope.js';
import {
  type CallDescription,
  type FailedAttempt,
  headersOf,
  noResponse,
  outOfTime,
  refusal,
} from './failures.js';
import { tell } from './hooks.js';
import { Http } from './http.js';
import { redactor } from './redact.js';
import { backOffMs, longestRetryAfterMs, RetryBudget } from './retry.js';
import { type CompleteResponse, isSuccess, SendFailure } from './send.js';

/** Sends checked calls: attempts and the waits between them. One for each client, loaded with its first call. */
export class Sender {
  readonly #hooks: ClientSettings['hooks'];
  readonly #host: string;
  readonly #http: Http;
  readonly #redact: (text: string) => string;
  readonly #budget = new RetryBudget();

  constructor(settings: ClientSettings) {
    this.#hooks = settings.hooks;
    this.#host = settings.baseUrl.host;
    this.#http = new Http(settings);
    this.#redact = redactor([settings.apiKey]);
  }

  /** Rejects with an error of the package, or with the caller's `signal.reason`. */
  async send<T>(call: Call, schema: z.ZodMiniType<T>, progress: Progress): Promise<Completed<T>> {
    const { operation, startedAt, limits, outgoing } = call;
    const secrets = Object.values(outgoing.headers);
    const redact = this.#redact;
    const description: CallDescription = {
      ...operation,
      attempts: 0,
      host: this.#host,
      redact: secrets.length > 0 ? (text) => redactor(secrets)(redact(text)) : redact,
    };
    limits.signal?.throwIfAborted();
    for (;;) {
      const attempts = ++description.attempts;
      progress.attempts = attempts;
      const result = await this.#attempt(description, outgoing, schema, limits, progress);
      if ('data' in result) {
        progress.outcome = 'done';
        this.#budget.answered();
        const { data, response } = result;
        const { status, headers } = response;
        const durationMs = performance.now() - startedAt;
        return {
          data,
          facts: () => ({ status, headers: headersOf(headers, (value) => value), attempts, durationMs }),
        };
      }
      progress.outcome = result.error.outcome ?? 'unknown';
      await this.#waitToRetry(description, result, limits);
    }
  }

  async #attempt<T>(
    call: CallDescription,
    outgoing: Outgoing,
    schema: z.ZodMiniType<T>,
    { timeoutMs, totalTimeoutMs, deadline, signal }: Limits,
    progress: Progress,
  ): Promise<{ data: T; response: CompleteResponse } | FailedAttempt> {
    const facts = { operation: call.operation, method: call.method, path: call.path, attempt: call.attempts };
    const startedAt = performance.now();
    const left = deadline - startedAt;
    tell(this.#hooks.request, { ...facts });
    let response: CompleteResponse;
    try {
      response = await this.#http.attempt(outgoing, { limitMs: Math.min(timeoutMs, left), signal });
    } catch (failure) {
      if (!(failure instanceof SendFailure)) throw failure;
      // The status alone says what became of the call, even where the body that explains it never came.
      const failed =
        failure.head && !isSuccess(failure.head.status)
          ? refusal(call, failure.head, {})
          : noResponse(
              call,
              failure,
              left < timeoutMs
                ? { scope: 'total', limitMs: totalTimeoutMs }
                : { scope: 'attempt', limitMs: timeoutMs },
            );
      progress.outcome = failed.error.outcome ?? 'unknown';
      signal?.throwIfAborted();
      return failed;
    }
    tell(this.#hooks.response, {
      ...facts,
      status: response.status,
      durationMs: performance.now() - startedAt,
    });
    const result = readResponse(call, response, schema);
    return 'error' in result ? result : { data: result.data, response };
  }

  /** Waits for the next attempt, or throws the failure when there is to be none. */
  async #waitToRetry(
    call: CallDescription,
    { error, retriable }: FailedAttempt,
    { totalTimeoutMs, deadline, maxRetries, signal }: Limits,
  ): Promise<void> {
    if (retriable === 'never' && !(error instanceof ConnectionError)) this.#budget.answered();
    const allowed = retriable === 'any' || (retriable === 'reads' && call.method === 'GET');
    if (!allowed || call.attempts > maxRetries) throw error;
    const left = deadline - performance.now();
    const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
    if (asked > longestRetryAfterMs || (asked > 0 && asked >= left)) throw error;
    const delayMs = Math.max(asked, backOffMs(call.attempts));
    if (delayMs >= left) throw outOfTime(call, error, totalTimeoutMs);
    if (!this.#budget.spend()) throw error;
    const { operation, method, path, attempts } = call;
    tell(this.#hooks.retry, { operation, method, path, attempt: attempts, delayMs, error });
    await sleep(delayMs, signal);
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
