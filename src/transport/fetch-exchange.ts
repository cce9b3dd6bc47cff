import {
  type Answer,
  type AnswerHead,
  type Carrier,
  ExchangeFailure,
  isBeforeSending,
  largestBody,
  type Outgoing,
  type Phase,
  textField,
} from './exchange.js';
import { shielded } from './shield.js';

/**
 * Exchanges through a function of the Fetch standard's shape: the option `fetch`, or the platform's own where
 * Node's `http` is not the better choice.
 */
export function fetchCarrier(fetch: typeof globalThis.fetch): Carrier {
  return {
    begin(outgoing) {
      const controller = new AbortController();
      let phase: Phase = 'exchange';
      let head: AnswerHead | undefined;
      let stop = (_reason: string) => {};
      const stopped = new Promise<never>((_, reject) => {
        stop = (reason) => {
          reject(new ExchangeFailure(phase, reason, head));
          controller.abort();
        };
      });

      const exchange = async (): Promise<Answer> => {
        const response: unknown = await fetch(requestOf(outgoing), {
          signal: controller.signal,
          redirect: 'manual',
        });
        if (!isResponse(response)) throw new ExchangeFailure(phase, 'not_a_response');
        phase = 'body';
        const { headers } = response;
        const status = response.type === 'opaqueredirect' ? 302 : response.status;
        head = { status, header: (name) => headers.get(name) };
        const redirects = status >= 300 && status < 400;
        if (redirects) void response.body?.cancel().catch(() => {});
        return {
          ...head,
          headers: () => headers,
          body: redirects ? new Uint8Array() : await readBody(response, head),
          // Platforms hand out the readable part of a compressed body that was cut, without a word.
          delimited:
            (headers.has('content-length') || headers.has('transfer-encoding')) &&
            !headers.has('content-encoding'),
        };
      };
      const answer = exchange().catch((error: unknown) => {
        throw error instanceof ExchangeFailure ? error : classify(error, phase, head);
      });
      return { answer: Promise.race([answer, stopped]), stop };
    },
  };
}

function requestOf({ url, method, headers, body }: Outgoing): Request {
  return new Request(url, shielded({ method, headers: { ...headers }, body: body ?? null }));
}

async function readBody(response: Response, head: AnswerHead): Promise<Uint8Array> {
  const tooLarge = new ExchangeFailure('body', 'too_large', head);
  if (Number(head.header('content-length')) > largestBody) {
    void response.body?.cancel().catch(() => {});
    throw tooLarge;
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > largestBody) {
      void reader.cancel().catch(() => {});
      throw tooLarge;
    }
    chunks.push(value);
  }
  return concatenate(chunks, size);
}

function concatenate(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}

/** A Response of any realm: msw, undici and edge runtimes bring classes of their own. */
function isResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]';
}

function classify(error: unknown, phase: Phase, head: AnswerHead | undefined): ExchangeFailure {
  for (const link of causes(error)) {
    const code = textField(link, 'code') ?? parserFault(link);
    if (code === undefined) continue;
    const unsent = isBeforeSending(link);
    return new ExchangeFailure(phase === 'exchange' && unsent ? 'connect' : phase, code, head);
  }
  return new ExchangeFailure(
    phase,
    typeof error === 'object' && error !== null ? 'network' : 'not_an_error',
    head,
  );
}

/** An answer that is not HTTP has a code in Node 20 and 22, and from 24 on a name alone. */
function parserFault(error: object): string | undefined {
  return error instanceof Error && error.name === 'HTTPParserError' ? error.name : undefined;
}

/** The error, its causes, and what happy eyeballs collects in an AggregateError, outermost first. */
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
