/** What is under way on one signal. */
class Waiting {
  readonly #signal: AbortSignal;
  readonly #runs = new Set<() => void>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(run: () => void): () => void {
    if (this.#runs.size === 0) this.#signal.addEventListener('abort', this.#runAll);
    this.#runs.add(run);
    return () => {
      this.#runs.delete(run);
      if (this.#runs.size === 0) this.#signal.removeEventListener('abort', this.#runAll);
    };
  }

  readonly #runAll = () => {
    for (const run of [...this.#runs]) run();
  };
}

const bySignal = new WeakMap<AbortSignal, Waiting>();

/**
 * Runs a function when the signal is aborted, until the function that is returned is called.
 *
 * A signal gets one listener, however many calls share it: Node warns of a leak from the eleventh on.
 */
export function onAbort(signal: AbortSignal | undefined, run: () => void): () => void {
  if (!signal) return () => {};
  const waiting = bySignal.get(signal) ?? new Waiting(signal);
  bySignal.set(signal, waiting);
  return waiting.add(run);
}
