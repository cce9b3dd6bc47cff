import type { Issue } from '../errors.js';
import { didYouMean } from '../schemas/closest.js';
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
  client: TimeLimits,
): Issue[] {
  const names = Object.keys(given);
  if (names.length === 0) return [];
  const { signal } = given;
  return [
    ...unknownNames(names, [...callOptionNames, ...extraNames]),
    ...(signal === undefined || isSignal(signal)
      ? []
      : [{ path: 'signal', message: 'is not an AbortSignal.' }]),
    ...limitProblems({ totalTimeoutMs: client.totalTimeoutMs, ...given }),
    ...headerProblems(given.headers),
  ].map(({ path, message }) => ({ path: `options.${path}`, message }));
}

/** Unknown option names, each with the likely one. */
export function unknownNames(
  names: readonly string[],
  known: readonly string[],
  what = 'an option',
): Issue[] {
  return names
    .filter((name) => !known.includes(name))
    .map((name) => ({ path: name, message: `is not ${what}. ${didYouMean(name, known)}` }));
}

/** The limits of time that were given, in milliseconds. */
export interface TimeLimits {
  timeoutMs?: number | undefined;
  totalTimeoutMs?: number | undefined;
}

/** Both limits: a default gives way to the limit that was given. */
export function timeLimits({ timeoutMs, totalTimeoutMs }: TimeLimits) {
  return {
    timeoutMs: timeoutMs ?? Math.min(20_000, totalTimeoutMs ?? 20_000),
    totalTimeoutMs: totalTimeoutMs ?? Math.max(60_000, timeoutMs ?? 60_000),
  };
}

/** What is wrong with the time limits and the number of retries. */
export function limitProblems({
  timeoutMs,
  totalTimeoutMs,
  maxRetries,
}: {
  timeoutMs?: unknown;
  totalTimeoutMs?: unknown;
  maxRetries?: unknown;
}): Issue[] {
  const problems = Object.entries({ timeoutMs, totalTimeoutMs })
    .filter(([, value]) => value !== undefined && !isNumberUpTo(value, longestTimerMs))
    .map(([path]) => ({
      path,
      message: `must be a number of milliseconds above 0, at most ${longestTimerMs}.`,
    }));
  if (problems.length === 0 && Number(timeoutMs) > Number(totalTimeoutMs)) {
    problems.push({
      path: 'timeoutMs',
      message: `(${timeoutMs}) is more than totalTimeoutMs (${totalTimeoutMs}), which ends the call first. Raise totalTimeoutMs too.`,
    });
  }
  if (
    maxRetries !== undefined &&
    maxRetries !== 0 &&
    !(isNumberUpTo(maxRetries, 100) && Number.isInteger(maxRetries))
  )
    problems.push({ path: 'maxRetries', message: 'must be an integer from 0 to 100.' });
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

function isNumberUpTo(value: unknown, most: number): boolean {
  return typeof value === 'number' && value > 0 && value <= most;
}

/** Checked by shape: jsdom and edge runtimes have their own AbortSignal. */
function isSignal(value: unknown): value is AbortSignal {
  return (
    typeof value === 'object' && value !== null && 'throwIfAborted' in value && 'addEventListener' in value
  );
}
