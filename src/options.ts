import { ConfigurationError, type Issue } from './errors.js';
import { isPlainObject } from './schemas/object.js';
import { isLoopback, parseAbsoluteUrl, urlText } from './schemas/url.js';
import type { ClientSettings } from './transport/call.js';
import {
  lowerCased,
  must,
  optionProblems,
  ownFields,
  type Rule,
  type Rules,
  sharedRules,
} from './transport/call-options.js';
import type { Fetch } from './transport/fetch-adapter.js';
import { type Hooks, hookNames } from './transport/hooks.js';
import { version } from './version.js';

/** Options of `new PaymentsClient()`. */
export interface PaymentsClientOptions {
  /** The API key, from the dashboard under Developer. Default: `PAYMENTS_API_KEY` from the environment. */
  apiKey?: string | undefined;
  /** Base address of the service, without `/v1`. Default: `PAYMENTS_BASE_URL` from the environment. */
  baseUrl?: string | URL | undefined;
  /** One attempt, from connecting to the last byte of the body, in milliseconds. Default 20 000, or `totalTimeoutMs` where that is less. */
  timeoutMs?: number | undefined;
  /** A whole call, attempts and waits, in milliseconds. Default 60 000, or `timeoutMs` where that is more. */
  totalTimeoutMs?: number | undefined;
  /** How many times a request may go out again; 0 means never. Default 2. */
  maxRetries?: number | undefined;
  /** Added to every request. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Functions called on requests, responses, retries, errors and the end of each call; or an instance of a class. */
  hooks?: Hooks | undefined;
  /** Sends the requests in place of the built-in transport: a function with the signature of `fetch`, such as `sandbox.fetch`. */
  fetch?: Fetch | undefined;
  /** Appended to `merchant-payments/<version>`. */
  userAgent?: string | undefined;
  /** Allows `http:` to hosts other than the local machine. The API key is then sent in clear text. Default false. */
  allowInsecureHttp?: boolean | undefined;
  /** Allows a client in a browser, where anybody can read its API key. Default false. */
  dangerouslyAllowBrowser?: boolean | undefined;
}

/** Options and environment, checked; throws a `ConfigurationError` with every problem and its fix. */
export function readOptions(options: PaymentsClientOptions): ClientSettings {
  const given = ownFields(options);
  if (!given) throw new ConfigurationError('new PaymentsClient(): the options must be an object.');
  const {
    apiKey = environment('PAYMENTS_API_KEY'),
    baseUrl = environment('PAYMENTS_BASE_URL'),
    ...others
  } = given;
  const url = urlOf(baseUrl);
  const problems = optionProblems({ apiKey, baseUrl, ...others }, rules).map(
    ({ path, message }) => `${path} ${message}`,
  );
  if (isBrowser() && given.dangerouslyAllowBrowser !== true) problems.unshift(browserProblem);
  if (problems.length > 0 || apiKey === undefined || url === undefined) {
    throw new ConfigurationError(`new PaymentsClient(): ${problems.join(' ')}`);
  }
  return {
    apiKey,
    baseUrl: url,
    timeoutMs: given.timeoutMs,
    totalTimeoutMs: given.totalTimeoutMs,
    maxRetries: given.maxRetries ?? 2,
    headers: lowerCased(given.headers),
    hooks: Object.assign(Object.create(null), Object.fromEntries(hooksOf(given.hooks))),
    userAgent: `merchant-payments/${version}${given.userAgent ? ` ${given.userAgent}` : ''}`,
    allowInsecureHttp: given.allowInsecureHttp === true,
    fetch: given.fetch,
  };
}

const browserProblem =
  'In a browser anybody can read the API key. Use it on a server, ' +
  'or pass dangerouslyAllowBrowser: true for a test key.';

