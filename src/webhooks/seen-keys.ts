const remembered = 10_000;

/** The keys that this process is handling, and the last 10,000 that it has handled. */
export class SeenKeys {
  readonly #running = new Set<string>();
  readonly #finished = new Set<string>();

  /** Takes a key, or says whether it is running or finished. Synchronous: two deliveries must not both take it. */
  take(key: string): 'taken' | 'running' | 'finished' {
    if (this.#finished.has(key)) return 'finished';
    if (this.#running.has(key)) return 'running';
    this.#running.add(key);
    return 'taken';
  }

  finish(key: string): void {
    this.#running.delete(key);
    this.#finished.add(key);
    const [oldest] = this.#finished;
    if (this.#finished.size > remembered && oldest !== undefined) this.#finished.delete(oldest);
  }

  /** Gives a key back after a failure, so that the next delivery is handled. */
  release(key: string): void {
    this.#running.delete(key);
  }
}
