import * as z from 'zod/mini';
import type { Issue } from '../errors.js';
import { convertedField, optionalField, type Refuse, readFields } from '../input/fields.js';
import { isObject, ownFields } from '../input/object.js';

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

/** Options of `products.list`. */
export interface ListOptions extends CallOptions {
  /** How many pages may be held at once while iterating, 1 to 8. Default 1: no page is requested before it is needed. */
  prefetch?: number | undefined;
}

/** The longest delay that setTimeout accepts. */
const longestTimerMs = 2 ** 31 - 1;

function isMilliseconds(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value <= longestTimerMs;
}

const milliseconds = optionalField<number>(
  isMilliseconds,
  `must be a number of milliseconds above 0, at most ${longestTimerMs}.`,
);

const integer = (least: number, most: number) =>
  optionalField<number>(
    (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
    `must be an integer from ${least} to ${most}.`,
  );

/** The options that client and call have in common. */
export const sharedFields = {
  timeoutMs: milliseconds,
  totalTimeoutMs: milliseconds,
  maxRetries: integer(0, 100),
  headers: z.optional(convertedField(readHeaders)),
};

const callOptions = z.strictObject({
  signal: optionalField<AbortSignal>(isSignal, 'is not an AbortSignal.'),
  ...sharedFields,
});
const listOptions = z.strictObject({ ...callOptions.shape, prefetch: integer(1, 8) });

/** The options of a call, copied; adds what is wrong with them to `issues`. */
export function readCallOptions(
  issues: Issue[],
  options: ListOptions,
  isList: boolean,
  client: TimeLimits,
): ListOptions {
  const schema = isList ? listOptions : callOptions;
  const own = ownFields(options, Object.keys(schema.shape));
  if (!own) issues.push({ path: 'options', message: 'is not an object.' });
  if (isSignal(options)) issues.push({ path: 'options', message: 'is an AbortSignal. Pass { signal }.' });
  // Most calls have none.
  if (!own || Object.keys(own).length === 0) return own ?? options;
  const problems = timeProblems({ ...own, totalTimeoutMs: own.totalTimeoutMs ?? client.totalTimeoutMs });
  const read = readFields(problems, schema, own, 'an option');
  issues.push(...problems.map(({ path, message }) => ({ path: `options.${path}`, message })));
  return read ?? own;
}

/** The limits of time that were given, in milliseconds. */
export type TimeLimits = Pick<CallOptions, 'timeoutMs' | 'totalTimeoutMs'>;

/** A limit of one attempt that the limit of the whole call makes void. */
export function timeProblems({ timeoutMs, totalTimeoutMs }: TimeLimits): Issue[] {
  const message = `(${timeoutMs}) is more than totalTimeoutMs (${totalTimeoutMs}), which ends the call first. Raise totalTimeoutMs too.`;
  const isVoid = isMilliseconds(timeoutMs) && isMilliseconds(totalTimeoutMs) && timeoutMs > totalTimeoutMs;
  return isVoid ? [{ path: 'timeoutMs', message }] : [];
}

const ownedHeader = /^(?:x-api-key|content-type|host|content-length)$/i;
const framingHeader = /^(?:connection|expect|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/** Headers that a caller adds, with lower-case names. No value is quoted: it may be a credential. */
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

/** Checked by shape: jsdom and edge runtimes have their own AbortSignal. */
function isSignal(value: unknown): boolean {
  return isObject(value) && 'throwIfAborted' in value && 'addEventListener' in value;
}
