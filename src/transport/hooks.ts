/** What every hook is told of the call. Never a key, a header or a body. */
export interface HookFacts {
  /** Such as `products.create`. */
  operation: string;
  /** The HTTP method. */
  method: string;
  /** The path template, such as `/v1/products/{id}`. */
  path: string;
  /** Counted from 1. */
  attempt: number;
}

/** Functions that are told what the client does. A hook that throws or rejects changes nothing. */
export interface Hooks {
  /** A request goes out. */
  request?: ((facts: HookFacts) => unknown) | undefined;
  /** An answer came, of whatever status. */
  response?: ((facts: HookFacts & { status: number; durationMs: number }) => unknown) | undefined;
  /** An attempt failed, and after `delayMs` another follows. */
  retry?: ((facts: HookFacts & { delayMs: number; error: Error }) => unknown) | undefined;
  /** The call failed for good; `attempt` is how many requests it took, and `durationMs` covers them all. */
  error?: ((facts: HookFacts & { durationMs: number; error: Error }) => unknown) | undefined;
}

/** Calls a hook; what it throws, now or later, is dropped. */
export function tell<Facts>(hook: ((facts: Facts) => unknown) | undefined, facts: Facts): void {
  if (!hook) return;
  try {
    Promise.resolve(hook(facts)).catch(() => {});
  } catch {}
}
