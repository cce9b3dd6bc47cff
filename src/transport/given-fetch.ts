import { isObject } from '../input/object.js';
import { onAbort } from './aborts.js';
import { Failure, type FailureKind, readError, readProxy } from './failure.js';
import {
  headersFrom,
  largestBody,
  ReceivedResponse,
  type RequestProgress,
  type ResponseHeaders,
} from './response.js';

/** The second argument of a `fetch`, either the option or the built-in one over `node:http`: plain data, no `Request`. */
export interface FetchInit {
  method: string;
  /** The headers of the request, names in lower case. */
  headers: Record<string, string>;
  body: string | null;
  /** Redirects must not be followed, because that could send the API key to another origin. */
  redirect: 'manual';
  signal: AbortSignal;
}

/**
 * A function with the signature of `fetch`, from the platform, undici, node-fetch or a test. It is called with a URL string
 * and plain objects, because it may have its own `Request` and `Headers` classes.
 */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

/** The part of a `Response` that is used. A test's response needs a `body` that can be iterated, or `arrayBuffer()`. */
interface FetchResponse {
  status: number;
  headers: Pick<ResponseHeaders, 'forEach'>;
  body: unknown;
  bodyUsed?: boolean;
  type?: string;
  arrayBuffer?(): Promise<ArrayBuffer>;
}

/**
 * A function that sends a request and resolves to its whole response, or rejects with a `Failure`. It records in `progress`
 * the point that the request reached.
 */
export type Carrier = (url: string, init: FetchInit, progress: RequestProgress) => Promise<ReceivedResponse>;

/**
 * Returns a carrier that sends through the option `fetch`, or through the platform's `fetch`, whose errors are never
 * reported as the caller's mistake.
 */
export function givenFetch(fetch: Fetch, isOption: boolean): Carrier {
  return (url, init, progress) =>
    new Promise((resolve, reject) => {
      progress.phase = 'exchange';
      // Not every `fetch` obeys its signal.
      const forget = onAbort(init.signal, () => reject(new Failure('timeout')));
      fetch(url, init)
        .then((response) => readResponse(response, progress, reject))
        .catch((error: unknown) => {
          if (error instanceof Failure) throw error;
          throw failureFrom(error, progress, isOption ? url : undefined);
        })
        .then(resolve, reject)
        .finally(forget);
    });
}

/** Reads a response to its end. `refuse` rejects at once, before the body is cancelled. */
async function readResponse(
  response: unknown,
  progress: RequestProgress,
  refuse: (failure: Failure) => void,
) {
  if (!isFetchResponse(response)) throw new Failure('fetch', { detail: 'returned no Response' });
  if (response.type === 'error') throw new Failure('network');
  // The headers are read inside the promise of `fetch`, so that an exception counts as a mistake of that `fetch`.
  const raw: string[] = [];
  response.headers.forEach((value, name) => {
    raw.push(name, value);
  });
  const status = response.type === 'opaqueredirect' ? 302 : response.status;
  const headers = headersFrom(raw);
  const result = progress.noteHead({ status, headers });
  if (result) discard(response.body);
  if (result instanceof Failure) throw result;
  return result ?? new ReceivedResponse(status, headers, await bodyOf(response, refuse));
}

/**
 * Reads a body. Web streams and Node streams (of node-fetch, maybe with strings) can be iterated; in older Safari they
 * cannot.
 */
async function bodyOf(response: FetchResponse, refuse: (failure: Failure) => void): Promise<Uint8Array> {
  const { body } = response;
  if (response.bodyUsed) {
    const detail = 'returned a Response whose body was read already: read a clone() of it instead';
    throw new Failure('fetch', { detail });
  }
  if (!isIterable(body)) {
    const whole = new Uint8Array((await response.arrayBuffer?.()) ?? []);
    if (whole.byteLength > largestBody) throw new Failure('too_large');
    return whole;
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    const chunk = typeof part === 'string' ? new TextEncoder().encode(part) : part;
    size += chunk.byteLength;
    chunks.push(chunk);
    if (size <= largestBody) continue;
    // Leaving the loop cancels the stream, but only after every clone of it is read or cancelled as well.
    refuse(new Failure('too_large'));
    return new Uint8Array();
  }
  return concatenate(chunks, size);
}

function concatenate(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

/** True if a value has the shape of a `Response`. Its class says nothing: each `fetch` has its own, and tests have none. */
function isFetchResponse(value: unknown): value is FetchResponse {
  if (!isObject(value) || typeof value.status !== 'number' || !isObject(value.headers)) return false;
  const isReadable = isIterable(value.body) || 'arrayBuffer' in value;
  return isReadable && 'forEach' in value.headers;
}

function isIterable(body: unknown): body is AsyncIterable<Uint8Array | string> {
  return isObject(body) && Symbol.asyncIterator in body;
}

/** Discards the unread body, a web stream or a Node stream, and closes its connection. */
function discard(body: unknown): void {
  const end = isObject(body) ? (body.cancel ?? body.destroy) : undefined;
  if (typeof end === 'function') Promise.resolve(end.call(body)).catch(() => {});
}

/**
 * Returns the failure for an error that a `fetch` threw, by its codes or, if it has none, by its message. `target` is the URL of
 * a request that the option `fetch` sent.
 */
function failureFrom(error: unknown, progress: RequestProgress, target: string | undefined): Failure {
  const detail = `threw ${describeError(error)}`;
  // undici reports a 101 as a failure of its socket.
  const { kind, code, isUnsent } = readError(detail.endsWith(': bad upgrade') ? undefined : error, target);
  // Only the error shows that a `fetch` was still connecting.
  if (isUnsent && progress.phase === 'exchange') progress.phase = 'connect';
  const known = kind ?? kindFromMessage(detail, code);
  // An error without a code comes from the stream if the body was being read.
  const isMistake = target !== undefined && (progress.phase !== 'body' || code !== undefined);
  return new Failure(known === 'fetch' && !isMistake ? 'network' : known, {
    code,
    detail: target === undefined ? undefined : detail,
    ...(target && readProxy(error, target)),
  });
}

/** Returns the kind of an error without a known code, by its message. An error with an unknown code is no network failure. */
function kindFromMessage(detail: string, code: string | undefined): FailureKind {
  // From Node 24 on, a 101 and a response that is not HTTP have no code.
  if (/: bad upgrade$|HTTPParserError: /.test(detail)) return 'protocol';
  return code === undefined && noConnectionMessage.test(detail) ? 'network' : 'fetch';
}

/**
 * The messages for a failed connection in Chrome, Firefox, Safari, Node, Deno, Bun and Cloudflare. A port that the Fetch
 * standard forbids is excluded, because another attempt fails in the same way.
 */
const noConnectionMessage =
  /^threw (?!.*: bad port$)(?:AbortError|TimeoutError|\w+: {1,2}(?:fetch failed|terminated|(?:a )?network error|failed to fetch|load failed|networkerror when|error sending request|network (?:request failed|connection lost)|the internet connection))/i;

/** Returns the messages of the error and its causes, because the outermost message is often only "fetch failed". */
function describeError(error: unknown): string {
  const links: string[] = [];
  let link = error;
  while (isError(link) && links.length < 4) {
    links.push(`${link.name}: ${link.message}`);
    link = link.cause;
  }
  return links.length === 0 ? String(error) : links.join(', caused by ');
}

/** True if a value has the shape of an error. `instanceof` fails here, as Jest and vm contexts have their own `Error`. */
function isError(value: unknown): value is Error {
  return isObject(value) && typeof value.message === 'string';
}
