import * as z from 'zod/mini';
import { WebhookConfigError } from '../errors.js';
import { mustBe } from './read.js';

/** Returns the schema of a function. */
export function functionSchema<Arguments extends unknown[]>() {
  const error = mustBe('a function, not a generator');
  return z.custom<(...given: Arguments) => unknown>(isFunction, { error });
}

/** True if a value is a function other than a generator function, whose call would run nothing. */
export function isFunction<Arguments extends unknown[]>(
  value: unknown,
): value is (...args: Arguments) => unknown {
  return typeof value === 'function' && !/Generator/.test(Object.prototype.toString.call(value));
}

/** True if a value has methods of these names. */
export function hasMethods<Type>(value: unknown, ...names: string[]): value is Type {
  return names.every((name) => typeof propertyOf(value, name) === 'function');
}

/** Returns a property of any value; `undefined` if the value cannot have properties. */
export function propertyOf(value: unknown, name: string): unknown {
  const mayHave = (typeof value === 'object' || typeof value === 'function') && value !== null;
  return mayHave ? Reflect.get(value, name) : undefined;
}

/** True if a value is a promise of any kind. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return hasMethods(value, 'then');
}

/**
 * Returns an error if the result of a function shows that its work may not have run, because something was not called or
 * awaited.
 */
export function findUnfinished(result: unknown, of: string): WebhookConfigError | undefined {
  if (!isUnfinished(result)) return undefined;
  return new WebhookConfigError(
    `${of} returned a function, a generator, a query, a statement or promises in an array, which may not have run. ` +
      'Execute and await it, or return nothing.',
    'invalid_options',
  );
}

function isUnfinished(result: unknown): boolean {
  if (Array.isArray(result)) {
    const all: unknown[] = result.flat(Number.POSITIVE_INFINITY);
    // A rejection of these promises must not end the process. Their own `then` is not called: a query's `then` would run the
    // query.
    for (const each of all)
      if (each instanceof Promise) Promise.prototype.then.call(each, undefined, () => {});
    return all.some((each) => isThenable(each) || isUnfinished(each));
  }
  if (isThenable(result)) return false;
  // The methods of an iterator, a query builder, an observable, and a statement of node:sqlite or better-sqlite3.
  const signs = [['next'], ['execute'], ['subscribe', 'pipe'], ['run', 'all']];
  return typeof result === 'function' || signs.some((names) => hasMethods(result, ...names));
}
