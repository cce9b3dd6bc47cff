import ky, { type KyInstance, type Options, replaceOption } from 'ky';
import { onAbort } from './aborts.js';
import type { Call, ClientSettings } from './call.js';
import { type CompleteResponse, isResponse, type Send, SendFailure } from './fetch-contract.js';
import { givenFetch } from './given-fetch.js';
import { nodeFetch } from './node-fetch.js';
import { isPolluted, shielded } from './shield.js';

/** Retries and statuses are handled by the sender: writes have their own rules. */
const defaults: Options = { redirect: 'manual', retry: 0, throwHttpErrors: false };

/** Makes requests through ky, which builds, times out and aborts them. One per client. */
export class Http {
  readonly #ky: KyInstance;
  readonly #send: (request: unknown, body: string | null) => Promise<CompleteResponse>;

  constructor({ apiKey, baseUrl, fetch, userAgent }: ClientSettings) {
    this.#ky = ky.create(shielded(defaults));
    const send = sendOver(baseUrl, fetch);
    const under = `${baseUrl.href.replace(/(?<!\/)\/+$/, '')}/`;
    // Fixed headers are added here: no object of ky holds the key, and ky does not copy them.
    this.#send = async (request, body) => {
      if (!(request instanceof Request && request.url.startsWith(under)))
        throw new SendFailure('connect', 'wrong_url');
      const { url, method, signal } = request;
      if (signal.aborted) throw new SendFailure('connect', 'stopped');
      const headers: Record<string, string> = { accept: 'application/json', 'user-agent': userAgent };
      request.headers.forEach((value, name) => {
        headers[name] = value;
      });
      headers['x-api-key'] = apiKey;
      if (body !== null) headers['content-type'] = 'application/json';
      return send(url, { method, headers, body, redirect: 'manual', signal });
    };
  }

  /** One request and its whole response. Rejects with a `SendFailure`, of reason `stopped` for time limit and signal. */
  async attempt({ operation, url, headers, body, signal }: Call, limitMs: number): Promise<CompleteResponse> {
    const attempt: { response?: Promise<CompleteResponse> } = {};
    // One per request: ky rejects signals of another realm, and adds a listener to the one that it gets.
    const controller = signal && new AbortController();
    const unlink = onAbort(signal, () => controller?.abort());
    const options: Options = {
      method: operation.method,
      headers: replaceOption(headers),
      timeout: limitMs,
      ...(controller && { signal: controller.signal }),
      fetch: async (request) => {
        // Not in the Request: reading the body back from its stream costs more than everything else in ky.
        attempt.response = this.#send(request, body);
        return asResponse(await attempt.response);
      },
    };
    try {
      await (isPolluted() ? this.#kyShielded(url, options) : this.#ky(url, options));
    } catch {
      // An error of ky holds the request and does not say how far it got. The awaited response does.
    } finally {
      unlink();
    }
    if (!attempt.response) throw new SendFailure('connect', 'network');
    return attempt.response;
  }

  /** Sets every option: ky and `Request` would read missing ones from a polluted prototype. */
  #kyShielded(url: string, options: Options): Promise<unknown> {
    const plain = { headers: {}, body: null, window: null };
    const request = new Request(url, shielded({ ...plain, method: options.method ?? 'GET' }));
    return this.#ky(request, shielded({ ...defaults, ...plain, searchParams: '', ...options }));
  }
}

/** ky accepts anything that is tagged as a Response. */
function asResponse(value: unknown): Response {
  if (isResponse(value)) return value;
  throw new SendFailure('exchange', 'not_a_response');
}

/** In Node and Deno, `http` costs half as much as fetch and reports more; elsewhere the platform's fetch is used. */
function sendOver(baseUrl: URL, fetch: ClientSettings['fetch']): Send {
  if (fetch) return givenFetch(fetch);
  return hasNodeHttp() ? nodeFetch(baseUrl) : givenFetch((url, init) => globalThis.fetch(url, init));
}

function hasNodeHttp(): boolean {
  if (typeof process === 'undefined' || typeof process.getBuiltinModule !== 'function') return false;
  return (
    process.release?.name === 'node' &&
    !process.versions.bun &&
    globalThis.navigator?.userAgent !== 'Cloudflare-Workers'
  );
}
