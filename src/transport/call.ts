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

/** An operation of the API: its name in errors and hooks, and its endpoint. */
export interface Operation {
  operation: string;
  method: string;
  /** The path template, such as `/v1/products/{id}`. */
  path: string;
  /** What to do if a write may have been done. */
  afterDoubt: string;
  /** Options of this call besides `CallOptions`; the transport ignores them. */
  extraOptions?: readonly string[];
}

/** The checked parameters of one request. */
export interface RequestParts {
  id?: string | undefined;
  query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  body?: unknown;
}

/** One call, its parameters and options checked. Times are from `performance.now()`, which clock changes do not affect. */
export interface Call {
  operation: Operation;
  url: string;
  /** Those of the client's options and of the call, names in lower case. */
  headers: Record<string, string>;
  body: string | null;
  startedAt: number;
  timeoutMs: number;
  totalTimeoutMs: number;
  maxRetries: number;
  signal: AbortSignal | undefined;
}

/** How far a call has come: written by the sender, passed to the hook `end`. */
export interface Progress {
  attempts: number;
  outcome: Outcome;
}
