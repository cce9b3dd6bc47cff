/** After which failures a request may go out again. Writes have no idempotency key, so most of them may not. */
export type Retriable =
  /** It was never sent, or was refused before anything was done: reads and writes. */
  | 'any'
  /** It may have been done: reads alone. */
  | 'reads'
  | 'never';

const firstDelayMs = 500;
const longestDelayMs = 8_000;

/** A caller who is asked to wait longer than this for one retry is better served by an error. */
export const longestRetryAfterMs = 30_000;

/** Full jitter: anywhere between nothing and 500 ms, doubling to 8 s with each attempt. */
export function backOffMs(attempt: number): number {
  return Math.round(Math.random() * Math.min(longestDelayMs, firstDelayMs * 2 ** (attempt - 1)));
}

/** After which statuses a request may be sent again. */
export function retriableStatus(status: number): Retriable {
  if (status === 429) return 'any';
  const passing = [408, 500, 502, 503, 504].includes(status) || (status >= 520 && status <= 526);
  return passing ? 'reads' : 'never';
}

const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * What `Retry-After` asks for, in milliseconds: whole seconds or an HTTP date, anything else is ignored. A date is
 * compared with the response's own `Date`, so that a clock that is off does no harm.
 */
export function readRetryAfterMs(retryAfter: string | null, date: string | null): number | undefined {
  if (retryAfter === null) return undefined;
  if (/^\d+$/.test(retryAfter)) return Math.min(Number(retryAfter) * 1000, Number.MAX_SAFE_INTEGER);
  if (!httpDate.test(retryAfter)) return undefined;
  const now = date !== null && httpDate.test(date) ? Date.parse(date) : Date.now();
  const wait = Date.parse(retryAfter) - now;
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

/**
 * Keeps a client from multiplying the load on a service that is down: 50 retries, and one more for every ten calls
 * that got a response. First attempts always go out.
 */
export class RetryBudget {
  /** Whole tenths of a retry: 0.1 has no exact double, and ten of them would be less than one. */
  #tenths = 500;

  spend(): boolean {
    if (this.#tenths < 10) return false;
    this.#tenths -= 10;
    return true;
  }

  answered(): void {
    this.#tenths = Math.min(500, this.#tenths + 1);
  }
}
