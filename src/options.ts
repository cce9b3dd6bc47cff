import { ConfigurationError, type Issue } from './errors.js';
import { isPlainObject } from './schemas/object.js';
import { isLoopback, parseAbsoluteUrl } from './schemas/url.js';
import type { ClientSettings } from './transport/call.js';
import {
  headerProblems,
  limitProblems,
  lowerCased,
  ownFields,
  unknownNames,
} from './transport/call-options.js';
import type { Fetch } from './transport/given-fetch.js';
import { type Hooks, hookNames } from './transport/hooks.js';
import { version } from './version.js';

/** Options of `new PaymentsClient()`. */
export interface PaymentsClientOptions {
  /** The API key, from the dashboard under Developer. Default: `PAYMENTS_API_KEY` from the environment. */
  apiKey?: string | undefined;
  /** Base address of the service, without `/v1`. Default: `PAYMENTS_BASE_URL` from the environment. */
  baseUrl?: string | undefined;
  /** One attempt, from connecting to the last byte of the body, in milliseconds. Default 20 000, or `totalTimeoutMs` where that is less. */
  timeoutMs?: number | undefined;
  /** A whole call, attempts and waits, in milliseconds. Default 60 000. */
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
      ...limitProblems(given, defaultTotalTimeoutMs),
      ...headerProblems(given.headers),
      ...typeProblems(given),
    ].map(({ path, message }) => `${path} ${message}`),
  ];
  if (problems.length > 0 || apiKey === undefined || typeof url === 'string') {
    throw new ConfigurationError(`new PaymentsClient(): ${problems.join(' ')}`);
  }
  const totalTimeoutMs = given.totalTimeoutMs ?? defaultTotalTimeoutMs;
  return {
    apiKey,
    baseUrl: url,
    timeoutMs: given.timeoutMs ?? Math.min(20_000, totalTimeoutMs),
    totalTimeoutMs,
    maxRetries: given.maxRetries ?? 2,
    headers: lowerCased(given.headers),
    hooks: Object.assign(Object.create(null), Object.fromEntries(hooksOf(given.hooks))),
    userAgent: `merchant-payments/${version}${given.userAgent ? ` ${given.userAgent}` : ''}`,
    allowInsecureHttp: given.allowInsecureHttp === true,
    fetch: given.fetch,
  };
}

const defaultTotalTimeoutMs = 60_000;

const browserProblem =
  'In a browser anybody can read the API key. Use it on a server, ' +
  'or pass dangerouslyAllowBrowser: true for a test key.';

/** Ports that the Fetch standard forbids as "bad ports": other protocols listen there. */
const forbiddenPorts: ReadonlySet<number> = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

function apiKeyProblems(apiKey: unknown): string[] {
  if (apiKey === undefined) return ['apiKey is missing. Pass it, or set PAYMENTS_API_KEY.'];
  if (typeof apiKey !== 'string')
    return ['apiKey is not a string. Pass the key from the dashboard, under Developer.'];
  if (apiKey === '') return ['apiKey is empty. Pass it, or set PAYMENTS_API_KEY.'];
  return /^[\x21-\x7e]+$/.test(apiKey)
    ? []
    : [
        'apiKey contains white space, control or non-ASCII characters. Copy it again from the dashboard, without quotes or line breaks.',
      ];
}

/** The URL, or what is wrong with it. */
function readBaseUrl(baseUrl: unknown, allowInsecureHttp: boolean): URL | string {
  if (baseUrl === undefined || baseUrl === '')
    return 'baseUrl is missing. Pass it, or set PAYMENTS_BASE_URL.';
  const url = typeof baseUrl === 'string' ? parseAbsoluteUrl(baseUrl) : undefined;
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
  if (forbiddenPorts.has(Number(url.port)))
    return `has port ${url.port}, which fetch blocks. Use another one.`;
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
  const notFunctions = hooksOf(hooks).filter(([, hook]) => typeof hook !== 'function');
  const unknown = isPlainObject(hooks) ? unknownNames(Object.keys(hooks), hookNames) : [];
  const none = !isPlainObject(hooks) && hooksOf(hooks).length === 0;
  return [
    ...notFunctions.map(([name]) => ({ path: `hooks.${name}`, message: 'is not a function.' })),
    ...unknown.map(({ path, message }) => ({
      path: `hooks.${path}`,
      message: message.replace('an option', 'a hook'),
    })),
    ...(none ? [{ path: 'hooks', message: `has none of the methods ${hookNames.join(', ')}.` }] : []),
  ];
}

/** Hooks by name, bound to their object: its own fields, and the methods of its class. */
function hooksOf(hooks: object = {}): [name: string, hook: unknown][] {
  return hookNames.flatMap((name): [string, unknown][] => {
    for (
      let link: object | null = hooks;
      link && link !== Object.prototype;
      link = Object.getPrototypeOf(link)
    ) {
      if (!Object.hasOwn(link, name)) continue;
      const hook: unknown = Reflect.get(hooks, name);
      return hook === undefined ? [] : [[name, typeof hook === 'function' ? hook.bind(hooks) : hook]];
    }
    return [];
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
