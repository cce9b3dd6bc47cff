import type { AnyPaymentsError, Outcome } from '../errors.js';

/** The name of a call in hooks. No hook gets a key, a header or a body. */
export interface CallName {
  /** The operation, such as `products.create`. */
  operation: string;
  /** The HTTP method. */
  method: string;
  /** The path template, such as `/v1/products/{id}`; for `client.request()`, the path that you passed. */
  path: string;
}

/** Returns only the name of an operation, without its other fields. */
export function nameOf({ operation, method, path }: CallName): CallName {
  return { operation, method, path };
}

/** The facts of an attempt that a hook gets. */
export interface HookFacts extends CallName {
  /** The number of the attempt, counted from 1. */
  attempt: number;
}

/** The facts of a call that the hook `end` gets. */
export interface EndFacts extends CallName {
  /** True if the call succeeded. */
  ok: boolean;
  /** The outcome of the operation; `done` for a call that succeeded. */
  outcome: Outcome;
  /** The number of requests that were begun; 0 for a call that was refused before sending. */
  attempts: number;
  /** The time from the call to its end, waits included, in milliseconds. */
  durationMs: number;
}

/**
 * Functions that are called as the client works, or an instance of a class with such methods. Errors that a hook
 * throws or rejects with are ignored.
 */
export interface Hooks {
  /** A request goes out. */
  request?: ((facts: HookFacts) => unknown) | undefined;
  /** A response arrived, with any status. */
  response?: ((facts: HookFacts & { status: number; durationMs: number }) => unknown) | undefined;
  /** An attempt failed; the next one follows after `delayMs`. */
  retry?: ((facts: HookFacts & { delayMs: number; error: AnyPaymentsError }) => unknown) | undefined;
  /**
   * The call failed for good, other than by the caller's own abort; `attempt` is the number of requests that it took, and
   * `durationMs` covers them all.
   */
  error?: ((facts: HookFacts & { durationMs: number; error: AnyPaymentsError }) => unknown) | undefined;
  /** The call is over, with any outcome. Runs once per call, after `error`, and also if the caller aborts the call. */
  end?: ((facts: EndFacts) => unknown) | undefined;
}

/** The facts that each hook receives. */
export type HookFactsByName = { [Name in keyof Hooks]-?: Parameters<NonNullable<Hooks[Name]>>[0] };

/** The names of all hooks. */
export const hookNames = ['request', 'response', 'retry', 'error', 'end'] as const;
