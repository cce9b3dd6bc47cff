/** How `fetch` is called, the option and ours over `node:http`: with strings and plain objects, no `Request`. */
export interface SendInit {
  method: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string | null;
  /** Redirects come back as they are: following one would carry the API key to another origin. */
  redirect: 'manual';
  signal: AbortSignal;
}

/** Sends a request and reads its whole response. Rejects with a `SendFailure` and with nothing else. */
export type Send = (url: string, init: SendInit) => Promise<CompleteResponse>;

/** The part of `Headers` that is read here. */
export interface ResponseHeaders {
  get(name: string): string | null;
  forEach(run: (value: string, name: string) => void): void;
}

/** What comes before a response's body, and already tells what became of the call. */
export interface ResponseHead {
  status: number;
  headers: ResponseHeaders;
}

/** A response whose body was read to the end. ky accepts it as one: see docs/decisions/ky.md. */
export class CompleteResponse implements ResponseHead {
  readonly [Symbol.toStringTag] = 'Response';
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** Decoded; empty for a redirect, whose body is never read. */
  readonly bytes: Uint8Array;

  constructor({ status, headers }: ResponseHead, bytes: Uint8Array) {
    this.status = status;
    this.headers = headers;
    this.bytes = bytes;
  }

  /**
   * Whether a body that breaks off would have been noticed: its end was announced by a length or a last chunk.
   * Platforms return the readable part of a compressed body that was cut, without an error.
   */
  get delimited(): boolean {
    const { headers } = this;
    const announced = headers.get('content-length') !== null || headers.get('transfer-encoding') !== null;
    return announced && headers.get('content-encoding') === null;
  }
}

/** By its name, as ky does it: msw, undici, node-fetch and edge runtimes bring classes of their own. */
export function isResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]';
}

/** What a body was encoded with, in that order: names are case-insensitive (RFC 9110, section 8.4). */
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

/** How far a request came: nothing sent yet, sent, or a response begun. */
export type Phase = 'connect' | 'exchange' | 'body';

/** Why there is no complete response. It stays inside the transport, which turns it into a public error. */
export class SendFailure extends Error {
  readonly phase: Phase;
  /** The system's code, or one of our own: `stopped` (by its signal), `too_large`, `network`, `wrong_url`, `not_a_response`, `not_an_error`. */
  readonly reason: string;
  /** Status and headers, where the response had begun. */
  readonly head: ResponseHead | undefined;

  constructor(phase: Phase, reason: string, head?: ResponseHead) {
    super(reason);
    this.phase = phase;
    this.reason = reason;
    this.head = head;
  }
}

/** More than this is no response of the service, and is read no further. Counted after decompression. */
export const largestBody = 8 * 1024 * 1024;

/** Certificates that were refused, and handshakes that failed. */
const tls = /^(?:ERR_SSL_|ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO$)/;

/** No address, nobody there, no way there, a proxy that opens no tunnel; the last two are Bun's. */
const unreachable =
  /^(?:ENOTFOUND|EAI_[A-Z]+|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_PROXY_[A-Z_]+|ConnectionRefused|FailedToOpenSocket)$/;

/** Whether a code is of a secure connection that could not be made. Another attempt meets it again. */
export function isTlsCode(code: string): boolean {
  return tls.test(code);
}

/** Whether an error tells for certain that no byte of the request went out. */
export function isBeforeSending(error: object): boolean {
  const code = stringField(error, 'code') ?? '';
  if (unreachable.test(code) || tls.test(code)) return true;
  // A host with several addresses fails with one error for each.
  const errors: unknown[] = error instanceof AggregateError ? error.errors : [error];
  return errors.every((each) => each instanceof Error && stringField(each, 'syscall') === 'connect');
}

/** A field of a system's error, which the type of errors does not know. */
export function stringField(error: object, name: 'code' | 'syscall'): string | undefined {
  const field: unknown = Reflect.get(error, name);
  return typeof field === 'string' ? field : undefined;
}
