import { pause } from './abort.js';

/** Calls its subscribers with each value. */
export class Signal<T> {
  readonly #listeners = new Set<(value: T) => void>();

  /** Calls back from now on, until the returned function is called. */
  subscribe(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(value: T): void {
    for (const listener of this.#listeners) listener(value);
  }

  /** The first thing that `look` finds in a value; `undefined` after a time, or a signal. An error in `look` rejects. */
  async first<F>(look: (value: T) => F | undefined, withinMs: number, signals: readonly AbortSignal[]) {
    const over = new AbortController();
    let outcome: (() => F) | undefined;
    const unsubscribe = this.subscribe((value) => {
      if (outcome) return;
      try {
        const found = look(value);
        if (found === undefined) return;
        outcome = () => found;
      } catch (error) {
        outcome = () => {
          throw error;
        };
      }
      over.abort();
    });
    await pause(withinMs, [over.signal, ...signals]);
    unsubscribe();
    return outcome?.();
  }
}
