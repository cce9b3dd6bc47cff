import { Signal } from '../signal.js';
import type { LoggedRequest } from '../types.js';

/** What is kept of a body in the log. */
export const excerptLength = 4096;

/** The newest 500 requests. */
export class RequestLog {
  /** Each request, once it is answered. */
  readonly added = new Signal<LoggedRequest>();
  #entries: LoggedRequest[] = [];
  #count = 0;

  add(entry: Omit<LoggedRequest, 'number'>): void {
    const numbered = { number: ++this.#count, ...entry };
    this.#entries.push(numbered);
    if (this.#entries.length > 500) this.#entries.shift();
    this.added.emit(numbered);
  }

  /** Oldest first. */
  get entries(): readonly LoggedRequest[] {
    return this.#entries;
  }

  clear(): void {
    this.#entries = [];
    this.#count = 0;
  }
}
