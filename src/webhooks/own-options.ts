import { WebhookConfigError } from '../errors.js';
import { closest } from '../input/closest.js';

/** What the keys of an object are. */
type Kind = 'option' | 'event type';

/** Names that other libraries use for our options. */
const synonyms: Record<string, string> = {
  body: 'rawBody',
  payload: 'rawBody',
  tolerance: 'toleranceSeconds',
  now: 'receivedAt',
  clock: 'receivedAt',
  header: 'headers',
  webhookSecret: 'secret',
};

/**
 * Returns the own properties of an options object, over `absent`, which has each name with `undefined`. Inherited
 * properties are ignored, so a polluted `Object.prototype` cannot loosen a check. Unknown names throw, so a misspelt
 * option is noticed; only those in `ignored` are dropped.
 */
export function ownOptions<Name extends string>(
  given: unknown,
  absent: Readonly<Record<Name, undefined>>,
  what: string,
  ignored: readonly string[] = [],
  kind: Kind = 'option',
): Record<Name, unknown> {
  if (typeof given !== 'object' || given === null || Array.isArray(given) || ArrayBuffer.isView(given)) {
    const must = what.endsWith(')') ? 'takes' : 'must be';
    throw invalidOptions(`${what} ${must} one object with the options ${Object.keys(absent).join(', ')}.`);
  }
  let own: Record<Name, unknown>;
  try {
    own = { ...absent, ...given };
  } catch {
    throw invalidOptions(`${what} could not be read.`);
  }
  const unknown = Object.keys(own).find((name) => !Object.hasOwn(absent, name) && !ignored.includes(name));
  if (unknown !== undefined) throw unknownKey(kind, unknown, Object.keys(absent), what);
  return own;
}

/** Reads an option that is a function, or absent. */
export function readFunction<Arguments extends unknown[]>(
  value: unknown,
  name: string,
): ((...args: Arguments) => unknown) | undefined {
  if (value === undefined || isFunction<Arguments>(value)) return value;
  throw invalidOptions(`${name} must be a function, not a generator.`);
}

/** Not a generator function: a call of it runs nothing. */
export function isFunction<Arguments extends unknown[]>(
  value: unknown,
): value is (...args: Arguments) => unknown {
  return typeof value === 'function' && !/Generator/.test(Object.prototype.toString.call(value));
}

export function hasMethods<Type>(value: unknown, ...names: string[]): value is Type {
  return names.every((name) => typeof propertyOf(value, name) === 'function');
}

/** Returns a property of anything; `undefined` of what has none. */
export function propertyOf(value: unknown, name: string): unknown {
  const mayHave = (typeof value === 'object' || typeof value === 'function') && value !== null;
  return mayHave ? Reflect.get(value, name) : undefined;
}

/** Whether a value is a promise, of whichever kind. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return hasMethods(value, 'then');
}

/** What is wrong if the result of a function shows that its work may have yet to be done, because something was not called or awaited. */
export function unfinished(result: unknown, of: string): WebhookConfigError | undefined {
  if (!isUnfinished(result)) return undefined;
  return invalidOptions(
    `${of} returned a function, a generator, a query, a statement or promises in an array, which may not have run. ` +
      'Execute and await it, or return nothing.',
  );
}

function isUnfinished(result: unknown): boolean {
  if (Array.isArray(result)) {
    const all: unknown[] = result.flat(Number.POSITIVE_INFINITY);
    // A rejection of theirs must not end the process. A method of their own is not called: that of a query would run it.
    for (const each of all)
      if (each instanceof Promise) Promise.prototype.then.call(each, undefined, () => {});
    return all.some((each) => isThenable(each) || isUnfinished(each));
  }
  if (isThenable(result)) return false;
  // An iterator; a query builder; an observable; a statement of node:sqlite or better-sqlite3.
  const signs = [['next'], ['execute'], ['subscribe', 'pipe'], ['run', 'all']];
  return typeof result === 'function' || signs.some((names) => hasMethods(result, ...names));
}

export function isOneOf<Name>(value: unknown, names: readonly Name[]): value is Name {
  return names.some((name) => name === value);
}

export function invalidOptions(message: string): WebhookConfigError {
  return new WebhookConfigError(message, 'invalid_options');
}

function unknownKey(kind: Kind, name: string, names: readonly string[], what: string): WebhookConfigError {
  const synonym = Object.hasOwn(synonyms, name) ? synonyms[name] : undefined;
  const likely = synonym && names.includes(synonym) ? synonym : closest(name, names);
  // A word, or the two of an event type, is repeated: other text could be data.
  const shown = /^[\w$-]{1,40}$/.test(kind === 'option' ? name : name.replace('.', ''))
    ? `"${name}"`
    : 'of that name';
  return invalidOptions(
    `${what}: there is no ${kind} ${shown}. ${likely ? `Write "${likely}".` : `There are ${names.join(', ')}.`}`,
  );
}
