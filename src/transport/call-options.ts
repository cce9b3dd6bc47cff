import type { Issue } from '../errors.js';
import { didYouMean } from '../schemas/closest.js';
import { isObject } from '../schemas/object.js';
import { visible } from '../schemas/visible.js';

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

/** What is wrong with the value of an option, `undefined` included, or with parts of it; each path continues that of the option. */
export type Rule = (value: unknown, all: Readonly<Record<string, unknown>>) => string | Issue[] | undefined;

/** The rule of each option there is, by name. */
export type Rules = Readonly<Record<string, Rule>>;

/** The rule of an option that may be left out. */
export function must(isRight: (value: unknown) => boolean, message: string): Rule {
  return (value) => (value === undefined || isRight(value) ? undefined : message);
}

/** What is wrong with options, their own fields; a name that is none of them gets the likely one. */
export function optionProblems(given: object, rules: Rules, what = 'an option'): Issue[] {
  const all: Record<string, unknown> = Object.assign(Object.create(null), given);
  return Object.entries(all).flatMap(([name, value]) => {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    const found = rule ? rule(value, all) : `is not ${what}. ${didYouMean(name, Object.keys(rules))}`;
    const problems = typeof found === 'string' ? [{ path: '', message: found }] : (found ?? []);
    return problems.map(({ path, message }) => ({ path: visible(name + path), message }));
  });
}

const isMilliseconds = (value: unknown) => isNumberUpTo(value, longestTimerMs);
const milliseconds = must(
  isMilliseconds,
  `must be a number of milliseconds above 0, at most ${longestTimerMs}.`,
);

/** The options that client and call have in common. */
export const sharedRules: Rules = {
  timeoutMs: (timeoutMs, all) => {
    const { totalTimeoutMs } = all;
    if (!isMilliseconds(totalTimeoutMs) || !(Number(timeoutMs) > Number(totalTimeoutMs)))
      return milliseconds(timeoutMs, all);
    return `(${timeoutMs}) is more than totalTimeoutMs (${totalTimeoutMs}), which ends the call first. Raise totalTimeoutMs too.`;
  },
  totalTimeoutMs: milliseconds,
  maxRetries: must(
    (value) => value === 0 || (isNumberUpTo(value, 100) && Number.isInteger(value)),
    'must be an integer from 0 to 100.',
  ),
  headers: headerProblems,
};

const callRules: Rules = { signal: must(isSignal, 'is not an AbortSignal.'), ...sharedRules };

/** What is wrong with a call's options, its own fields; empty when nothing is. */
export function callOptionProblems(given: CallOptions, extra: Rules, client: TimeLimits): Issue[] {
  if (Object.keys(given).length === 0) return [];
  const { totalTimeoutMs } = client;
  return optionProblems({ totalTimeoutMs, ...given }, { ...callRules, ...extra }).map(
    ({ path, message }) => ({ path: `options.${path}`, message }),
  );
}

/** The limits of time that were given, in milliseconds. */
export type TimeLimits = Pick<CallOptions, 'timeoutMs' | 'totalTimeoutMs'>;

/** Both limits: a default gives way to the limit that was given. */
export function timeLimits({ timeoutMs, totalTimeoutMs }: TimeLimits) {
  return {
    timeoutMs: timeoutMs ?? Math.min(20_000, totalTimeoutMs ?? 20_000),
    totalTimeoutMs: totalTimeoutMs ?? Math.max(60_000, timeoutMs ?? 60_000),
  };
}

const ownedHeader = /^(?:x-api-key|content-type|host|content-length)$/i;
const framingHeader = /^(?:connection|expect|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/** What is wrong with headers that a caller adds. No value is quoted: it may be a credential. */
function headerProblems(headers: unknown): string | Issue[] {
  if (headers === undefined) return [];
  if (typeof headers !== 'object' || headers === null || Symbol.iterator in headers)
    return 'must be an object of string values.';
  return Object.entries(headers).flatMap(([name, value]): Issue[] => {
    const path = `.${name.slice(0, 60)}`;
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
