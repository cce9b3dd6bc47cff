import * as z from 'zod/mini';
import type { Issue } from '../errors.js';
import { convertedField, type Refuse } from '../input/fields.js';
import { isObject } from '../input/object.js';
import { integer, readInto } from '../input/read.js';

/** Options of one call. They override those of the client. */
export interface CallOptions {
  /** Ends the call at once; the promise rejects with `signal.reason`. */
  signal?: AbortSignal | undefined;
  /** Time limit of one attempt, from connecting to the last byte of the body, in milliseconds. Default: the client's. */
  timeoutMs?: number | undefined;
  /** Time limit of the whole call, attempts and waits, in milliseconds. Default: the client's. */
  totalTimeoutMs?: number | undefined;
  /** The number of times that a request may be retried; 0 means never. Default: the client's. */
  maxRetries?: number | undefined;
  /** Headers to add to the request. They override the client's headers of the same name. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** Options of `products.list`. */
export interface ListOptions extends CallOptions {
  /**
   * The number of pages that may be held at once while iterating, 1 to 8. Default 1: no page is requested before it is
   * needed.
   */
  prefetch?: number | undefined;
}

/** The longest delay that setTimeout accepts. */
const longestTimerMs = 2 ** 31 - 1;

const noTime = `must be a number of milliseconds above 0, at most ${longestTimerMs}.`;
const milliseconds = z.number(noTime).check(z.gt(0, noTime), z.lte(longestTimerMs, noTime));

/** The options that client and call have in common. */
export const sharedShape = {
  timeoutMs: z.optional(milliseconds),
  totalTimeoutMs: z.optional(milliseconds),
  maxRetries: z.optional(integer(0, 100)),
  headers: z.optional(convertedField(readHeaders)),
};

const callShape = {
  signal: z.optional(z.custom<AbortSignal>(isSignal, 'is not an AbortSignal.')),
  ...sharedShape,
};
const callOptions = z.strictObject(callShape, 'is not an object.');
const listOptions = z.strictObject(
  { ...callShape, prefetch: z.optional(integer(1, 8)) },
  'is not an object.',
);

/** Reads the options of a call, and adds their problems to `issues`. */
export function readCallOptions(
  issues: Issue[],
  options: ListOptions,
  isList: boolean,
  client: TimeLimits,
): ListOptions {
  if (isSignal(options)) issues.push({ path: 'options', message: 'is an AbortSignal. Pass { signal }.' });
  else {
    const read: ListOptions | undefined = readInto(issues, isList ? listOptions : callOptions, options, [
      'options',
    ]);
    const { timeoutMs, totalTimeoutMs = client.totalTimeoutMs } = read ?? {};
    issues.push(...timeProblems({ timeoutMs, totalTimeoutMs }, 'options.timeoutMs'));
    if (read) return read;
  }
  return {};
}

/** The time limits that a caller passed, in milliseconds. */
export type TimeLimits = Pick<CallOptions, 'timeoutMs' | 'totalTimeoutMs'>;

/** Returns a problem if the limit of one attempt has no effect because the limit of the whole call is shorter. */
export function timeProblems({ timeoutMs, totalTimeoutMs }: TimeLimits, path = 'timeoutMs'): Issue[] {
  if (timeoutMs === undefined || totalTimeoutMs === undefined || timeoutMs <= totalTimeoutMs) return [];
  const message = `(${timeoutMs}) is more than totalTimeoutMs (${totalTimeoutMs}), which ends the call first. Raise totalTimeoutMs too.`;
  return [{ path, message }];
}

const ownedHeader = /^(?:x-api-key|content-type|host|content-length)$/i;
const framingHeader = /^(?:connection|expect|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/**
 * Reads headers that a caller adds, and returns them with lower-case names. No value is quoted, because it may be a
 * credential.
 */
function readHeaders(headers: unknown, refuse: Refuse): Record<string, string> {
  if (typeof headers !== 'object' || headers === null || Symbol.iterator in headers)
    return refuse('must be an object of string values.');
  const entries = Object.entries(headers).map(([name, value]): [string, string] => {
    const refuseIt = (message: string) => refuse(message, [name.slice(0, 60)]);
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return refuseIt('is not a header name.');
    if (ownedHeader.test(name)) return refuseIt('is set by the client. Remove it.');
    if (framingHeader.test(name)) return refuseIt('is set by the connection. Remove it.');
    return typeof value === 'string' && /^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/.test(value)
      ? [name.toLowerCase(), value]
      : refuseIt('must be visible ASCII without line breaks.');
  });
  return Object.fromEntries(entries);
}

/** True for an AbortSignal of any class: jsdom and edge runtimes have their own. */
function isSignal(value: unknown): boolean {
  return isObject(value) && 'throwIfAborted' in value && 'addEventListener' in value;
}
