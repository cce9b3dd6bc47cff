import ky, { type Options } from 'ky';
import { isPolluted, shielded } from '../input/object.js';
import { onAbort } from './aborts.js';
import type { Call, ClientSettings } from './call.js';
import { fetchAdapter, type Send, type SendResult } from './fetch-adapter.js';
import { nodeHttp } from './node-http.js';
import { isSuccess } from './response.js';
import { SendFailure } from './send-failure.js';

/** What ky and `Request` would read from a polluted prototype, even where a request says `undefined`. */
const fullyWritten: Options = { headers: {}, body: null, window: null, searchParams: '' };

/**
 * Makes requests through ky, which builds, times out and aborts them. One per client. Each gives the whole response or a
 * failure, of kind `stopped` for time limit and signal, and never rejects.
 */
export function kyAttempt(settings: ClientSettings) {
  const { apiKey, base, userAgent } = settings;
  // The sender handles retries and statuses: writes have their own rules.
  const client = ky.create(shielded({ retry: 0, throwHttpErrors: false }));
  const send = sendOver(settings);

  /** Sends what ky built. Headers are added here: no object of ky holds the key, and ky does not copy them three times. */
  async function pass(request: unknown, { body, headers }: Call): Promise<SendResult> {
    if (!(request instanceof Request && request.url.startsWith(`${base}/`)))
      return new SendFailure('connect', 'network', { code: 'wrong_url' });
    const { url, method, signal } = request;
    if (signal.aborted) return new SendFailure('connect', 'stopped');
    const all: Record<string, string> = {
      accept: 'application/json',
      'user-agent': userAgent,
      ...headers,
      'x-api-key': apiKey,
    };
    if (body !== null) all['content-type'] = 'application/json';
    return send(url, { method, headers: all, body, redirect: 'manual', signal });
  }

  return async (call: Call, limitMs: number): Promise<SendResult> => {
    const { operation, url, signal } = call;
    const attempt: { sent?: Promise<SendResult> | undefined } = {};
    // One per request: ky rejects signals of another realm, and adds a listener to the one that it gets.
    const controller = signal && new AbortController();
    const unlink = onAbort(signal, () => controller?.abort());
    const options: Options = {
      ...(isPolluted() && fullyWritten),
      method: operation.method,
      timeout: limitMs,
      ...(controller && { signal: controller.signal }),
      fetch: async (request) => {
        // Not in the Request: reading the body back from its stream costs more than everything else in ky.
        // Node's agent throws where the prototype of all objects is polluted: how far it got is not known.
        attempt.sent = pass(request, call).catch(() => new SendFailure('exchange', 'network'));
        return withoutBody(await attempt.sent);
      },
    };
    try {
      // The result is `attempt.sent`: ky's response has no body, and its errors hold the request and do not say how far it got.
      await client(url, shielded(options));
    } catch {
    } finally {
      unlink();
    }
    // Node itself cannot make a request where every object has a `signal`.
    const code = isPolluted() ? 'polluted_prototype' : undefined;
    const { sent = new SendFailure('connect', 'network', { code }) } = attempt;
    // What ky made stays until the next full garbage collection (docs/decisions/ky.md): it must not hold the body.
    attempt.sent = undefined;
    return sent;
  };
}

/** What ky gets of a response, tagged as it asks for: it keeps that for longer than the call. */
function withoutBody(sent: SendResult): Response {
  if (sent instanceof SendFailure) throw sent;
  const { status } = sent;
  const response = { [Symbol.toStringTag]: 'Response', status, ok: isSuccess(status) };
  if (isResponse(response)) return response;
  throw response;
}

/** By its tag, as ky does it. */
function isResponse(value: object): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]';
}

/** In Node and Deno, `http` costs half as much as fetch and reports more; elsewhere the platform's fetch is used. */
function sendOver({ baseUrl, fetch }: ClientSettings): Send {
  if (fetch) return fetchAdapter(fetch, true);
  return hasNodeHttp() ? nodeHttp(baseUrl) : fetchAdapter((url, init) => globalThis.fetch(url, init), false);
}

function hasNodeHttp(): boolean {
  if (typeof process === 'undefined' || typeof process.getBuiltinModule !== 'function') return false;
  const isWorker = globalThis.navigator?.userAgent === 'Cloudflare-Workers';
  return process.release?.name === 'node' && !process.versions.bun && !isWorker;
}
