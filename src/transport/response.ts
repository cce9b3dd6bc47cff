import { Failure, type Phase } from './failure.js';

/** The part of `Headers` that is used here. */
export interface ResponseHeaders {
  get(name: string): string | null;
  forEach(run: (value: string, name: string) => void): void;
}

/** Returns headers from a list of alternating names and values. Few of them are read, and `Headers` would parse them all. */
export function headersFrom(raw: readonly string[]): ResponseHeaders {
  const forEach: ResponseHeaders['forEach'] = (run) => {
    for (let index = 0; index < raw.length; index += 2) run(raw[index + 1] ?? '', raw[index] ?? '');
  };
  const get = (name: string) => {
    let found: string | null = null;
    forEach((value, each) => {
      if (each.length === name.length && each.toLowerCase() === name)
        found = found === null ? value : `${found}, ${value}`;
    });
    return found;
  };
  return { get, forEach };
}

/** The status and headers of a response, which arrive before the body. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: ResponseHeaders;
}

/** A response that has arrived completely, with the part of `Response` that the transport reads. */
export interface WholeResponse extends ResponseHead {
  bytes(): Promise<Uint8Array>;
}

/**
 * A response that was read to its end. The platform's `Response` would stream the body again, and refuses a status such as
 * 999.
 */
export class ReceivedResponse implements WholeResponse {
  /** The tag by which ky takes this object for a `Response`, and returns it unchanged. */
  readonly [Symbol.toStringTag] = 'Response';
  #body: Uint8Array;

  constructor(
    readonly status: number,
    readonly headers: ResponseHeaders,
    body: Uint8Array = new Uint8Array(),
  ) {
    this.#body = body;
  }

  /**
   * Returns the body once, as a `Response` does, so that it is not held by ky, which keeps the response for longer than the
   * call.
   */
  async bytes(): Promise<Uint8Array> {
    const body = this.#body;
    this.#body = new Uint8Array();
    return body;
  }
}

/** The progress of one request. It is passed with the request, and read if no response comes back. */
export class RequestProgress {
  /** True once `fetch` was called. */
  isBegun = false;
  phase: Phase = 'connect';
  /** The head of a response whose body may never arrive. */
  head: ResponseHead | undefined;

  /**
   * Records the head of a response. Returns the result if the head decides it: a redirect, a body that is too large, or a
   * 101, whose bodies are not read.
   */
  noteHead(head: ResponseHead): ReceivedResponse | Failure | undefined {
    const { status, headers } = head;
    if (status === 101) return new Failure('protocol');
    this.phase = 'body';
    this.head = head;
    if (isRedirect(status)) return new ReceivedResponse(status, headers);
    return Number(headers.get('content-length')) > largestBody ? new Failure('too_large') : undefined;
  }
}

/**
 * Returns the encodings of a body in order and in lower case, because their names are case-insensitive (RFC 9110, section
 * 8.4).
 */
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

/** True if a body has a content type other than JSON, as a web page or a proxy's response has. */
export function hasForeignType({ headers }: ResponseHead): boolean {
  const type = headers.get('content-type') ?? '';
  return type !== '' && !/\bjson\b/i.test(type);
}

/** The largest body in bytes, counted after decompression. A larger body does not come from the service, so reading stops. */
export const largestBody = 8 * 1024 * 1024;
