import type { Issue } from '../errors.js';
import type { TimeLimits } from './call-options.js';
import type { Fetch } from './given-fetch.js';
import type { CallName, EndFacts, Hooks } from './hooks.js';

/** The checked options of a client. */
export interface ClientSettings extends TimeLimits {
  apiKey: string;
  baseUrl: URL;
  /** The text of `baseUrl` without a slash at its end. */
  base: string;
  maxRetries: number;
  /** The headers of every request, names in lower case. */
  headers: Readonly<Record<string, string>>;
  hooks: Hooks;
  userAgent: string;
  allowInsecureHttp: boolean;
  maxConnections: number;
  /** The option `fetch`. */
  fetch?: Fetch | undefined;
}

/** An operation of the API: its name in errors and hooks, and its endpoint. */
export interface Operation extends CallName {
  /** The advice if a write may have been done. */
  recoveryHint?: string;
  /** True if success may come without a body. */
  mayBeEmpty?: boolean;
  /** True if it has the options of a list. */
  isList?: boolean;
}

type QueryValue = string | number | boolean;

/** The query of a request. The name of an array is repeated for each of its values. */
export type Query = Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>>;

/** The checked parameters of one request. */
export interface RequestParts {
  id?: string | undefined;
  query?: Query | undefined;
  body?: unknown;
}

/** A function that reads and checks the parameters of a call, and adds their problems to `issues`. */
export type ReadParts = (issues: Issue[]) => RequestParts | undefined;

/** One call with checked parameters and options. Times are from `performance.now()`, which clock changes do not affect. */
export interface Call {
  operation: Operation;
  url: string;
  /** The headers of the client's options and of the call, names in lower case. */
  headers: Record<string, string>;
  body: string | null;
  startedAt: number;
  timeoutMs: number;
  totalTimeoutMs: number;
  maxRetries: number;
  signal: AbortSignal | undefined;
}

/** The state of a call, which the sender changes with each attempt. The hook `end` receives it. */
export type CallState = Pick<EndFacts, 'ok' | 'outcome' | 'attempts'>;
