import * as z from 'zod/mini';
import { isPlainObject } from './object.js';
import { unknownName } from './read.js';
import { kindOf } from './visible.js';

/** Hooks by name, each called with its facts. */
export type HooksOf<Facts> = { [Name in keyof Facts]?: ((facts: Facts[Name]) => unknown) | undefined };

/**
 * Returns the schema of an object of hooks, or of an instance of a class with hooks as methods. The hooks are bound to that
 * object. A plain object must have no unknown names.
 */
export function hooksSchema<Facts>(names: readonly (keyof Facts & string)[]): z.ZodMiniType<HooksOf<Facts>> {
  return z.transform((given, { issues }): HooksOf<Facts> => {
    const refuse = (message: string, path: string[] = []) => {
      issues.push({ code: 'custom', message, input: given, path });
    };
    const hooks: HooksOf<Facts> = {};
    if (typeof given !== 'object' || given === null) {
      refuse(`must be an object of functions, got ${kindOf(given)}.`);
      return hooks;
    }
    for (const name of names) {
      const hook: unknown = Reflect.get(given, name);
      if (typeof hook === 'function') hooks[name] = hook.bind(given);
      else if (hook !== undefined) refuse(`must be a function, got ${kindOf(hook)}.`, [name]);
    }
    const unknown = Object.keys(given).filter((name) => !names.some((known) => known === name));
    if (isPlainObject(given))
      for (const name of unknown) {
        const { path, message } = unknownName([], name, names);
        refuse(message, [path]);
      }
    else if (Object.keys(hooks).length === 0) refuse(`must have a method ${names.join(', ')}.`);
    return hooks;
  });
}

/** Calls a hook with its facts. Errors that the hook throws or rejects with are ignored. */
export function runHook<Facts>(hook: ((facts: Facts) => unknown) | undefined, facts: Facts): void {
  // The hook runs at once; the async function turns an error that it throws into a rejection.
  if (hook) (async () => hook(facts))().catch(() => {});
}
