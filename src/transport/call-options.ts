import type { Issue } from '../errors.js';
import { closest } from '../schemas/closest.js';

/** What one call may change of the client's options. */
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

/** The largest delay that a timer takes. */
const longestTimerMs = 2 ** 31 - 1;

/** Own fields alone, so that a polluted prototype sets no option. */
export function ownFields<T extends object>(options: T): T {
  return Object.assign(Object.create(null), options);
}

/** Headers under one name each: of two that differ in case, the later counts. */
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

/** Names that no option has, each with the one that was likely meant. */
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

/** What is wrong with the time limits and the number of retries. `defaultTotalMs` holds where none is given. */
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
      message: `has to be a number of milliseconds above 0, at most ${longestTimerMs}.`,
    });
  }
  const { timeoutMs, totalTimeoutMs = defaultTotalMs, maxRetries } = given;
  if (
    problems.length === 0 &&
    isNumber(timeoutMs) &&
    isNumber(totalTimeoutMs) &&
    timeoutMs > totalTimeoutMs
  ) {
    problems.push({
      path: 'timeoutMs',
      message: `(${timeoutMs}) is more than totalTimeoutMs (${totalTimeoutMs}), which ends the call before. Raise totalTimeoutMs too.`,
    });
  }
  if (
    maxRetries !== undefined &&
    !(isNumber(maxRetries) && Number.isInteger(maxRetries) && maxRetries >= 0 && maxRetries <= 100)
  ) {
    problems.push({ path: 'maxRetries', message: 'has to be an integer from 0 to 100.' });
  }
  return problems;
}

const ownedHeader = /^(?:x-api-key|content-type|host|content-length)$/i;
const framingHeader = /^(?:connection|expect|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/** What is wrong with headers that a caller adds. No value is quoted: it may be a credential. */
export function headerProblems(headers: unknown): Issue[] {
  if (headers === undefined) return [];
  if (typeof headers !== 'object' || headers === null || Symbol.iterator in headers) {
    return [{ path: 'headers', message: 'has to be an object of names and string values.' }];
  }
  return Object.entries(headers).flatMap(([name, value]): Issue[] => {
    const path = `headers.${name.slice(0, 60)}`;
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return [{ path, message: 'is not a header name.' }];
    if (ownedHeader.test(name)) return [{ path, message: 'is set by the client.' }];
    if (framingHeader.test(name)) return [{ path, message: 'belongs to the connection and cannot be set.' }];
    return typeof value === 'string' && /^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/.test(value)
      ? []
      : [{ path, message: 'has to be visible ASCII text without line breaks.' }];
  });
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** By shape: jsdom and edge runtimes bring an AbortSignal of their own. */
function isSignal(value: unknown): value is AbortSignal {
  return (
    typeof value === 'object' && value !== null && 'throwIfAborted' in value && 'addEventListener' in value
  );
}
