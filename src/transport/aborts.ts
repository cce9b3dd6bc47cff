/** The functions to run when a signal is aborted, and the signal's one listener: polyfills take only functions. */
class AbortRunners extends Set<() => void> {
  readonly listener = () => {
    for (const run of [...this]) run();
  };
}

const bySignal = new WeakMap<AbortSignal, AbortRunners>();

/**
 * Runs a function when the signal is aborted, at once if it is; call the returned function to cancel that.
 *
 * A signal gets one listener, however many calls share it: Node warns of a leak at the eleventh.
 */
export function onAbort(signal: AbortSignal | undefined, run: () => void): () => void {
  if (signal?.aborted) run();
  if (!signal || signal.aborted) return () => {};
  const runners = bySignal.get(signal) ?? new AbortRunners();
  bySignal.set(signal, runners);
  if (runners.size === 0) signal.addEventListener('abort', runners.listener);
  runners.add(run);
  return () => {
    runners.delete(run);
    if (runners.size === 0) signal.removeEventListener('abort', runners.listener);
  };
}
