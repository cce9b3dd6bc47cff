import type { HooksOf } from '../input/hooks.js';
import { invalidOptions, ownOptions, readFunction } from './own-options.js';

/** What each hook of a webhook handler receives: never a secret, a header or a body. */
export interface WebhookHookFacts {
  /** An authentic and fresh delivery arrived that can be taken, for the first time or again. */
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
    /** As in the error, `body_too_large`, `internal_error`, or `closed` (an inbox). */
    code: string;
  };
  /** Your function finished. */
  done: DeliveryFacts & {
    /** How long it ran. */
    durationMs: number;
  };
  /** Your function threw or rejected. */
  failed: DeliveryFacts & {
    /** How long it ran. */
    durationMs: number;
    /** What it threw, as it is. */
    error: unknown;
  };
}

/** The delivery that a hook is called for. */
export interface DeliveryFacts {
  /** Such as `order.paid:<order_id>`. */
  key: string;
  /** The event's type, as the service wrote it. */
  type: string;
}

/** Functions called with what happens to deliveries, for logs and metrics. Errors that they throw are ignored. */
export type WebhookHooks = HooksOf<WebhookHookFacts>;

/** Calls a hook with its facts, if there is one. */
export type CallHook<Facts> = <Name extends keyof Facts & string>(name: Name, facts: Facts[Name]) => void;

export const webhookHooks = {
  received: undefined,
  duplicate: undefined,
  refused: undefined,
  done: undefined,
  failed: undefined,
};

/** Reads an object of hooks, or an instance of a class with hooks as methods. Errors that a hook throws are ignored. */
export function readHooks<Facts>(
  given: unknown,
  absent: Readonly<Record<keyof Facts & string, undefined>>,
  what: string,
): CallHook<Facts> {
  const hooks = given === undefined ? {} : given;
  const functions = new Map(
    Object.keys(absent).map((name) => [
      name,
      readFunction<[unknown]>(find(hooks, name, absent, what), `hooks.${name}`),
    ]),
  );
  return (name, facts) => {
    try {
      const result: unknown = functions.get(name)?.call(hooks, facts);
      Promise.resolve(result).catch(() => {});
    } catch {
      // A full log disk must not decide what happens to a payment.
    }
  };
}

/** A plain object must not have other names. What a polluted `Object.prototype` adds is ignored. */
function find(
  hooks: unknown,
  name: string,
  absent: Readonly<Record<string, undefined>>,
  what: string,
): unknown {
  if (typeof hooks !== 'object' || hooks === null)
    throw invalidOptions(`${what}: hooks must be an object of functions.`);
  const parent: unknown = Object.getPrototypeOf(hooks);
  if (parent === null || parent === Object.prototype)
    return ownOptions(hooks, absent, `${what}: hooks`)[name];
  return name in Object.prototype ? undefined : Reflect.get(hooks, name);
}
