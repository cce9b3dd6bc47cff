import * as z from 'zod/mini';
import { ConfigurationError, type Issue } from './errors.js';
import { checkedField } from './input/fields.js';
import { hooksSchema } from './input/hooks.js';
import { integer, readInto } from './input/read.js';
import { hasBlankOrControl, isLoopback, isQuoted, parseAbsoluteUrl, urlText } from './input/url.js';
import type { ClientSettings } from './transport/call.js';
import { sharedShape, timeProblems } from './transport/call-options.js';
import type { Fetch } from './transport/given-fetch.js';
import { type HookFactsByName, type Hooks, hookNames } from './transport/hooks.js';
import { version } from './version.js';

/** Options of `new PaymentsClient()`. */
export interface PaymentsClientOptions {
  /** The API key, from the dashboard under Developer. Default: `PAYMENTS_API_KEY` from the environment. */
  apiKey?: string | undefined;
  /** Base address of the service, without `/v1`. Default: `PAYMENTS_BASE_URL` from the environment. */
  baseUrl?: string | URL | undefined;
  /**
   * Time limit of one attempt, from connecting to the last byte of the body, in milliseconds. Default 20 000, or
   * `totalTimeoutMs` if that is less.
   */
  timeoutMs?: number | undefined;
  /** Time limit of a whole call, attempts and waits, in milliseconds. Default 60 000, or `timeoutMs` if that is more. */
  totalTimeoutMs?: number | undefined;
  /** The number of times that a request may be retried; 0 means never. Default 2. */
  maxRetries?: number | undefined;
  /** Headers to add to every request. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Functions called on requests, responses, retries, errors and the end of each call; or an instance of a class. */
  hooks?: Hooks | undefined;
  /**
   * Sends the requests in place of the built-in transport: a function with the signature of `fetch`, such as
   * `sandbox.fetch`. It must send each request once, without retries of its own, and must not throw after sending.
   */
  fetch?: Fetch | undefined;
  /** Text to append to the user agent `merchant-payments/<version>`. */
  userAgent?: string | undefined;
  /**
   * Allows `http:` to hosts other than the local machine, for payment pages too. The API key is then sent in clear text.
   * Default false.
   */
  allowInsecureHttp?: boolean | undefined;
  /**
   * The number of connections that the built-in transport may have open at once on Node, 1 to 65 535. Further calls wait for
   * one, within their time limits. Default 100.
   */
  maxConnections?: number | undefined;
  /** Allows a client in a browser, where anybody can read its API key. Default false. */
  dangerouslyAllowBrowser?: boolean | undefined;
}

/** Reads options and environment; throws a `ConfigurationError` with every problem and its fix. */
export function readClientOptions(options: PaymentsClientOptions): ClientSettings {
  const { allowInsecureHttp, dangerouslyAllowBrowser }: PaymentsClientOptions = Object(options);
  const issues: Issue[] = [];
  const read = readInto(issues, allowInsecureHttp === true ? insecureOptions : secureOptions, options);
  issues.push(...timeProblems(read ?? {}));
  const problems = issues.map(({ path, message }) => `${path || 'the options'} ${message}`);
  const problem = environmentProblem(dangerouslyAllowBrowser === true);
  if (problem) problems.unshift(problem);
  if (!read || problems.length > 0)
    throw new ConfigurationError(`new PaymentsClient(): ${problems.join(' ')}`);
  const url = new URL(read.baseUrl);
  return {
    ...read,
    baseUrl: url,
    base: url.href.replace(/(?<!\/)\/+$/, ''),
    userAgent: `merchant-payments/${version}${read.userAgent ? ` ${read.userAgent}` : ''}`,
  };
}

/** The value of a setting that neither the options nor the environment have. */
const missing = Symbol('missing');

const secureOptions = optionsSchema(false);
const insecureOptions = optionsSchema(true);

