import type { Outcome } from '../errors.js';
import type { Fetch } from './given-fetch.js';
import type { Hooks } from './hooks.js';

/** The client's options, checked. */
export interface ClientSettings {
  apiKey: string;
  baseUrl: URL;
  timeoutMs: number;
  totalTimeoutMs: number;
  maxRetries: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  hooks: Hooks;
  userAgent: string;
  allowInsecureHttp: boolean;
  /** The option `fetch`. */
  fetch: Fetch | undefined;
}

/** An operation of the API: its name in errors and hooks, and where it lives. */
export interface Operation {
  operation: string;
  method: string;
  /** The path template, such as `/v1/products/{id}`. */
  path: string;
  /** What to do when it is not known whether a write was done. */
  afterDoubt: string;
  /** Options of this call besides `CallOptions`; they mean nothing to the transport. */
  extraOptions?: readonly string[];
}

/** The checked parameters of one request. */
export interface RequestParts {
  id?: string | undefined;
  query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  body?: unknown;
}

/** One call, its parameters and options checked. Times are on the clock of `performance.now()`, which nobody sets. */
export interface Call {
  operation: Operation;
  url: string;
  /** Those that the client's options and the call add, names in lower case. */
  headers: Record<string, string>;
  body: string | null;
  startedAt: number;
  timeoutMs: number;
  totalTimeoutMs: number;
  maxRetries: number;
  signal: AbortSignal | undefined;
}

/** How far a call has come: the sender writes it, the hook `end` is told of it. */
export interface Progress {
  attempts: number;
  outcome: Outcome;
}
