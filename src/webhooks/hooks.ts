import { type HooksOf, runHook } from '../input/hooks.js';

/** The facts that each hook of a webhook handler receives. They hold no secret, header or body. */
export interface WebhookHookFacts {
  /** An authentic and fresh delivery arrived, for the first time or again. */
  received: DeliveryFacts & {
    /** Length of the raw body. */
    bytes: number;
  };
  /** The delivery arrived before and is not handled again. */
  duplicate: DeliveryFacts;
  /** A delivery was rejected. */
  refused: {
    /** The HTTP status of the response. */
    status: number;
    /** The code of the error, or `body_too_large`, `internal_error` or `closed` (an inbox). */
    code: string;
  };
  /** Your function finished. */
  done: DeliveryFacts & {
    /** The time that your function ran, in milliseconds. */
    durationMs: number;
  };
  /** Your function threw or rejected. */
  failed: DeliveryFacts & {
    /** The time that your function ran, in milliseconds. */
    durationMs: number;
    /** The value that your function threw, unchanged. */
    error: unknown;
  };
}

/** The delivery that a hook is called for. */
export interface DeliveryFacts {
  /** The key of the delivery, such as `order.paid:<order_id>`. */
  key: string;
  /** The event's type, as the service wrote it. */
  type: string;
}

/** Functions called with what happens to deliveries, for logs and metrics. Errors that they throw are ignored. */
export type WebhookHooks = HooksOf<WebhookHookFacts>;

/** A function that calls a hook with its facts, if there is such a hook. */
export type CallHook<Facts> = <Name extends keyof Facts & string>(name: Name, facts: Facts[Name]) => void;

/** The names of all hooks. */
export const webhookHooks = ['received', 'duplicate', 'refused', 'done', 'failed'] as const;

/** Returns a function that calls hooks by name. */
export function hookCaller<Facts>(hooks: HooksOf<Facts> | undefined): CallHook<Facts> {
  return (name, facts) => runHook(hooks?.[name], facts);
}