function optionsSchema(allowInsecureHttp: boolean) {
  const fits = (text: string) => /^[\x20-\x7e]*$/.test(text);
  const noAscii = 'must be an ASCII string without line breaks.';
  return z.strictObject(
    {
      apiKey: z.prefault(
        checkedField<string>(apiKeyProblem),
        () => environment('PAYMENTS_API_KEY') ?? missing,
      ),
      baseUrl: z.prefault(
        checkedField<string | URL>((baseUrl) => baseUrlProblem(baseUrl, allowInsecureHttp)),
        () => environment('PAYMENTS_BASE_URL') ?? missing,
      ),
      ...sharedShape,
      maxRetries: z._default(integer(0, 100), 2),
      headers: z._default(sharedShape.headers.def.innerType, {}),
      hooks: z._default(hooksSchema<HookFactsByName>(hookNames), {}),
      fetch: z.optional(z.custom<Fetch>((value) => typeof value === 'function', 'is not a function.')),
      userAgent: z.optional(z.string(noAscii).check(z.refine(fits, noAscii))),
      allowInsecureHttp: z._default(z.boolean('must be true or false.'), false),
      maxConnections: z._default(integer(1, 65_535), 100),
      dangerouslyAllowBrowser: z._default(z.boolean('must be true or false.'), false),
    },
    'must be an object.',
  );
}

const browserProblem =
  'In a browser anybody can read the API key. Use it on a server, ' +
  'or pass dangerouslyAllowBrowser: true for a test key.';

/** Returns the problem of an API key, if it has one. The key is never quoted. */
function apiKeyProblem(apiKey: unknown): string | undefined {
  if (apiKey === missing || apiKey === '')
    return `is ${apiKey === '' ? 'empty' : 'missing'}. Pass it, or set PAYMENTS_API_KEY.`;
  if (typeof apiKey !== 'string') return 'is not a string. Pass the key from the dashboard, under Developer.';
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    return 'contains white space, control or non-ASCII characters. Copy it again from the dashboard, without quotes or line breaks.';
  return isQuoted(apiKey) ? 'is in quotes or <…>. Pass the key alone, as the dashboard shows it.' : undefined;
}

/** Returns the problem of a base URL, if it has one. Only its scheme and host are quoted: the rest may contain credentials. */
function baseUrlProblem(baseUrl: unknown, allowInsecureHttp: boolean): string | undefined {
  if (baseUrl === missing || baseUrl === '') return 'is missing. Pass it, or set PAYMENTS_BASE_URL.';
  const text = urlText(baseUrl);
  const url = typeof text === 'string' ? parseAbsoluteUrl(text) : undefined;
  if (typeof baseUrl === 'string' && hasBlankOrControl(baseUrl))
    return 'contains white space or control characters. Remove them.';
  if (!url && isQuoted(baseUrl)) return 'is in quotes or <…>. Pass the URL alone.';
  if (!url) return 'is not an absolute URL. Pass one such as "https://api.example".';
  const { protocol, href } = url;
  if (url.username || url.password) return 'contains credentials. Remove them: the key is sent in x-api-key.';
  if (href.includes('?')) return 'has a query. Remove it.';
  if (href.includes('#')) return 'has a hash. Remove it.';
  if (protocol !== 'https:' && protocol !== 'http:') return `has the scheme ${protocol}. Pass an https: URL.`;
  if (/\/v1\/*$/.test(url.pathname)) return 'ends in /v1, which the client adds. Remove it.';
  return protocol === 'https:' || allowInsecureHttp || isLoopback(url)
    ? undefined
    : `is http: to ${url.hostname}, so the API key would be sent in clear text. Use https:, or pass allowInsecureHttp: true.`;
}

function environment(name: 'PAYMENTS_API_KEY' | 'PAYMENTS_BASE_URL'): string | undefined {
  return typeof process === 'undefined' ? undefined : process.env?.[name];
}

/** Returns the problem of running in a browser, or in an emulator of one for tests on Node. */
function environmentProblem(isBrowserAllowed: boolean): string | undefined {
  if (!isBrowser()) return undefined;
  const emulator = /\b(jsdom|HappyDOM)\//.exec(globalThis.navigator?.userAgent ?? '')?.[1];
  if (emulator && !(isBrowserAllowed && canMakeRequests()))
    return `this is ${emulator}: run these tests in the node environment (\`// @vitest-environment node\`).`;
  return isBrowserAllowed ? undefined : browserProblem;
}

/** True if `Request` exists and accepts the signals of this environment, which may be of another realm. */
function canMakeRequests(): boolean {
  try {
    return Boolean(new Request('https://api.example', { signal: new AbortController().signal }));
  } catch {
    return false;
  }
}

/** True in a web page or a web worker, false in Node, Bun, Deno and edge runtimes. */
function isBrowser(): boolean {
  if (typeof window !== 'undefined' && typeof window.document !== 'undefined') return true;
  return 'WorkerGlobalScope' in globalThis && /^Mozilla\//.test(globalThis.navigator?.userAgent ?? '');
}
