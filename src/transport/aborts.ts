/**
 * The functions to run when a signal is aborted, with the one listener of the signal. The listener is a function, because
 * polyfills accept no object.
 */
class AbortRunners extends Set<() => void> {
  readonly listener = () => {
    for (const run of [...this]) run();
  };
}

const bySignal = new WeakMap<AbortSignal, AbortRunners>();

/**
 * Runs a function when the signal is aborted, or at once if it is aborted already. Returns a function that cancels this.
 *
 * A signal gets one listener for all calls that share it, because Node warns of a leak at the eleventh listener.
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
