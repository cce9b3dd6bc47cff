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

/** The second argument of `fetch`, of the option and of ours over `node:http`: plain data, no `Request`. */
export interface FetchInit {
  method: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string | null;
  /** Redirects are not followed: that could send the API key to another origin. */
  redirect: 'manual';
  signal: AbortSignal;
}

/**
 * A function shaped like `fetch`: that of the platform, undici, node-fetch or a test. It is called
 * with a URL string and plain objects, since it may have its own `Request` and `Headers` classes.
 */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

/** The part of a `Response` that is used: those of tests need a `body` that can be iterated, or `arrayBuffer()`. */
interface FetchResponse {
  status: number;
  headers: Pick<ResponseHeaders, 'forEach'>;
  body: unknown;
  bodyUsed?: boolean;
  type?: string;
  arrayBuffer?(): Promise<ArrayBuffer>;
}

/** Sends a request and resolves to its whole response, or rejects with a `Failure`. It notes how far it came on `progress`. */
export type Carrier = (url: string, init: FetchInit, progress: RequestProgress) => Promise<ReceivedResponse>;

/** Sends through the option `fetch`, or through the platform's own, which makes no mistakes of its own. */
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

/** Reads a response to its end; `refuse` ends the wait for it before the body has been let go of. */
async function readResponse(
  response: unknown,
  progress: RequestProgress,
  refuse: (failure: Failure) => void,
) {
  if (!isFetchResponse(response)) throw new Failure('fetch', { detail: 'returned no Response' });
  if (response.type === 'error') throw new Failure('network');
  // Read here, where what they throw is a mistake of that fetch.
  const raw: string[] = [];
  response.headers.forEach((value, name) => {
    raw.push(name, value);
  });
  const status = response.type === 'opaqueredirect' ? 302 : response.status;
  const headers = headersFrom(raw);
  const settled = progress.noteHead({ status, headers });
  if (settled) discard(response.body);
  if (settled instanceof Failure) throw settled;
  return settled ?? new ReceivedResponse(status, headers, await bodyOf(response, refuse));
}

/** Reads a body: web streams and Node streams (node-fetch, which may be of text) can be iterated, but not those of older Safari. */
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
    // Leaving the loop cancels the stream, and waits until any clone of it is read or cancelled, too.
    refuse(new Failure('too_large'));
    return new Uint8Array();
  }
  return joined(chunks, size);
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

/** True if a value has the shape of a `Response`: each `fetch` has classes of its own, and tests have none. */
function isFetchResponse(value: unknown): value is FetchResponse {
  if (!isObject(value) || typeof value.status !== 'number' || !isObject(value.headers)) return false;
  const isReadable = isIterable(value.body) || 'arrayBuffer' in value;
  return isReadable && 'forEach' in value.headers;
}

function isIterable(body: unknown): body is AsyncIterable<Uint8Array | string> {
  return isObject(body) && Symbol.asyncIterator in body;
}

/** Discards a body that is not read, and closes its connection: a web stream or a Node stream. */
function discard(body: unknown): void {
  const end = isObject(body) ? (body.cancel ?? body.destroy) : undefined;
  if (typeof end === 'function') Promise.resolve(end.call(body)).catch(() => {});
}

/**
 * Reads what a `fetch` threw, by its codes, and without a code by its words. `target` is the URL of a request that the
 * option `fetch` sent.
 */
function failureFrom(error: unknown, progress: RequestProgress, target: string | undefined): Failure {
  const detail = `threw ${inWords(error)}`;
  // To undici a 101 is a failure of its socket.
  const { kind, code, unsent } = readError(detail.endsWith(': bad upgrade') ? undefined : error, target);
  // Only its error shows whether a `fetch` was still connecting.
  if (unsent && progress.phase === 'exchange') progress.phase = 'connect';
  const known = kind ?? kindInWords(detail, code);
  // Within a body, an error without a code is that of the stream.
  const isMistake = target !== undefined && (progress.phase !== 'body' || code !== undefined);
  return new Failure(known === 'fetch' && !isMistake ? 'network' : known, {
    code,
    detail: target === undefined ? undefined : detail,
    ...(target && readProxy(error, target)),
  });
}

/** Returns what the words say of an error without a code that is known: a code of its own is no network's. */
function kindInWords(detail: string, code: string | undefined): FailureKind {
  // A 101, and what is not HTTP: from Node 24 on without a code.
  if (/: bad upgrade$|HTTPParserError: /.test(detail)) return 'protocol';
  return code === undefined && noConnection.test(detail) ? 'network' : 'fetch';
}

/**
 * The words for a connection that failed in Chrome, Firefox, Safari, Node, Deno, Bun and Cloudflare. A port that the Fetch
 * standard forbids is none: no other attempt changes it.
 */
const noConnection =
  /^threw (?!.*: bad port$)(?:AbortError|TimeoutError|\w+: {1,2}(?:fetch failed|terminated|(?:a )?network error|failed to fetch|load failed|networkerror when|error sending request|network (?:request failed|connection lost)|the internet connection))/i;

/** Words the error and its causes: the outermost is often only "fetch failed". */
function inWords(error: unknown): string {
  const links: string[] = [];
  let link = error;
  while (isError(link) && links.length < 4) {
    links.push(`${link.name}: ${link.message}`);
    link = link.cause;
  }
  return links.length === 0 ? String(error) : links.join(', caused by ');
}

/** True if a value has the shape of an error: Jest and vm contexts have an Error of their own. */
function isError(value: unknown): value is Error {
  return isObject(value) && typeof value.message === 'string';
}
