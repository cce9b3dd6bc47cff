import { isObject, shielded } from '../input/object.js';
import { onAbort } from './aborts.js';
import {
  type CompleteResponse,
  headersFrom,
  isRedirect,
  largestBody,
  type ResponseHead,
  type ResponseHeaders,
} from './response.js';
import { type FailureKind, readError, SendFailure } from './send-failure.js';

/** The second argument of `fetch`, of the option and of ours over `node:http`: plain data, no `Request`. */
export interface SendInit {
  method: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string | null;
  /** Redirects are not followed: that could send the API key to another origin. */
  redirect: 'manual';
  signal: AbortSignal;
}

/** A whole response, or why there is none. */
export type SendResult = CompleteResponse | SendFailure;

/** Sends a request and reads its whole response. Never rejects. */
export type Send = (url: string, init: SendInit) => Promise<SendResult>;

/**
 * A function shaped like `fetch`: that of the platform, undici, node-fetch or a test. It is called
 * with a URL string and plain objects, since it may have its own `Request` and `Headers` classes.
 */
export type Fetch = (url: string, init: SendInit) => Promise<FetchResponse>;

/** What is used of a `Response`: those of tests need a `body` that can be iterated, or `arrayBuffer()`. */
interface FetchResponse {
  status: number;
  headers: Pick<ResponseHeaders, 'forEach'>;
  body: unknown;
  bodyUsed?: boolean;
  type?: string;
  arrayBuffer?(): Promise<ArrayBuffer>;
}

/** What the head of a response settles, so that its body is not read. */
export function settledBy(head: ResponseHead): SendResult | undefined {
  const { status, headers } = head;
  if (status === 101) return new SendFailure('exchange', 'protocol');
  if (isRedirect(status)) return { status, headers, bytes: new Uint8Array() };
  const isTooLarge = Number(headers.get('content-length')) > largestBody;
  return isTooLarge ? new SendFailure('body', 'too_large', { head }) : undefined;
}

/** Sends through the option `fetch`, or through the platform's own, which makes no mistakes of its own. */
export function fetchAdapter(fetch: Fetch, isOption: boolean): Send {
  return (url, init) =>
    new Promise((resolve) => {
      let head: Required<ResponseHead> | undefined;
      const send = async (): Promise<SendResult> => {
        const response: unknown = await fetch(url, shielded(init));
        if (!isFetchResponse(response))
          return new SendFailure('exchange', 'fetch', { detail: 'returned no Response' });
        if (response.type === 'error') return new SendFailure('exchange', 'network');
        // Read here, where what they throw is a mistake of that fetch.
        const raw: string[] = [];
        response.headers.forEach((value, name) => {
          raw.push(name, value);
        });
        const headers = headersFrom(raw);
        head = { status: response.type === 'opaqueredirect' ? 302 : response.status, headers, chunks: [] };
        const settled = settledBy(head);
        if (!settled) return readBody(response, head, resolve);
        discard(response.body);
        return settled;
      };
      const failureOf = (error: unknown) => {
        const { kind, code, unsent, detail } = read(error, isOption ? url : undefined);
        // Only its error shows whether a `fetch` was still connecting. Within a body, one without a code is that of the stream.
        const isMistake = isOption && (!head || code !== undefined);
        return new SendFailure(
          head ? 'body' : unsent ? 'connect' : 'exchange',
          kind === 'fetch' && !isMistake ? 'network' : kind,
          { code, head, detail: isOption ? detail : undefined },
        );
      };
      // Not every `fetch` obeys its signal.
      const stop = () => resolve(new SendFailure(head ? 'body' : 'exchange', 'stopped', { head }));
      const forget = onAbort(init.signal, stop);
      send().catch(failureOf).then(resolve).finally(forget);
    });
}

type Settle = (result: SendResult) => void;

/** Web streams and Node streams (node-fetch, which may be of text) can both be iterated; those of older Safari cannot. */
async function readBody(response: FetchResponse, head: Required<ResponseHead>, settle: Settle) {
  const { body } = response;
  if (response.bodyUsed) {
    const detail = 'returned a Response whose body was read already: read a clone() of it instead';
    return new SendFailure('body', 'fetch', { head, detail });
  }
  const { status, headers, chunks } = head;
  let size = 0;
  const parts = isIterable(body) ? body : [new Uint8Array((await response.arrayBuffer?.()) ?? [])];
  for await (const part of parts) {
    const chunk = typeof part === 'string' ? new TextEncoder().encode(part) : part;
    size += chunk.byteLength;
    if (size > largestBody) {
      const failure = new SendFailure('body', 'too_large', { head });
      // Leaving the loop cancels the stream, and waits until any clone of it is read or cancelled, too.
      settle(failure);
      return failure;
    }
    chunks.push(chunk);
  }
  return { status, headers, bytes: new Uint8Array(await new Blob(chunks).arrayBuffer()) };
}

/** By shape: each `fetch` has classes of its own, and tests have none. */
function isFetchResponse(value: unknown): value is FetchResponse {
  if (!isObject(value) || typeof value.status !== 'number' || !isObject(value.headers)) return false;
  const isReadable = isIterable(value.body) || 'arrayBuffer' in value;
  return isReadable && 'forEach' in value.headers;
}

function isIterable(body: unknown): body is AsyncIterable<Uint8Array<ArrayBuffer> | string> {
  return isObject(body) && Symbol.asyncIterator in body;
}

/** Discards a body that is not read, and closes its connection: a web stream or a Node stream. */
function discard(body: unknown): void {
  const end = isObject(body) ? (body.cancel ?? body.destroy) : undefined;
  if (typeof end === 'function') Promise.resolve(end.call(body)).catch(() => {});
}

/** What was thrown, and what it says; without a code, words tell a connection from a mistake. */
function read(error: unknown, target: string | undefined) {
  try {
    const detail = `threw ${inWords(error)}`;
    // To undici a 101 is a failure of its socket.
    const evidence = readError(detail.endsWith(': bad upgrade') ? undefined : error, target);
    return { ...evidence, kind: evidence.kind ?? kindInWords(detail, evidence.code), detail };
  } catch {
    // Its fields throw.
    const detail = 'threw something that cannot be read';
    return { kind: 'fetch' as const, code: undefined, unsent: false, detail };
  }
}

/** What the words say of an error without a code that is known: a code of its own is no network's. */
function kindInWords(detail: string, code: string | undefined): FailureKind {
  // A 101, and what is not HTTP: from Node 24 on without a code.
  if (/: bad upgrade$|HTTPParserError: /.test(detail)) return 'protocol';
  return code === undefined && noConnection.test(detail) ? 'network' : 'fetch';
}

/**
 * How platforms name a connection that failed: Chrome, Firefox, Safari, Node, Deno, Bun, Cloudflare. The Fetch standard
 * forbids some ports, which no other attempt changes.
 */
const noConnection =
  /^threw (?!.*: bad port$)(?:AbortError|TimeoutError|\w+: {1,2}(?:fetch failed|terminated|(?:a )?network error|failed to fetch|load failed|networkerror when|error sending request|network (?:request failed|connection lost)|the internet connection))/i;

/** The error and its causes: the outermost is often only "fetch failed". */
function inWords(error: unknown): string {
  const links: string[] = [];
  let link = error;
  while (isError(link) && links.length < 4) {
    links.push(`${link.name}: ${link.message}`);
    link = link.cause;
  }
  return links.length === 0 ? String(error) : links.join(', caused by ');
}

/** By shape: Jest and vm contexts have an Error of their own. */
function isError(value: unknown): value is Error {
  return isObject(value) && typeof value.message === 'string';
}
