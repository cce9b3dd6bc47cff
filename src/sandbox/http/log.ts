import type { FixedChoice, UnspecifiedChoices } from '../service/choices.js';
import { Signal } from '../signal.js';

/** A request to the documented API, as the sandbox saw it. */
export interface LoggedRequest {
  /** Counts from 1. */
  number: number;
  /** On the sandbox's clock. */
  at: Date;
  /** The HTTP method. */
  method: string;
  /** Path and query. */
  path: string;
  /** Absent if a fault lost the response. */
  status: number | undefined;
  /** In real milliseconds. */
  durationMs: number;
  /** The fault that it met. */
  fault: string | undefined;
  /** Which kind of key was sent; never the key itself. */
  key: 'ok' | 'missing' | 'wrong' | 'live';
  /** The choices that the response depended on. */
  unspecified: (keyof UnspecifiedChoices | FixedChoice)[];
  /** What the service might reject: unknown fields, a live key. */
  warnings: string[];
  /** The first 4 KB of the request's body. */
  body: string | undefined;
  /** The first 4 KB of the response's body. */
  responseBody: string | undefined;
}

/** The newest 500 requests, oldest first. */
export class RequestLog {
  /** Each request, once there is a response. */
  readonly added = new Signal<LoggedRequest>();
  #entries: LoggedRequest[] = [];
  #count = 0;

  get entries(): readonly LoggedRequest[] {
    return this.#entries;
  }

  add(request: Omit<LoggedRequest, 'number'>): void {
    const entry = { number: ++this.#count, ...request };
    this.#entries.push(entry);
    if (this.#entries.length > 500) this.#entries.shift();
    this.added.emit(entry);
  }

  clear(): void {
    this.#entries = [];
    this.#count = 0;
  }
}