/** Never quotes the key. */
function apiKeyProblem(apiKey: unknown): string | undefined {
  if (apiKey === undefined || apiKey === '')
    return `is ${apiKey === '' ? 'empty' : 'missing'}. Pass it, or set PAYMENTS_API_KEY.`;
  if (typeof apiKey !== 'string') return 'is not a string. Pass the key from the dashboard, under Developer.';
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    return 'contains white space, control or non-ASCII characters. Copy it again from the dashboard, without quotes or line breaks.';
  return /^(["'`]).*\1$|^<.*>$/.test(apiKey)
    ? 'is in quotes or <…>. Pass the key alone, as the dashboard shows it.'
    : undefined;
}

function urlOf(baseUrl: unknown): URL | undefined {
  const text = urlText(baseUrl);
  return typeof text === 'string' ? parseAbsoluteUrl(text) : undefined;
}

/** Quotes only the scheme, host and port of the URL: the rest may contain credentials. */
function baseUrlProblem(baseUrl: unknown, { allowInsecureHttp }: Parameters<Rule>[1]): string | undefined {
  if (baseUrl === undefined || baseUrl === '') return 'is missing. Pass it, or set PAYMENTS_BASE_URL.';
  const url = urlOf(baseUrl);
  if (!url) return 'is not an absolute URL. Pass one such as "https://api.example".';
  if (url.username || url.password) return 'contains credentials. Remove them: the key is sent in x-api-key.';
  if (url.search || url.href.includes('?')) return 'has a query. Remove it.';
  if (url.hash || url.href.includes('#')) return 'has a hash. Remove it.';
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return `has the scheme ${url.protocol}. Pass an https: URL.`;
  if (/\/v1\/*$/.test(url.pathname)) return 'ends in /v1, which the client adds. Remove it.';
  return url.protocol === 'https:' || allowInsecureHttp === true || isLoopback(url)
    ? undefined
    : `is http: to ${url.hostname}, so the API key would be sent in clear text. Use https:, or pass allowInsecureHttp: true.`;
}

const isFunction = (value: unknown) => typeof value === 'function';
const trueOrFalse = must((value) => typeof value === 'boolean', 'must be true or false.');

const rules: Rules = {
  apiKey: apiKeyProblem,
  baseUrl: baseUrlProblem,
  ...sharedRules,
  hooks: hookProblems,
  fetch: must(isFunction, 'is not a function.'),
  userAgent: must(
    (value) => typeof value === 'string' && /^[\x20-\x7e]*$/.test(value),
    'must be an ASCII string without line breaks.',
  ),
  allowInsecureHttp: trueOrFalse,
  dangerouslyAllowBrowser: trueOrFalse,
};

const hookRules = Object.fromEntries(hookNames.map((name) => [name, must(isFunction, 'is not a function.')]));

function hookProblems(hooks: unknown): string | Issue[] {
  if (hooks === undefined) return [];
  if (typeof hooks !== 'object' || hooks === null) return 'is not an object of functions.';
  const found = Object.fromEntries(hooksOf(hooks));
  if (!isPlainObject(hooks) && Object.keys(found).length === 0)
    return `has none of the methods ${hookNames.join(', ')}.`;
  const given = isPlainObject(hooks) ? { ...hooks, ...found } : found;
  return optionProblems(given, hookRules, 'a hook').map(({ path, message }) => ({
    path: `.${path}`,
    message,
  }));
}

/** Hooks by name, bound to their object: its fields and the methods of its class, but not those of every object. */
function hooksOf(hooks: object = {}): [name: string, hook: unknown][] {
  return hookNames.flatMap((name): [string, unknown][] => {
    const hook: unknown = Reflect.get(hooks, name);
    if (hook === undefined || hook === Reflect.get(Object.prototype, name)) return [];
    return [[name, typeof hook === 'function' ? hook.bind(hooks) : hook]];
  });
}

function environment(name: 'PAYMENTS_API_KEY' | 'PAYMENTS_BASE_URL'): string | undefined {
  return typeof process === 'undefined' ? undefined : process.env?.[name];
}

/** A web page or a web worker. Not Node, Bun, Deno or an edge runtime. */
function isBrowser(): boolean {
  if (typeof window !== 'undefined' && typeof window.document !== 'undefined') return true;
  return 'WorkerGlobalScope' in globalThis && /^Mozilla\//.test(globalThis.navigator?.userAgent ?? '');
}
