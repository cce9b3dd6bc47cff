import type { Issue } from '../errors.js';
import { closest } from '../schemas/closest.js';
import { isObject } from '../schemas/object.js';

/** Options of one call. They override those of the client. */
export interface CallOptions {
  /** Ends the call at once; the promise rejects with `signal.reason`. */
  signal?: AbortSignal | undefined;
  /** One attempt, from connecting to the last byte of the body, in milliseconds. Default: the client's. */
  timeoutMs?: number | undefined;
  /** The whole call, attempts and waits, in milliseconds. Default: the client's. */
  totalTimeoutMs?: number | undefined;
  /** How many times a request may go out again; 0 means never. Default: the client's. */
  maxRetries?: number | undefined;
  /** Added to the request, over the client's own of the same name. */
  headers?: Readonly<Record<string, string>> | undefined;
}

const callOptionNames = ['signal', 'timeoutMs', 'totalTimeoutMs', 'maxRetries', 'headers'];

/** The longest delay that setTimeout accepts. */
const longestTimerMs = 2 ** 31 - 1;

/** Own fields alone, so that a polluted prototype sets no option; `undefined` if it is no object. */
export function ownFields<T>(options: T): T | undefined {
  return isObject(options) ? Object.assign(Object.create(null), options) : undefined;
}

/** Headers with lower-case names; of two that differ only in case, the later wins. */
export function lowerCased(headers: CallOptions['headers'] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** What is wrong with a call's options, its own fields; empty when nothing is. */
export function callOptionProblems(
  given: CallOptions,
  extraNames: readonly string[],
  clientTotalTimeoutMs: number,
): Issue[] {
  const names = Object.keys(given);
  if (names.length === 0) return [];
  const { signal } = given;
  return [
    ...unknownNames(names, [...callOptionNames, ...extraNames]),
    ...(signal === undefined || isSignal(signal)
      ? []
      : [{ path: 'signal', message: 'is not an AbortSignal.' }]),
    ...limitProblems(given, clientTotalTimeoutMs),
    ...headerProblems(given.headers),
  ].map(({ path, message }) => ({ path: `options.${path}`, message }));
}

/** Unknown option names, each with the likely one. */
export function unknownNames(names: readonly string[], known: readonly string[]): Issue[] {
  return names
    .filter((name) => !known.includes(name))
    .map((name) => {
      const meant = closest(name, known);
      return {
        path: name,
        message: `is not an option. ${meant ? `Did you mean ${meant}?` : `Known are ${known.join(', ')}.`}`,
      };
    });
}

/** What is wrong with the time limits and the number of retries. `defaultTotalMs` applies if none is given. */
export function limitProblems(
  given: { timeoutMs?: unknown; totalTimeoutMs?: unknown; maxRetries?: unknown },
  defaultTotalMs: number,
): Issue[] {
  const problems: Issue[] = [];
  for (const path of ['timeoutMs', 'totalTimeoutMs'] as const) {
    const value = given[path];
    if (value === undefined || (isNumber(value) && value > 0 && value <= longestTimerMs)) continue;
    problems.push({
      path,
      message: `must be a number of milliseconds above 0, at most ${longestTimerMs}.`,
    });
  }
  const { timeoutMs, totalTimeoutMs = defaultTotalMs, maxRetries } = given;
  const areValid = problems.length === 0 && isNumber(timeoutMs) && isNumber(totalTimeoutMs);
  if (areValid && timeoutMs > totalTimeoutMs) {
    problems.push({
      path: 'timeoutMs',
      message: `(${timeoutMs}) is more than totalTimeoutMs (${totalTimeoutMs}), which ends the call first. Raise totalTimeoutMs too.`,
    });
  }
  const isCount =
    isNumber(maxRetries) && Number.isInteger(maxRetries) && maxRetries >= 0 && maxRetries <= 100;
  if (maxRetries !== undefined && !isCount) {
    problems.push({ path: 'maxRetries', message: 'must be an integer from 0 to 100.' });
  }
  return problems;
}

const ownedHeader = /^(?:x-api-key|content-type|host|content-length)$/i;
const framingHeader = /^(?:connection|expect|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/** What is wrong with headers that a caller adds. No value is quoted: it may be a credential. */
export function headerProblems(headers: unknown): Issue[] {
  if (headers === undefined) return [];
  if (typeof headers !== 'object' || headers === null || Symbol.iterator in headers) {
    return [{ path: 'headers', message: 'must be an object of string values.' }];
  }
  return Object.entries(headers).flatMap(([name, value]): Issue[] => {
    const path = `headers.${name.slice(0, 60)}`;
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return [{ path, message: 'is not a header name.' }];
    if (ownedHeader.test(name)) return [{ path, message: 'is set by the client. Remove it.' }];
    if (framingHeader.test(name)) return [{ path, message: 'is set by the connection. Remove it.' }];
    return typeof value === 'string' && /^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/.test(value)
      ? []
      : [{ path, message: 'must be visible ASCII without line breaks.' }];
  });
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** Checked by shape: jsdom and edge runtimes have their own AbortSignal. */
function isSignal(value: unknown): value is AbortSignal {
  return (
    typeof value === 'object' && value !== null && 'throwIfAborted' in value && 'addEventListener' in value
  );
}
