/** The functions to run when a signal is aborted, and the signal's one listener: polyfills take only functions. */
class Runs extends Set<() => void> {
  readonly listener = () => {
    for (const run of [...this]) run();
  };
}

const bySignal = new WeakMap<AbortSignal, Runs>();

/**
 * Runs a function when the signal is aborted, at once if it is; call the returned function to cancel that.
 *
 * A signal gets one listener, however many calls share it: Node warns of a leak at the eleventh.
 */
export function onAbort(signal: AbortSignal | undefined, run: () => void): () => void {
  if (signal?.aborted) run();
  if (!signal || signal.aborted) return () => {};
  const runs = bySignal.get(signal) ?? new Runs();
  bySignal.set(signal, runs);
  if (runs.size === 0) signal.addEventListener('abort', runs.listener);
  runs.add(run);
  return () => {
    runs.delete(run);
    if (runs.size === 0) signal.removeEventListener('abort', runs.listener);
  };
}

/** A controller that is aborted with a signal, too. Aborting it ends the link. */
export function linkedController(signal: AbortSignal | undefined): AbortController {
  const controller = new AbortController();
  const unlink = onAbort(signal, () => controller.abort(signal?.reason));
  onAbort(controller.signal, unlink);
  return controller;
}
