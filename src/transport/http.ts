import ky, { isKyError, TimeoutError } from 'ky';
import { onAbort } from './aborts.js';
import type { Call, ClientSettings } from './call.js';
import { Failure } from './failure.js';
import { type Carrier, givenFetch } from './given-fetch.js';
import { nodeHttp } from './node-http.js';
import { RequestProgress, type WholeResponse } from './response.js';

/** Returns a function that makes requests through ky, which builds, times out and aborts them. There is one per client. */
export function kyRequests(settings: ClientSettings) {
  const { apiKey, base, userAgent } = settings;
  const carry = carrierOf(settings);
  // The sender handles retries and statuses: writes have their own rules.
  const client = ky.create({ retry: 0, throwHttpErrors: false, fetch: fetchForKy });

  /** Sends the request that ky built. The API key is added here, so that no object of ky's holds it. */
  async function fetchForKy(request: unknown, init: object | undefined): Promise<Response> {
    if (!(request instanceof Request && hasExtras(init))) throw new TypeError('ky made another request');
    const { url, method, signal } = request;
    if (!url.startsWith(`${base}/`)) throw new TypeError('ky made another request');
    const { text, progress } = init;
    progress.isBegun = true;
    signal.throwIfAborted();
    const headers: Record<string, string> = { accept: 'application/json', 'user-agent': userAgent };
    request.headers.forEach((value, name) => {
      headers[name] = value;
    });
    headers['x-api-key'] = apiKey;
    if (text !== null) headers['content-type'] = 'application/json';
    const response = await carry(url, { method, headers, body: text, redirect: 'manual', signal }, progress);
    if (isResponse(response)) return response;
    throw new TypeError('ky takes no response without a tag');
  }

  /**
   * Makes one request. Resolves to its whole response, or to a failure; `progress` then shows the point that the request
   * reached.
   */
  return async (call: Call, timeout: number, progress: RequestProgress): Promise<WholeResponse | Failure> => {
    const { url, headers, body: text, signal } = call;
    // Each request has its own controller: ky rejects signals of another realm, and adds a listener to the signal that it gets.
    const controller = signal && new AbortController();
    const unlink = onAbort(signal, () => controller?.abort());
    const { method } = call.operation;
    const options = {
      method,
      timeout,
      text,
      progress,
      // ky copies headers three times, even an empty object.
      ...(Object.keys(headers).length > 0 && { headers }),
      ...(controller && { signal: controller.signal }),
    };
    try {
      return await client(url, options);
    } catch (error) {
      return failureOf(error, progress);
    } finally {
      unlink();
    }
  };
}

/**
 * The options of a request that ky does not know and therefore passes to `fetch` in its second argument. They include the
 * body: reading it back from a `Request` as a stream would cost more than everything else in ky.
 */
interface RequestExtras {
  text: string | null;
  progress: RequestProgress;
}

function hasExtras(init: object | undefined): init is RequestExtras {
  return init !== undefined && 'progress' in init && init.progress instanceof RequestProgress;
}

/** True if ky takes the value for a `Response`: ky checks the tag, while its types name the platform's class. */
function isResponse(value: object): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]';
}

/** Returns the failure for an error that ky rejected with. ky's own errors are dropped, because they hold the request. */
function failureOf(error: unknown, { isBegun }: RequestProgress): Failure {
  if (error instanceof Failure) return error;
  if (isBegun) return new Failure(error instanceof TimeoutError ? 'timeout' : 'network');
  return new Failure('setup', { cause: isKyError(error) ? undefined : error });
}

/**
 * Returns the carrier for this platform. In Node and Deno, `http` costs half as much as fetch and reports more; elsewhere
 * the platform's fetch is used.
 */
function carrierOf({ baseUrl, fetch, maxConnections }: ClientSettings): Carrier {
  if (fetch) return givenFetch(fetch, true);
  if (hasNodeHttp()) return nodeHttp(baseUrl, maxConnections);
  return givenFetch((url, init) => globalThis.fetch(url, init), false);
}

function hasNodeHttp(): boolean {
  if (typeof process === 'undefined' || typeof process.getBuiltinModule !== 'function') return false;
  const isWorker = globalThis.navigator?.userAgent === 'Cloudflare-Workers';
  return process.release?.name === 'node' && !process.versions.bun && !isWorker;
}
