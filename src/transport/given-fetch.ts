import {
  CompleteResponse,
  isBeforeSending,
  isRedirect,
  isResponse,
  largestBody,
  type Phase,
  type ResponseHead,
  type ResponseHeaders,
  type Send,
  SendFailure,
  type SendInit,
  stringField,
} from './fetch-contract.js';
import { shielded } from './shield.js';

/**
 * A function shaped like `fetch`: that of the platform, undici, node-fetch or a test. It is called
 * with a URL string and plain objects, since it may have its own `Request` and `Headers` classes.
 */
export type Fetch = (
  url: string,
  init: SendInit,
) => Promise<{ status: number; headers: ResponseHeaders; body: unknown }>;

/** Sends through the option `fetch`, or through the platform's own. */
export function givenFetch(fetch: Fetch): Send {
  return (url, init) => {
    const { signal } = init;
    // Only the code of its error shows whether a `fetch` was still connecting.
    let phase: Phase = 'exchange';
    let head: ResponseHead | undefined;
    const response = async () => {
      const given: unknown = await fetch(url, shielded(init));
      if (!isResponse(given)) throw new SendFailure('exchange', 'not_a_response');
      if (given.type === 'error') throw new SendFailure('exchange', 'network');
      phase = 'body';
      const { headers, body } = given;
      const status = given.type === 'opaqueredirect' ? 302 : given.status;
      head = { status, headers };
      if (isRedirect(status)) {
        leave(body);
        return new CompleteResponse(head, new Uint8Array());
      }
      return new CompleteResponse(head, await readBody(given, head));
    };
    return new Promise((resolve, reject) => {
      // Not every `fetch` obeys its signal.
      const stop = () => reject(new SendFailure(phase, 'stopped', head));
      signal.addEventListener('abort', stop);
      response()
        .then(resolve, (error: unknown) => reject(failureOf(error, phase, head)))
        .finally(() => signal.removeEventListener('abort', stop));
    });
  };
}

/** Web streams and Node streams (node-fetch) can both be iterated; those of older Safari cannot. */
async function readBody(response: Response, head: ResponseHead): Promise<Uint8Array> {
  const { body } = response;
  const tooLarge = new SendFailure('body', 'too_large', head);
  if (Number(head.headers.get('content-length')) > largestBody) {
    leave(body);
    throw tooLarge;
  }
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of isIterable(body) ? body : [new Uint8Array(await response.arrayBuffer())]) {
    size += chunk.byteLength;
    // Leaving the loop cancels the stream.
    if (size > largestBody) throw tooLarge;
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

function isIterable(body: unknown): body is AsyncIterable<Uint8Array<ArrayBuffer>> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}

/** Discards a body that is not read, and closes its connection: a web stream or a Node stream. */
function leave(body: unknown): void {
  if (typeof body !== 'object' || body === null) return;
  const end: unknown = Reflect.get(body, 'cancel') ?? Reflect.get(body, 'destroy');
  if (typeof end === 'function') Promise.resolve(end.call(body)).catch(() => {});
}

function failureOf(error: unknown, phase: Phase, head: ResponseHead | undefined): SendFailure {
  try {
    if (error instanceof SendFailure) return error;
    for (const link of causes(error)) {
      const code = stringField(link, 'code') ?? parserFault(link);
      if (code === undefined) continue;
      const unsent = phase === 'exchange' && isBeforeSending(link);
      return new SendFailure(unsent ? 'connect' : phase, code, head);
    }
    const reason = typeof error === 'object' && error !== null ? 'network' : 'not_an_error';
    return new SendFailure(phase, reason, head);
  } catch {
    // Its fields throw.
    return new SendFailure(phase, 'not_an_error', head);
  }
}

/** A response that is not HTTP has a code in Node 20 and 22, and only a name from 24 on. */
function parserFault(error: object): string | undefined {
  return error instanceof Error && error.name === 'HTTPParserError' ? 'protocol' : undefined;
}

/** The error, its causes, and the errors of an AggregateError (happy eyeballs), outermost first. */
function causes(error: unknown): object[] {
  const found: object[] = [];
  let link = error;
  while (typeof link === 'object' && link !== null && found.length < 8) {
    found.push(link);
    if (link instanceof AggregateError) found.push(...link.errors.filter((inner) => inner instanceof Error));
    link = 'cause' in link ? link.cause : undefined;
  }
  return found;
}
