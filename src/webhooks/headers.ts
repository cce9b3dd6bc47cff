import { WebhookConfigError, WebhookVerificationError } from '../errors.js';

/** Headers in any container: `Headers`, Node's object, a `Map`, pairs. */
export type WebhookHeaders =
  | Iterable<readonly [string, string | readonly string[]]>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A function that returns the single value of a header by its lower-case name, or `undefined` if it is missing. */
export type HeaderReader = (name: string) => string | undefined;

/** Returns a reader for any container of headers. The reader ignores inherited properties. */
export function readHeaders(headers: unknown): HeaderReader {
  if (typeof headers !== 'object' || headers === null) {
    throw invalidHeaders('headers must be an object. Pass request.headers');
  }
  try {
    if (!isIterable(headers)) return oneOf(Object.keys(headers), (_, key) => Reflect.get(headers, key));
    const pairs = Array.from(headers, readPair);
    return oneOf(
      pairs.map(([name]) => name),
      (index) => pairs[index]?.[1],
    );
  } catch (error) {
    throw error instanceof WebhookConfigError
      ? error
      : invalidHeaders('headers could not be read. Pass a copy');
  }
}

/** Returns all headers that have one value, with lower-case names. */
export function headerPairs(headers: unknown): [name: string, value: string][] {
  if (typeof headers !== 'object' || headers === null) return [];
  const pairs: unknown[] = isIterable(headers) ? [...headers] : Object.entries(headers);
  return pairs.filter(Array.isArray).flatMap(([name, given]): [string, string][] => {
    const [value, ...more]: unknown[] = [given].flat();
    const isOne = typeof name === 'string' && typeof value === 'string' && more.length === 0;
    return isOne ? [[name.toLowerCase(), value]] : [];
  });
}

/** Throws if the value is a promise or a whole request instead of headers, which explains a missing header. */
export function checkContainer(headers: unknown): void {
  if (typeof headers !== 'object' || headers === null) return;
  if (typeof fieldOf(headers, 'then') === 'function') {
    throw invalidHeaders('headers is a promise. Write `await headers()`, which Next.js 15 made asynchronous');
  }
  const inner = fieldOf(headers, 'headers');
  if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) {
    throw invalidHeaders('headers is a whole request. Pass request.headers');
  }
}

/** Returns a field, or `undefined` if its getter throws, as the field only improves a message. */
function fieldOf(object: object, name: string): unknown {
  try {
    return Reflect.get(object, name);
  } catch {
    return undefined;
  }
}

type ValueAt = (index: number, name: string) => unknown;

/** Returns a reader that rejects two values of one name, in any letter case, because only one of them was signed. */
function oneOf(names: readonly string[], valueAt: ValueAt): HeaderReader {
  return (wanted) => {
    let found: string | undefined;
    for (let index = 0; index < names.length; index++) {
      const name = names[index];
      if (name?.length !== wanted.length || name.toLowerCase() !== wanted) continue;
      const text = textOf(valueAt, index, name, wanted);
      if (text !== undefined && found !== undefined) throw repeatedHeader(wanted);
      found ??= text;
    }
    return found;
  };
}

function repeatedHeader(name: string): WebhookVerificationError {
  return new WebhookVerificationError(
    `The header ${name} has more than one value, so it is unclear which of them was signed. ` +
      'Look for a proxy that repeats it.',
    'duplicate_header',
  );
}

/** Returns a string, or the only string of an array: frameworks that allow repeated headers pass arrays. */
function textOf(valueAt: ValueAt, index: number, name: string, wanted: string): string | undefined {
  let texts: unknown[];
  try {
    const value = valueAt(index, name);
    if (typeof value === 'string') return value;
    texts = Array.isArray(value) ? [...value] : value === undefined || value === null ? [] : [value];
  } catch {
    throw invalidHeaders(`the value of ${wanted} cannot be read. Pass headers as they were received`);
  }
  if (!texts.every((each) => typeof each === 'string')) {
    throw invalidHeaders(`the value of ${wanted} is not a string. Pass headers as they were received`);
  }
  if (texts.length > 1) throw repeatedHeader(wanted);
  return texts[0];
}

function readPair(pair: unknown): [name: string, value: unknown] {
  if (Array.isArray(pair) && pair.length === 2 && typeof pair[0] === 'string') return [pair[0], pair[1]];
  throw invalidHeaders(
    'headers is not an array of [name, value] pairs. Pass request.headers, not rawHeaders',
  );
}

function isIterable(value: object): value is Iterable<unknown> {
  return typeof Reflect.get(value, Symbol.iterator) === 'function';
}

function invalidHeaders(problem: string): WebhookConfigError {
  return new WebhookConfigError(`The webhook cannot be verified: ${problem}.`, 'invalid_headers');
}
