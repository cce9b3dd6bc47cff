import type * as z from 'zod/mini';
import type { Completed } from '../api-promise.js';
import { ApiError, ConnectionError } from '../errors.js';
import { onAbort } from './aborts.js';
import { attempt } from './attempt.js';
import { carrierFor } from './carrier.js';
import { type Answer, type Carrier, ExchangeFailure, type Outgoing } from './exchange.js';
import { type CallDescription, type Failure, noAnswer, outOfTime, refusal } from './failures.js';
import { tell } from './hooks.js';
import { isSuccess, readAnswer } from './read-answer.js';
import { redactor } from './redact.js';
import { backOffMs, longestRetryAfterMs, RetryBudget } from './retry.js';
import type { Operation, Settings } from './transport.js';

/** How long a call may take, and how often it may go out again. */
export interface Limits {
  timeoutMs: number;
  /** On the clock of `performance.now()`, which no change of the system's time moves. */
  deadline: number;
  maxRetries: number;
  signal: AbortSignal | undefined;
}

/** One call, its parameters and options checked. */
export interface Call {
  operation: Operation;
  /** On the clock of `performance.now()`. */
  startedAt: number;
  limits: Limits;
  outgoing: Outgoing;
  /** Values of headers that this call adds. */
  secrets: readonly string[];
}

/** Sends checked calls: attempts and the waits between them, envelope, schema, errors. One for each client. */
export class Sender {
  readonly #hooks: Settings['hooks'];
  readonly #host: string;
  readonly #carrier: Carrier;
  readonly #redact: (text: string) => string;
  readonly #budget = new RetryBudget();

  constructor({ apiKey, baseUrl, fetch, headers, hooks }: Settings) {
    this.#hooks = hooks;
    this.#host = baseUrl.host;
    this.#carrier = carrierFor(baseUrl, fetch);
    this.#redact = redactor([apiKey, ...Object.values(headers)]);
  }

  /** Rejects with an error of the package, or with the caller's `signal.reason`. */
  async send<T>(call: Call, schema: z.ZodMiniType<T>): Promise<Completed<T>> {
    const { operation, startedAt, limits, outgoing, secrets } = call;
    const redact = this.#redact;
    const description: CallDescription = {
      ...operation,
      attempts: 0,
      host: this.#host,
      redact: secrets.length > 0 ? (text) => redactor(secrets)(redact(text)) : redact,
    };
    limits.signal?.throwIfAborted();
    for (;;) {
      description.attempts++;
      const result = await this.#attempt(description, outgoing, schema, limits);
      if ('data' in result) {
        this.#budget.answered();
        const { data, answer } = result;
        const durationMs = performance.now() - startedAt;
        const { attempts } = description;
        return {
          data,
          facts: () => ({ status: answer.status, headers: answer.headers(), attempts, durationMs }),
        };
      }
      await this.#waitToRetry(description, result, limits);
    }
  }

  async #attempt<T>(
    call: CallDescription,
    outgoing: Outgoing,
    schema: z.ZodMiniType<T>,
    { timeoutMs, deadline, signal }: Limits,
  ): Promise<{ data: T; answer: Answer } | Failure> {
    const facts = { operation: call.operation, method: call.method, path: call.path, attempt: call.attempts };
    const startedAt = performance.now();
    const left = deadline - startedAt;
    const limitMs = Math.min(timeoutMs, left);
    tell(this.#hooks.request, { ...facts });
    let answer: Answer;
    try {
      answer = await attempt(this.#carrier, outgoing, { limitMs, signal });
    } catch (failure) {
      if (!(failure instanceof ExchangeFailure)) throw failure;
      // The status alone says what became of the call, even where the body that explains it never came.
      if (failure.head && !isSuccess(failure.head.status)) return refusal(call, failure.head, {});
      return noAnswer(call, failure, { scope: left < timeoutMs ? 'total' : 'attempt', limitMs });
    }
    tell(this.#hooks.response, {
      ...facts,
      status: answer.status,
      durationMs: performance.now() - startedAt,
    });
    const result = readAnswer(call, answer, schema);
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
