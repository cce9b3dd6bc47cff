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
export function pause(forMs: number, signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const any = AbortSignal.any([...signals]);
    const end = () => {
      clearTimeout(timer);
      any.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, forMs);
    any.addEventListener('abort', end);
    if (any.aborted) end();
  });
}
