/** The requests that may be retried after a failure. Writes have no idempotency key, so most of them may not. */
export type Retriable =
  /** Reads and writes, because the request was never sent, or was refused before anything was done. */
  | 'any'
  /** Reads only, because the request may have been done. */
  | 'get'
  | 'never';

/** The longest wait that the client accepts. If the service asks for more, the caller gets the error at once. */
export const longestRetryAfterMs = 30_000;

/**
 * Returns the wait before the next attempt, with full jitter: 0 to 500 ms after the first attempt. The upper limit doubles
 * each time, up to 8 s.
 */
export function backOffMs(attempt: number): number {
  return Math.round(Math.random() * Math.min(8_000, 500 * 2 ** (attempt - 1)));
}

/** Returns which requests may be retried after this status. */
export function retriableStatus(status: number): Retriable {
  if (status === 429) return 'any';
  const transient = [408, 500, 502, 503, 504].includes(status) || (status >= 520 && status <= 526);
  return transient ? 'get' : 'never';
}

const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Returns the wait that `Retry-After` asks for, in milliseconds: whole seconds or an HTTP date; any other
 * value is ignored. A date is compared with the response's own `Date`, so that a wrong local clock does not matter.
 */
export function readRetryAfterMs(retryAfter: string | null, date: string | null): number | undefined {
  if (retryAfter === null) return undefined;
  if (/^\d+$/.test(retryAfter)) return Math.min(Number(retryAfter) * 1000, Number.MAX_SAFE_INTEGER);
  if (!httpDate.test(retryAfter)) return undefined;
  const now = date !== null && httpDate.test(date) ? Date.parse(date) : Date.now();
  const wait = Date.parse(retryAfter) - now;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
