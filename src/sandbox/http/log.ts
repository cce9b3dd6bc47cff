import type { Choices, FixedChoice, UnspecifiedChoices } from '../service/choices.js';
import { Signal } from '../signal.js';
import { Refusal } from './table.js';

/** A request to the documented API, as the sandbox received it. */
export interface LoggedRequest {
  /** Number of the request, from 1. */
  number: number;
  /** Time of the request, on the sandbox's clock. */
  at: Date;
  /** The HTTP method. */
  method: string;
  /** Path and query. */
  path: string;
  /** Status of the response; absent if a fault lost the response. */
  status: number | undefined;
  /** Time until the response, in real milliseconds. */
  durationMs: number;
  /** Fault that happened to the request. */
  fault: string | undefined;
  /** Kind of key that was sent, never the key itself. */
  key: 'ok' | 'missing' | 'wrong' | 'live';
  /** Choices that the response depended on. */
  unspecified: (keyof UnspecifiedChoices | FixedChoice)[];
  /** Things that the service might reject: unknown fields, a live key. */
  warnings: string[];
  /** The first 4 KB of the request's body. */
  body: string | undefined;
  /** The first 4 KB of the response's body. */
  responseBody: string | undefined;
}

/** The newest 500 requests, oldest first. */
export class RequestLog {
  /** Emits each request, once it has been handled. */
  readonly added = new Signal<LoggedRequest>();
  entries: readonly LoggedRequest[] = [];

  add(request: Omit<LoggedRequest, 'number'>): void {
    const { number } = this.entries.at(-1) ?? { number: 0 };
    const entry = { number: number + 1, ...request };
    this.entries = [...this.entries, entry].slice(-500);
    this.added.emit(entry);
  }
}

type Silence = LoggedRequest['unspecified'][number];

/** Collects facts about a request, for the log and for `x-sandbox-unspecified`. */
export class RequestNotes {
  readonly unspecified: Silence[] = [];
  readonly warnings: string[] = [];
  body: string | undefined;
  responseBody: string | undefined;

  constructor(
    readonly choices: Choices,
    readonly key: LoggedRequest['key'],
  ) {}

  /** Notes that the response depends on these choices. */
  mark(...names: Silence[]): void {
    this.unspecified.push(...names.filter((name) => !this.unspecified.includes(name)));
  }

  /** Notes that the response depends on a limit. Throws a refusal with `problem`, or accepts the value if it is `false`. */
  limit(name: Silence, problem: string | false): void {
    this.mark(name);
    if (problem !== false) throw new Refusal('validation', problem);
  }
}

export type ApiEnv = { Variables: { notes: RequestNotes } };
