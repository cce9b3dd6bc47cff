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
