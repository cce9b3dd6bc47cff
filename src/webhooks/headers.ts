import { WebhookConfigError, WebhookVerificationError } from '../errors.js';

/** Headers in any container: `Headers`, Node's object, a `Map`, pairs. */
export type WebhookHeaders =
  | Iterable<readonly [string, string | readonly string[]]>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Name and value of each header, in order. */
export type HeaderPairs = readonly Pair[];
type Pair = readonly [name: string, value: unknown];

/** Any container of headers as pairs, read once; nothing inherited counts. */
export function readHeaders(headers: unknown): HeaderPairs {
  if (typeof headers !== 'object' || headers === null) {
    throw invalidHeaders('headers must be an object. Pass request.headers');
  }
  try {
    if (typeof Reflect.get(headers, 'then') === 'function') {
      throw invalidHeaders(
        'headers is a promise. Write `await headers()`, which Next.js 15 made asynchronous',
      );
    }
    if (isIterable(headers)) return Array.from(headers, readPair);
    const inner: unknown = Reflect.get(headers, 'headers');
    if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) {
      throw invalidHeaders('headers is a whole request. Pass request.headers');
    }
    return Object.entries(headers);
  } catch (error) {
    throw error instanceof WebhookConfigError
      ? error
      : invalidHeaders('headers could not be read. Pass a copy');
  }
}

/** The one value of a header, `undefined` where there is none; two values, in whatever spelling, are refused. */
export function oneValue(pairs: HeaderPairs, name: string): string | undefined {
  const texts: string[] = [];
  for (const [key, value] of pairs) {
    if (key.length === name.length && key.toLowerCase() === name) texts.push(...textsOf(value, name));
  }
  if (texts.length < 2) return texts[0];
  throw new WebhookVerificationError(
    `The header ${name} has more than one value, so it is unclear which of them was signed. ` +
      'Look for a proxy that repeats it.',
    'duplicate_header',
  );
}

function textsOf(value: unknown, name: string): string[] {
  if (typeof value === 'string') return [value];
  if (value === undefined || value === null) return [];
  try {
    if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return [...value];
  } catch {
    // A value that cannot even be read is as little text as any other object.
  }
  throw invalidHeaders(`the value of ${name} is not text. Pass headers as they were received`);
}

function readPair(pair: unknown): Pair {
  if (Array.isArray(pair) && pair.length === 2 && typeof pair[0] === 'string') return [pair[0], pair[1]];
  throw invalidHeaders('headers is not a list of [name, value] pairs. Pass request.headers, not rawHeaders');
}

function isIterable(value: object): value is Iterable<unknown> {
  return typeof Reflect.get(value, Symbol.iterator) === 'function';
}

function invalidHeaders(problem: string): WebhookConfigError {
  return new WebhookConfigError(`The webhook cannot be verified: ${problem}.`, 'invalid_headers');
}
