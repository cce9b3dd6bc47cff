import { Failure, type Phase } from './failure.js';

/** The part of `Headers` that is used here. */
export interface ResponseHeaders {
  get(name: string): string | null;
  forEach(run: (value: string, name: string) => void): void;
}

/** Reads headers from names and values in turn, as they came: few are asked for, and `Headers` would take them all apart. */
export function headersFrom(raw: readonly string[]): ResponseHeaders {
  const forEach: ResponseHeaders['forEach'] = (run) => {
    for (let index = 0; index < raw.length; index += 2) run(raw[index + 1] ?? '', raw[index] ?? '');
  };
  const get = (name: string) => {
    const values = raw.filter((_, index) => index % 2 === 1 && raw[index - 1]?.toLowerCase() === name);
    return values.length === 0 ? null : values.join(', ');
  };
  return { get, forEach };
}

/** Status and headers, which arrive before the body. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: ResponseHeaders;
}

/** A response of which everything has arrived: the part of `Response` that the transport reads. */
export interface WholeResponse extends ResponseHead {
  bytes(): Promise<Uint8Array>;
}

/** A response that was read to its end. One of the platform's class would stream the body again, and has no status 999. */
export class ReceivedResponse implements WholeResponse {
  /** ky takes what has this tag for a `Response`, and returns it as it is. */
  readonly [Symbol.toStringTag] = 'Response';
  #body: Uint8Array;

  constructor(
    readonly status: number,
    readonly headers: ResponseHeaders,
    body: Uint8Array = new Uint8Array(),
  ) {
    this.#body = body;
  }

  /** Hands the body out once, as a `Response` does: ky keeps the response for longer than the call. */
  async bytes(): Promise<Uint8Array> {
    const body = this.#body;
    this.#body = new Uint8Array();
    return body;
  }
}

/** The progress of one request. It goes with the request, and is read if no response comes back. */
export class RequestProgress {
  /** True once `fetch` was called. */
  isBegun = false;
  phase: Phase = 'connect';
  /** The head of a response whose body may never arrive. */
  head: ResponseHead | undefined;

  /** Notes a response's head, and returns what it settles: the body of a redirect, or of a response that is too large, is not read. */
  noteHead(head: ResponseHead): ReceivedResponse | Failure | undefined {
    const { status, headers } = head;
    if (status === 101) return new Failure('protocol');
    this.phase = 'body';
    this.head = head;
    if (isRedirect(status)) return new ReceivedResponse(status, headers);
    return Number(headers.get('content-length')) > largestBody ? new Failure('too_large') : undefined;
  }
}

/** Returns the encodings of a body, in order: names are case-insensitive (RFC 9110, section 8.4). */
export function encodingsOf(contentEncoding: string | null): string[] {
  const names = contentEncoding?.toLowerCase().split(',') ?? [];
  return names.map((name) => name.trim()).filter((name) => name !== '' && name !== 'identity');
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

export function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/** True if a body calls itself something else than JSON, as a web page or the answer of a proxy does. */
export function hasForeignType({ headers }: ResponseHead): boolean {
  const type = headers.get('content-type') ?? '';
  return type !== '' && !/\bjson\b/i.test(type);
}

/** A larger body is not from the service, and reading stops. Counted after decompression. */
export const largestBody = 8 * 1024 * 1024;
