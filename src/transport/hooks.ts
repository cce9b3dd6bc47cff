import type { Outcome } from '../errors.js';

/** What names a call in hooks. Never a key, a header or a body. */
export interface CallName {
  /** Such as `products.create`. */
  operation: string;
  /** The HTTP method. */
  method: string;
  /** The path template, such as `/v1/products/{id}`. */
  path: string;
}

/** What a hook is told of an attempt. */
export interface HookFacts extends CallName {
  /** Counted from 1. */
  attempt: number;
}

/** What the hook `end` is told of a call. */
export interface EndFacts extends CallName {
  /** What became of the operation; `done` for a call that succeeded. */
  outcome: Outcome;
  /** How many requests were begun; 0 for a call that was refused before. */
  attempts: number;
  /** From the call to its end, waits included, in milliseconds. */
  durationMs: number;
}

/**
 * Functions that are told what the client does, or an instance of a class with such methods. A hook that throws or
 * rejects changes nothing.
 */
export interface Hooks {
  /** A request goes out. */
  request?: ((facts: HookFacts) => unknown) | undefined;
  /** A response came, of whatever status. */
  response?: ((facts: HookFacts & { status: number; durationMs: number }) => unknown) | undefined;
  /** An attempt failed, and after `delayMs` another follows. */
  retry?: ((facts: HookFacts & { delayMs: number; error: Error }) => unknown) | undefined;
  /** The call failed for good, other than by the caller's own abort; `attempt` is how many requests it took, and `durationMs` covers them all. */
  error?: ((facts: HookFacts & { durationMs: number; error: Error }) => unknown) | undefined;
  /** The call is over, whatever became of it: once for each, after `error`, and when the caller aborts it too. */
  end?: ((facts: EndFacts) => unknown) | undefined;
}

/** Every hook there is. */
export const hookNames = ['request', 'response', 'retry', 'error', 'end'] as const;

/** Calls a hook; what it throws, now or later, is dropped. */
export function tell<Facts>(hook: ((facts: Facts) => unknown) | undefined, facts: Facts): void {
  if (!hook) return;
  try {
    Promise.resolve(hook(facts)).catch(() => {});
  } catch {}
}
