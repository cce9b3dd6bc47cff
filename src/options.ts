import { ConfigurationError, type Issue } from './errors.js';
import { isLoopback, parseAbsoluteUrl } from './schemas/url.js';
import { headerProblems, limitProblems, ownFields, unknownNames } from './transport/call-options.js';
import type { Hooks } from './transport/hooks.js';
import { forbiddenPorts } from './transport/ports.js';
import type { Settings } from './transport/transport.js';
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
  /** Functions that are told of requests, responses, retries and errors. */
  hooks?: Hooks | undefined;
  /** Carries requests in place of the default: a function of the Fetch standard's shape, such as `sandbox.fetch`. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Appended to `merchant-payments/<version>`. */
  userAgent?: string | undefined;
  /** Allows `http:` to other hosts than this machine. The API key then travels in clear text. Default false. */
  allowInsecureHttp?: boolean | undefined;
  /** Allows a client in a browser, where everybody can read its API key. Default false. */
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

/** Options and environment, checked; or a `ConfigurationError` with every problem and its way out. */
export function readOptions(options: PaymentsClientOptions): Settings {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError('new PaymentsClient(): the options have to be an object.');
  }
  const given = ownFields(options);
  const { apiKey = environment('PAYMENTS_API_KEY'), baseUrl = environment('PAYMENTS_BASE_URL') } = given;
  const url = readBaseUrl(baseUrl, given.allowInsecureHttp === true);
  const problems = [
    ...(isBrowser() && given.dangerouslyAllowBrowser !== true ? [browserProblem] : []),
    ...apiKeyProblems(apiKey),
    ...('problem' in url ? [url.problem] : []),
    ...[
      ...unknownNames(Object.keys(given), names),
      ...limitProblems(given, defaultTotalTimeoutMs),
      ...headerProblems(given.headers),
      ...typeProblems(given),
    ].map(({ path, message }) => `${path} ${message}`),
  ];
  if (problems.length > 0 || apiKey === undefined || 'problem' in url) {
    throw new ConfigurationError(`new PaymentsClient(): ${problems.join(' ')}`);
  }
  const totalTimeoutMs = given.totalTimeoutMs ?? defaultTotalTimeoutMs;
  return {
    apiKey,
    baseUrl: url,
    timeoutMs: given.timeoutMs ?? Math.min(20_000, totalTimeoutMs),
    totalTimeoutMs,
    maxRetries: given.maxRetries ?? 2,
    headers: Object.fromEntries(
      Object.entries(given.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
    ),
    hooks: ownFields(given.hooks ?? {}),
    userAgent: `merchant-payments/${version}${given.userAgent ? ` ${given.userAgent}` : ''}`,
    allowInsecureHttp: given.allowInsecureHttp === true,
    fetch: given.fetch,
  };
}

const defaultTotalTimeoutMs = 60_000;

const browserProblem =
  'This is a browser, where everybody can read the API key. Use it on a server, ' +
  'or pass dangerouslyAllowBrowser: true if the key is worth nothing.';

function apiKeyProblems(apiKey: unknown): string[] {
  if (apiKey === undefined) return ['apiKey is missing. Pass it, or set PAYMENTS_API_KEY.'];
  if (typeof apiKey !== 'string')
    return ['apiKey is not text. Pass the key from the dashboard, under Developer.'];
  if (apiKey === '') return ['apiKey is empty. Pass it, or set PAYMENTS_API_KEY.'];
  return /^[\x21-\x7e]+$/.test(apiKey)
    ? []
    : [
        'apiKey holds white space, control or non-ASCII characters. Copy it again from the dashboard, without quotes or line breaks.',
      ];
}

function readBaseUrl(baseUrl: unknown, allowInsecureHttp: boolean): URL | { problem: string } {
  if (baseUrl === undefined || baseUrl === '')
    return { problem: 'baseUrl is missing. Pass it, or set PAYMENTS_BASE_URL.' };
  const url = typeof baseUrl === 'string' ? parseAbsoluteUrl(baseUrl) : undefined;
  const problem = url
    ? baseUrlProblem(url, allowInsecureHttp)
    : 'is not an absolute URL. Pass one such as "https://api.example".';
  return url && problem === undefined ? url : { problem: `baseUrl ${problem}` };
}

/** Nothing of the URL is quoted but its scheme, host and port: it may hold credentials. */
function baseUrlProblem(url: URL, allowInsecureHttp: boolean): string | undefined {
  if (url.username || url.password) return 'holds credentials. Remove them: the key travels in x-api-key.';
  if (url.search || url.href.includes('?')) return 'has a query. Pass the address alone.';
  if (url.hash || url.href.includes('#')) return 'has a hash. Pass the address alone.';
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return `has the scheme ${url.protocol}. Pass an https: URL.`;
  if (/\/v1\/*$/.test(url.pathname)) return 'ends in /v1, which the client adds. Pass the address before it.';
  if (forbiddenPorts.has(Number(url.port)))
    return `names port ${url.port}, which fetch keeps for other protocols.`;
  if (url.protocol === 'http:' && !allowInsecureHttp && !isLoopback(url)) {
    return `is http: to ${url.hostname}, so the API key would travel in clear text. Use https:, or pass allowInsecureHttp: true.`;
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
    'has to be ASCII text without line breaks.',
  );
  for (const [path, value] of Object.entries({ allowInsecureHttp, dangerouslyAllowBrowser })) {
    expect(value === undefined || typeof value === 'boolean', path, 'has to be true or false.');
  }
  if (hooks === undefined) return problems;
  if (typeof hooks !== 'object' || hooks === null)
    return [...problems, { path: 'hooks', message: 'has to be an object of functions.' }];
  for (const [name, hook] of Object.entries(hooks)) {
    expect(hook === undefined || typeof hook === 'function', `hooks.${name}`, 'is not a function.');
  }
  const unknown = unknownNames(Object.keys(hooks), ['request', 'response', 'retry', 'error']);
  return [
    ...problems,
    ...unknown.map(({ path, message }) => ({
      path: `hooks.${path}`,
      message: message.replace('an option', 'a hook'),
    })),
  ];
}

function environment(name: 'PAYMENTS_API_KEY' | 'PAYMENTS_BASE_URL'): string | undefined {
  return typeof process === 'undefined' ? undefined : process.env?.[name];
}

/** A page, or a worker of one. Node, Bun, Deno and edge runtimes are none. */
function isBrowser(): boolean {
  if (typeof window !== 'undefined' && typeof window.document !== 'undefined') return true;
  return 'WorkerGlobalScope' in globalThis && /^Mozilla\//.test(globalThis.navigator?.userAgent ?? '');
}
