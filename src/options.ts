import { ConfigurationError, type Issue } from './errors.js';
import { isPlainObject } from './schemas/object.js';
import { isLoopback, parseAbsoluteUrl, urlText } from './schemas/url.js';
import type { ClientSettings } from './transport/call.js';
import {
  headerProblems,
  limitProblems,
  lowerCased,
  ownFields,
  unknownNames,
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
  /** Sends the requests instead of the default: any function shaped like `fetch`, such as `sandbox.fetch`. */
  fetch?: Fetch | undefined;
  /** Appended to `merchant-payments/<version>`. */
  userAgent?: string | undefined;
  /** Allows `http:` to hosts other than the local machine. The API key is then sent in clear text. Default false. */
  allowInsecureHttp?: boolean | undefined;
  /** Allows a client in a browser, where anybody can read its API key. Default false. */
  dangerouslyAllowBrowser?: boolean | undefined;
}

const names = [
  'apiKey',
  'baseUrl',
  'timeoutMs',
  'totalTimeoutMs',
  'maxRetries',
  'headers',
  'hooks',
  'fetch',
  'userAgent',
  'allowInsecureHttp',
  'dangerouslyAllowBrowser',
];

/** Options and environment, checked; throws a `ConfigurationError` with every problem and its fix. */
export function readOptions(options: PaymentsClientOptions): ClientSettings {
  const given = ownFields(options);
  if (!given) throw new ConfigurationError('new PaymentsClient(): the options must be an object.');
  const { apiKey = environment('PAYMENTS_API_KEY'), baseUrl = environment('PAYMENTS_BASE_URL') } = given;
  const url = readBaseUrl(baseUrl, given.allowInsecureHttp === true);
  const problems = [
    ...(isBrowser() && given.dangerouslyAllowBrowser !== true ? [browserProblem] : []),
    ...apiKeyProblems(apiKey),
    ...(typeof url === 'string' ? [url] : []),
    ...[
      ...unknownNames(Object.keys(given), names),
      ...limitProblems(given),
      ...headerProblems(given.headers),
      ...typeProblems(given),
    ].map(({ path, message }) => `${path} ${message}`),
  ];
  if (problems.length > 0 || apiKey === undefined || typeof url === 'string') {
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
function apiKeyProblems(apiKey: unknown): string[] {
  if (apiKey === undefined || apiKey === '')
    return [`apiKey is ${apiKey === '' ? 'empty' : 'missing'}. Pass it, or set PAYMENTS_API_KEY.`];
  if (typeof apiKey !== 'string')
    return ['apiKey is not a string. Pass the key from the dashboard, under Developer.'];
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    return [
      'apiKey contains white space, control or non-ASCII characters. Copy it again from the dashboard, without quotes or line breaks.',
    ];
  }
  return /^(["'`]).*\1$|^<.*>$/.test(apiKey)
    ? ['apiKey is in quotes or <…>. Pass the key alone, as the dashboard shows it.']
    : [];
}

/** The URL, or what is wrong with it. */
function readBaseUrl(baseUrl: unknown, allowInsecureHttp: boolean): URL | string {
  if (baseUrl === undefined || baseUrl === '')
    return 'baseUrl is missing. Pass it, or set PAYMENTS_BASE_URL.';
  const text = urlText(baseUrl);
  const url = typeof text === 'string' ? parseAbsoluteUrl(text) : undefined;
  const problem = url
    ? baseUrlProblem(url, allowInsecureHttp)
    : 'is not an absolute URL. Pass one such as "https://api.example".';
  return url && problem === undefined ? url : `baseUrl ${problem}`;
}

/** Quotes only the scheme, host and port of the URL: the rest may contain credentials. */
function baseUrlProblem(url: URL, allowInsecureHttp: boolean): string | undefined {
  if (url.username || url.password) return 'contains credentials. Remove them: the key is sent in x-api-key.';
  if (url.search || url.href.includes('?')) return 'has a query. Remove it.';
  if (url.hash || url.href.includes('#')) return 'has a hash. Remove it.';
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return `has the scheme ${url.protocol}. Pass an https: URL.`;
  if (/\/v1\/*$/.test(url.pathname)) return 'ends in /v1, which the client adds. Remove it.';
  if (url.protocol === 'http:' && !allowInsecureHttp && !isLoopback(url)) {
    return `is http: to ${url.hostname}, so the API key would be sent in clear text. Use https:, or pass allowInsecureHttp: true.`;
  }
  return undefined;
}

function typeProblems(given: PaymentsClientOptions): Issue[] {
  const problems: Issue[] = [];
  const expect = (right: boolean, path: string, message: string) => {
    if (!right) problems.push({ path, message });
  };
  const { hooks, fetch, userAgent, allowInsecureHttp, dangerouslyAllowBrowser } = given;
  expect(fetch === undefined || typeof fetch === 'function', 'fetch', 'is not a function.');
  expect(
    userAgent === undefined || (typeof userAgent === 'string' && /^[\x20-\x7e]*$/.test(userAgent)),
    'userAgent',
    'must be an ASCII string without line breaks.',
  );
  for (const [path, value] of Object.entries({ allowInsecureHttp, dangerouslyAllowBrowser })) {
    expect(value === undefined || typeof value === 'boolean', path, 'must be true or false.');
  }
  return [...problems, ...hookProblems(hooks)];
}

function hookProblems(hooks: unknown): Issue[] {
  if (hooks === undefined) return [];
  if (typeof hooks !== 'object' || hooks === null)
    return [{ path: 'hooks', message: 'is not an object of functions.' }];
  const found = hooksOf(hooks);
  const problems = [
    ...found
      .filter(([, hook]) => typeof hook !== 'function')
      .map(([path]) => ({ path, message: 'is not a function.' })),
    ...(isPlainObject(hooks) ? unknownNames(Object.keys(hooks), hookNames, 'a hook') : []),
  ].map(({ path, message }) => ({ path: `hooks.${path}`, message }));
  return found.length > 0 || isPlainObject(hooks)
    ? problems
    : [{ path: 'hooks', message: `has none of the methods ${hookNames.join(', ')}.` }];
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
