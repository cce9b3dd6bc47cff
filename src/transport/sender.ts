import type * as z from 'zod/mini';
import type { Completed } from '../api-promise.js';
import { ApiError, ConnectionError, isPaymentsError } from '../errors.js';
import { runHook } from '../input/hooks.js';
import { redactor, secretsOf } from '../input/redact.js';
import { onAbort } from './aborts.js';
import type { Call, CallState, ClientSettings } from './call.js';
import { readData } from './envelope.js';
import { Failure } from './failure.js';
import { type HookFacts, nameOf } from './hooks.js';
import { kyRequests } from './http.js';
import { RequestProgress, type ResponseHead } from './response.js';
import { backOffMs, longestRetryAfterMs } from './retry.js';
import {
  errorWithoutResponse,
  type FailedAttempt,
  headersOf,
  requestIdOf,
  type TimeLimit,
} from './to-error.js';

/**
 * Returns a function that sends checked calls, with their attempts and the waits between them. There is one per client,
 * loaded with its first call.
 */
export function sender(settings: ClientSettings) {
  const { apiKey, baseUrl, hooks } = settings;
  const request = kyRequests(settings);
  /**
   * The budget of retries, which limits the load on a service that is down: at most 50 retries, and every ten calls
   * that the service answered, but not with a passing failure such as 503, give one back. It counts tenths of a retry,
   * because 0.1 has no exact double, and adding it ten times gives less than 1.
   */
  let budget = 500;

  /** Sends a call. Rejects with an error of the package, or with the caller's `signal.reason`. */
  async function makeAttempts<T>(
    call: Call,
    schema: z.ZodMiniType<T>,
    state: CallState,
  ): Promise<Completed<T>> {
    const redact = redactor([apiKey, ...secretsOf(call.headers)]);
    call.signal?.throwIfAborted();
    for (;;) {
      const number = ++state.attempts;
      const { host } = baseUrl;
      const description = {
        ...call.operation,
        attempts: number,
        host,
        redact,
        earlierOutcome: state.outcome,
      };
      const began = performance.now();
      const limit = limitOf(call, began);
      if (hooks.request) runHook(hooks.request, hookFacts(call, number));
      call.signal?.throwIfAborted();
      const progress = new RequestProgress();
      const response = await request(call, limit.leftMs, progress);
      // Pessimistic until the result is read: an exception in between must not report `not_sent`.
      state.outcome = 'unknown';
      const durationMs = performance.now() - began;
      // The hook also runs for a response whose body did not arrive completely.
      const head = response instanceof Failure ? progress.head : response;
      if (head && hooks.response)
        runHook(hooks.response, { ...hookFacts(call, number), status: head.status, durationMs });
      let failed: FailedAttempt;
      if (response instanceof Failure) failed = errorWithoutResponse(description, response, progress, limit);
      else {
        const result = await readData(description, response, schema);
        if (!result.error) {
          state.ok = true;
          state.outcome = 'done';
          giveBack();
          return { data: result.data, facts: factsOf(call, response, number, performance.now()) };
        }
        failed = result;
      }
      state.outcome = failed.error.outcome ?? 'unknown';
      if (response instanceof Failure) call.signal?.throwIfAborted(); // if the caller ended it, not the time limit
      await waitToRetry(call, number, failed);
    }
  }

  /** Gives a tenth of a retry back to the budget. */
  function giveBack(): void {
    budget = Math.min(500, budget + 1);
  }

  /** Waits for the next attempt, or throws the failure if there is none. */
  async function waitToRetry(call: Call, attempt: number, { error, retriable }: FailedAttempt) {
    const { startedAt, totalTimeoutMs, maxRetries, signal } = call;
    const { method } = call.operation;
    const allowed =
      attempt <= maxRetries && (retriable === 'any' || (retriable === 'get' && method === 'GET'));
    const left = startedAt + totalTimeoutMs - performance.now();
    const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
    const delayMs = Math.max(asked, backOffMs(attempt));
    const mayWait = asked <= longestRetryAfterMs && delayMs < left;
    if (!allowed || !mayWait || budget < 10) {
      if (retriable !== 'get' && !(error instanceof ConnectionError)) giveBack();
      throw error;
    }
    budget -= 10;
    if (isPaymentsError(error)) runHook(hooks.retry, { ...hookFacts(call, attempt), delayMs, error });
    await sleep(delayMs, signal);
    // A busy process wakes up late.
    if (performance.now() - startedAt >= totalTimeoutMs) throw error;
  }

  return makeAttempts;
}

function hookFacts({ operation }: Call, attempt: number): HookFacts {
  return { ...nameOf(operation), attempt };
}

/** Returns the time limit that ends an attempt first. */
function limitOf({ startedAt, timeoutMs, totalTimeoutMs }: Call, now: number): TimeLimit {
  const left = startedAt + totalTimeoutMs - now;
  // A busy process may have no time left, and Node warns of a timer below 1 ms.
  return left < timeoutMs
    ? { scope: 'total', limitMs: totalTimeoutMs, leftMs: Math.max(1, left) }
    : { scope: 'attempt', limitMs: timeoutMs, leftMs: timeoutMs };
}

/** Returns a function that builds the facts of a response for `withResponse()`. */
function factsOf({ startedAt }: Call, { status, headers }: ResponseHead, attempts: number, now: number) {
  return () => {
    const copy = headersOf(headers, (value) => value);
    return { status, headers: copy, requestId: requestIdOf(copy), attempts, durationMs: now - startedAt };
  };
}

async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let forget = () => {};
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    forget = onAbort(signal, () => {
      clearTimeout(timer);
      reject(signal?.reason);
    });
  }).finally(() => forget());
}
