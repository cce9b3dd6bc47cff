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
}
