import type { LoggedRequest } from './types.js';

/** What is kept of a body in the log. */
export const excerptLength = 4096;

/** The newest 500 requests. */
export class RequestLog {
  #entries: LoggedRequest[] = [];
  #count = 0;
  readonly #listeners = new Set<(entry: LoggedRequest) => void>();

  add(entry: Omit<LoggedRequest, 'number'>): void {
    const numbered = { number: ++this.#count, ...entry };
    this.#entries.push(numbered);
    if (this.#entries.length > 500) this.#entries.shift();
    for (const listener of this.#listeners) listener(numbered);
  }

  /** Oldest first. */
  get entries(): readonly LoggedRequest[] {
    return this.#entries;
  }

  clear(): void {
    this.#entries = [];
    this.#count = 0;
  }

  /** Calls back with each entry from now on, until the returned function is called. */
  subscribe(listener: (entry: LoggedRequest) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
