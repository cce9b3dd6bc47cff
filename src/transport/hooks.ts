import type { AnyPaymentsError, Outcome } from '../errors.js';

/** What names a call in hooks. Never a key, a header or a body. */
export interface CallName {
  /** Such as `products.create`. */
  operation: string;
  /** The HTTP method. */
  method: string;
  /** The path template, such as `/v1/products/{id}`; for `client.request()`, the path that you passed. */
  path: string;
}

/** The name alone, of an operation or a description that has more. */
export function nameOf({ operation, method, path }: CallName): CallName {
  return { operation, method, path };
}

/** What a hook receives about an attempt. */
export interface HookFacts extends CallName {
  /** Counted from 1. */
  attempt: number;
}

/** What the hook `end` receives about a call. */
export interface EndFacts extends CallName {
  /** Whether the call gave what was asked for. */
  ok: boolean;
  /** What became of the operation; `done` for a call that succeeded. */
  outcome: Outcome;
  /** How many requests were begun; 0 for a call that was refused before sending. */
  attempts: number;
  /** From the call to its end, waits included, in milliseconds. */
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
  /** The call failed for good, other than by the caller's own abort; `attempt` is how many requests it took, and `durationMs` covers them all. */
  error?: ((facts: HookFacts & { durationMs: number; error: AnyPaymentsError }) => unknown) | undefined;
  /** The call is over, with any outcome: once per call, after `error`, and also if the caller aborts it. */
  end?: ((facts: EndFacts) => unknown) | undefined;
}

/** What each hook receives. */
export type HookFactsByName = { [Name in keyof Hooks]-?: Parameters<NonNullable<Hooks[Name]>>[0] };

/** The names of all hooks. */
export const hookNames = ['request', 'response', 'retry', 'error', 'end'] as const;
