const remembered = 10_000;

/** The keys that this process is handling, and the last 10,000 that it has handled, each with its content's digest. */
export class SeenKeys {
  readonly #running = new Map<string, string>();
  readonly #finished = new Map<string, string>();

  /** Takes a key, or says what is known of it. Synchronous: two deliveries must not both take it. */
  take(key: string, digest: string): 'taken' | 'running' | 'finished' | 'conflict' {
    const known = this.#finished.get(key) ?? this.#running.get(key);
    if (known === undefined) {
      this.#running.set(key, digest);
      return 'taken';
    }
    if (known !== digest) return 'conflict';
    return this.#finished.has(key) ? 'finished' : 'running';
  }

  finish(key: string, digest: string): void {
    this.#running.delete(key);
    this.#finished.set(key, digest);
    const [oldest] = this.#finished.keys();
    if (this.#finished.size > remembered && oldest !== undefined) this.#finished.delete(oldest);
  }

  /** Gives a key back after a failure, so that the next delivery is handled. */
  release(key: string): void {
    this.#running.delete(key);
  }
}
