/** One request as it goes out. */
export interface Outgoing {
  method: string;
  /** The whole URL, and its part from the path on. */
  url: string;
  target: string;
  /** Names in lower case. An object, not Node's faster list: OpenTelemetry and Node's proxies read no other form. */
  headers: Readonly<Record<string, string>>;
  body: string | undefined;
}

/** What comes before an answer's body, and says already what became of the call. */
export interface AnswerHead {
  status: number;
  header(name: string): string | null;
}

/** One answer, its body read to the end. */
export interface Answer extends AnswerHead {
  headers(): Headers;
  /** Decoded bytes; empty for a redirect, whose body is never read. */
  body: Uint8Array;
  /** Whether a body that breaks off would have been noticed: its end was announced by a length or a last chunk. */
  delimited: boolean;
}

/** How far an exchange came: nothing sent yet, sent, or answered in part. */
export type Phase = 'connect' | 'exchange' | 'body';

/** Why an exchange gave no answer. It stays inside the transport, which turns it into a public error. */
export class ExchangeFailure extends Error {
  readonly phase: Phase;
  /** The system's code, or one of our own: `timeout`, `aborted`, `too_large`, `network`, `wrong_url`, `not_a_response`, `not_an_error`. */
  readonly reason: string;
  /** The head of the answer, where it had begun. */
  readonly head: AnswerHead | undefined;

  constructor(phase: Phase, reason: string, head?: AnswerHead) {
    super(reason);
    this.phase = phase;
    this.reason = reason;
    this.head = head;
  }
}

/** An exchange under way. `answer` rejects with an `ExchangeFailure` and with nothing else. */
export interface Exchange {
  answer: Promise<Answer>;
  /** Ends it at once: `answer` rejects with this reason and the phase it had come to. */
  stop(reason: 'timeout' | 'aborted'): void;
}

/** A way to carry requests. */
export interface Carrier {
  begin(outgoing: Outgoing): Exchange;
}

/** More than this is not an answer of the service, and is read no further. Counted after decompression. */
export const largestBody = 8 * 1024 * 1024;

/** Certificates that were refused, and handshakes that were none. */
const tls = /^(?:ERR_SSL_|ERR_TLS_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO$)/;

/** No address, nobody there, no way there, a proxy that opens no tunnel; the last two are Bun's. */
const unreachable =
  /^(?:ENOTFOUND|EAI_[A-Z]+|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_PROXY_[A-Z_]+|ConnectionRefused|FailedToOpenSocket)$/;

/** Whether a code belongs to a secure connection that did not come about. Another try meets it again. */
export function isTlsCode(code: string): boolean {
  return tls.test(code);
}

/** Whether an error tells for certain that no byte of the request went out. */
export function isBeforeSending(error: object): boolean {
  const code = textField(error, 'code') ?? '';
  if (unreachable.test(code) || tls.test(code)) return true;
  // A host with several addresses fails with one error for each.
  const errors: unknown[] = error instanceof AggregateError ? error.errors : [error];
  return errors.every((each) => each instanceof Error && textField(each, 'syscall') === 'connect');
}

/** A field of a system's error, which the type of errors does not know. */
export function textField(error: object, name: 'code' | 'syscall'): string | undefined {
  const field: unknown = Reflect.get(error, name);
  return typeof field === 'string' ? field : undefined;
}
