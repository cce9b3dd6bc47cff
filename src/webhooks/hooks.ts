import { invalidOptions, ownOptions, readFunction } from './own-options.js';

/** What each hook of a webhook handler is told. Never a secret, a header or a body. */
export interface WebhookHookFacts {
  /** An authentic delivery arrived, for the first time or again. */
  received: DeliveryFacts & { bytes: number };
  /** It had arrived before; nothing is done again. */
  duplicate: DeliveryFacts;
  /** A delivery was refused: `code` as in the error, `body_too_large`, or `internal_error`. */
  refused: { status: number; code: string };
  /** Your function finished. */
  done: DeliveryFacts & { durationMs: number };
  /** Your function threw or rejected. */
  failed: DeliveryFacts & { durationMs: number; error: unknown };
}

/** Which delivery a hook is told of. */
export interface DeliveryFacts {
  /** Such as `order.paid:<order_id>`. */
  key: string;
  /** The event's type, as the service wrote it. */
  type: string;
}

/** Functions that are told what happens to deliveries, for logs and metrics. A hook that throws changes nothing. */
export type WebhookHooks = HooksOf<WebhookHookFacts>;

/** Hooks by name, each called with its facts. */
export type HooksOf<Facts> = { [Name in keyof Facts]?: ((facts: Facts[Name]) => unknown) | undefined };

/** Tells a hook its facts, if there is one. */
export type Tell<Facts> = <Name extends keyof Facts & string>(name: Name, facts: Facts[Name]) => void;

export const webhookHooks = {
  received: undefined,
  duplicate: undefined,
  refused: undefined,
  done: undefined,
  failed: undefined,
};

/** Reads an object of hooks, or an instance of a class with hooks as methods. What a hook throws is dropped. */
export function readHooks<Facts>(
  given: unknown,
  absent: Readonly<Record<keyof Facts & string, undefined>>,
  what: string,
): Tell<Facts> {
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
      // A log that is full must not decide what becomes of a payment.
    }
  };
}

/** A plain object must not have other names. Nothing counts that a polluted `Object.prototype` adds. */
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
