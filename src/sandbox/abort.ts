import { setTimeout } from 'node:timers/promises';

/** What `work` resolves to, or the signal's reason as soon as it is aborted. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Waits in real time, or until a signal ends the wait. */
export async function pause(forMs: number, signals: readonly AbortSignal[]): Promise<void> {
  await setTimeout(forMs, undefined, { signal: AbortSignal.any([...signals]) }).catch(() => undefined);
}
