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

/** Sends a request and reads its whole response. Rejects only with a `SendFailure`. */
export type Send = (url: string, init: SendInit) => Promise<CompleteResponse>;

/** The part of `Headers` that is used here. */
export interface ResponseHeaders {
  get(name: string): string | null;
  forEach(run: (value: string, name: string) => void): void;
}

/** Status and headers, which arrive before the body and already show the outcome of the call. */
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
   * Whether a truncated body would have been noticed: its end is marked by a length or a last chunk.
   * For a truncated compressed body, platforms return the readable part without an error.
   */
  get delimited(): boolean {
    const { headers } = this;
    const announced = headers.get('content-length') !== null || headers.get('transfer-encoding') !== null;
    return announced && headers.get('content-encoding') === null;
  }
}

/** By its tag, as ky does: msw, undici, node-fetch and edge runtimes have their own classes. */
export function isResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]';
}

/** The encodings of a body, in order: names are case-insensitive (RFC 9110, section 8.4). */
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

/** How far a request got: nothing sent yet, sent, or a response begun. */
export type Phase = 'connect' | 'exchange' | 'body';

/** Why there is no complete response. It stays inside the transport, which turns it into a public error. */
export class SendFailure extends Error {
  readonly phase: Phase;
  /** The system's code, or one of our own: `stopped` (by its signal), `too_large`, `network`, `protocol` (not HTTP), `wrong_url`, `not_a_response`, `not_an_error`. */
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

/** A larger body is not from the service, and reading stops. Counted after decompression. */
export const largestBody = 8 * 1024 * 1024;

/** No address, connection refused, no route, no tunnel through the proxy; the last two are Bun's. */
const unreachable =
  /^(?:ENOTFOUND|EAI_[A-Z]+|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_PROXY_[A-Z_]+|ConnectionRefused|FailedToOpenSocket)$/;

/** Whether a code is a rejected certificate or a failed handshake, which a retry would repeat. */
export function isTlsCode(code: string): boolean {
  return /^(?:ERR_SSL_|ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO$)/.test(
    code,
  );
}

/** Whether an error proves that no byte of the request was sent. */
export function isBeforeSending(error: object): boolean {
  const code = stringField(error, 'code') ?? '';
  if (unreachable.test(code) || isTlsCode(code)) return true;
  // A host with several addresses fails with one error for each.
  const errors: unknown[] = error instanceof AggregateError ? error.errors : [error];
  return errors.every((each) => each instanceof Error && stringField(each, 'syscall') === 'connect');
}

/** A field of a system error that the type `Error` lacks. */
export function stringField(error: object, name: 'code' | 'syscall'): string | undefined {
  const field: unknown = Reflect.get(error, name);
  return typeof field === 'string' ? field : undefined;
}
