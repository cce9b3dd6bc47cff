import * as z from 'zod/mini';
import { isPlainObject } from './object.js';
import { unknownName } from './read.js';
import { kindOf } from './visible.js';

/** Hooks by name, each called with its facts. */
export type HooksOf<Facts> = { [Name in keyof Facts]?: ((facts: Facts[Name]) => unknown) | undefined };

/**
 * Returns the schema of an object of hooks, or of an instance of a class with hooks as methods. They are bound to it. The
 * names of a plain object must all be known.
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

/** Calls a hook with its facts; whatever it throws or rejects with is ignored. */
export function runHook<Facts>(hook: ((facts: Facts) => unknown) | undefined, facts: Facts): void {
  // Called at once; an async function rejects where the hook throws.
  if (hook) (async () => hook(facts))().catch(() => {});
}
