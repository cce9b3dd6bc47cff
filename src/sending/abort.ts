import { once } from 'node:events';

/** The longest timer of Node, which fires a longer one at once. */
export const longestTimerMs = 2 ** 31 - 1;

/** Resolves as `work` does, or rejects with the signal's reason as soon as it is aborted. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = new AbortController();
  const aborted = signal.aborted ? Promise.resolve() : once(signal, 'abort', { signal: over.signal });
  const refused = aborted.then(() => Promise.reject(signal.reason));
  return Promise.race([work, refused]).finally(() => over.abort());
}
