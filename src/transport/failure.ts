import { isObject } from '../input/object.js';

/** The point that a request reached: `connect`, nothing was sent; `exchange`, it may have been sent; `body`, a response began. */
export type Phase = 'connect' | 'exchange' | 'body';

/** The kind of a failure. Only a `network` failure may be transient; after a timeout, another attempt gets more time. */
export type FailureKind =
  | 'network'
  /** A certificate or a handshake. */
  | 'tls'
  /** The response cannot be read as HTTP. */
  | 'protocol'
  /** The body is not compressed as its headers say. */
  | 'encoding'
  | 'too_large'
  /** The signal ended the request: the time limit, or the caller, whose own reason then counts. */
  | 'timeout'
  /** A mistake of the option `fetch` itself. */
  | 'fetch'
  /** The request could not be made, so that `fetch` was never called. */
  | 'setup';

/** Further facts of a failure. */
interface FailureDetails {
  /** The code of the system or of the library that failed. */
  code?: string | undefined;
  /** The mistake of the option `fetch`, in words that may hold anything. */
  detail?: string | undefined;
  /** The host and port that failed, if they belong to a proxy and not to the service. */
  elsewhere?: string | undefined;
  /** The status with which a proxy refused to open a tunnel. */
  tunnelStatus?: number | undefined;
  /** Another sentence for the message. */
  note?: string | undefined;
  /** The error that the platform threw, if it is safe to show. */
  cause?: unknown;
}

/** The reason for which there is no complete response. It stays inside the transport, which turns it into a public error. */
export class Failure extends Error {
  constructor(
    readonly kind: FailureKind,
    readonly details: FailureDetails = {},
  ) {
    super(kind);
  }
}

/**
 * Codes for a host without an address, a port that nobody listens on, and a proxy that opens no tunnel. The last two codes
 * are Bun's.
 */
const noConnectionCode =
  /^(?:ENOTFOUND|EAI_[A-Z]+|ECONNREFUSED|UND_ERR_CONNECT_TIMEOUT|ERR_PROXY_[A-Z_]+|ConnectionRefused|FailedToOpenSocket)$/;
/** Codes of sockets, undici, Node's streams and HTTP/2, and Bun. */
const lostConnectionCode =
  /^(?:E(?:(?:CONN|HOST|NET)[A-Z]+|NOTCONN|PIPE|TIMEDOUT|ADDRNOTAVAIL)|UND_ERR_(?:SOCKET|INFO|\w+_TIMEOUT)|ERR_(?:STREAM_PREMATURE|SOCKET_C|HTTP2_(?:STREAM|SESSION|GOAWAY))\w+|ABORT_ERR|ConnectionClosed)$/;
/** Codes for a certificate that was refused before the API key was sent. */
const refusedCertificateCode =
  /^(?:CERT_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(?:VERIFY|GET_ISSUER_CERT)_?\w*|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/;

/** The meaning of codes. `isUnsent` is true if a code never stands for a failure after connecting. */
const rules: readonly { code: RegExp; kind: FailureKind; isUnsent?: true }[] = [
  { code: noConnectionCode, kind: 'network', isUnsent: true },
  { code: lostConnectionCode, kind: 'network' },
  { code: refusedCertificateCode, kind: 'tls', isUnsent: true },
  // Any other fault of TLS, even ERR_SSL_WRONG_VERSION_NUMBER, may come after the request was read.
  { code: /^(?:ERR_SSL_|ERR_TLS_|UNABLE_TO_|EPROTO$)/, kind: 'tls' },
  { code: /^(?:HPE_|UND_ERR_HEADERS_OVERFLOW$|UND_ERR_RES_CONTENT_LENGTH)/, kind: 'protocol' },
  // Codes of zlib, and of Brotli, which begin with ERR__ERROR_FORMAT_.
  { code: /^(?:Z_DATA_ERROR|Z_NEED_DICT|ERR_\w*_ERROR_FORMAT_\w+)$/, kind: 'encoding' },
  { code: /^ERR_BUFFER_TOO_LARGE$/, kind: 'too_large' },
  // Arguments that a fetch refuses, such as an agent made for another one.
  { code: /^(?:UND_ERR_INVALID_|ERR_INVALID_)/, kind: 'fetch' },
];

/**
 * Reads an error of any `fetch` or of `node:http`, its causes, and the errors of an AggregateError (one for each
 * address of a host). A system call says more than any code: EHOSTUNREACH comes from `connect`, but also from `read`.
 * `kind` is `undefined` if no code is known. `isUnsent` is true if the error proves that no byte of the request was sent; an
 * error about another host than `target` does not prove it.
 */
export function readError(error: unknown, target?: string) {
  const codes = codesOf(error);
  const code = codes.find(ruleFor) ?? codes[0];
  const isUnsent = provesUnsent(error, target) === true;
  return { kind: ruleFor(code)?.kind ?? (isUnsent ? ('network' as const) : undefined), code, isUnsent };
}

const connectingCalls: readonly unknown[] = ['connect', 'getaddrinfo'];
const deepest = 8;

/** True if the error proves that nothing was sent, false if it does not, `undefined` if nothing in it says so. */
function provesUnsent(error: unknown, target?: string, depth = 0): boolean | undefined {
  if (!isObject(error) || depth > deepest) return undefined;
  if (target && isElsewhere(error, target)) return false;
  const errors = error.errors;
  if (Array.isArray(errors) && errors.length > 0)
    return errors.every((each) => provesUnsent(each, target, depth + 1) === true);
  const syscall = error.syscall ?? error.erroredSysCall; // node-fetch's
  if (syscall !== undefined) return connectingCalls.includes(syscall);
  const code = error.code;
  const byCode = isCode(code) ? ruleFor(code)?.isUnsent === true : undefined;
  return provesUnsent(error.cause, target, depth + 1) ?? byCode;
}

/** True if an error names another host or port, such as those of a proxy, or of another request that a `fetch` makes. */
function isElsewhere(error: Record<string, unknown>, target: string): boolean {
  const named = new URL(target);
  named.hostname = String(error.hostname ?? error.host ?? named.hostname);
  named.port = String(error.port ?? named.port);
  return named.href !== target;
}

/**
 * Returns the host and port of a proxy on the way to `target` that an error names, and the status with which it refused a
 * tunnel.
 */
export function readProxy(error: unknown, target: string) {
  for (const link of linksOf(error)) {
    if (link.code === 'ERR_PROXY_TUNNEL') {
      const elsewhere = / via https?:\/\/(?:[^/\s]*@)?([^/\s]*[^/\s:])/.exec(String(link.message))?.[1];
      return { elsewhere, tunnelStatus: typeof link.statusCode === 'number' ? link.statusCode : undefined };
    }
    const host = link.hostname ?? link.host ?? link.address;
    if (typeof host !== 'string' || !isElsewhere(link, target)) continue;
    const port = link.port === undefined ? '' : `:${link.port}`;
    return { elsewhere: `${host.includes(':') ? `[${host}]` : host}${port}` };
  }
  return {};
}

/** Returns the codes of an error, its causes and the errors of an AggregateError, from the outside in. */
function codesOf(error: unknown): string[] {
  return linksOf(error)
    .map(({ code }) => code)
    .filter(isCode);
}

/** Returns the error, its causes and the errors of an AggregateError, from the outside in. */
function linksOf(error: unknown): Record<string, unknown>[] {
  const links = new Set([error]); // a set ends the loop if an error is its own cause
  for (const link of links) {
    if (!isObject(link) || links.size > 100) continue;
    for (const inner of [link.errors, link.cause].flat()) links.add(inner);
  }
  return [...links].filter(isObject);
}

function ruleFor(code = '') {
  return rules.find((rule) => rule.code.test(code));
}

/** True if a value is a code. The `code` of a DOMException is a number, and a longer text is a message. */
function isCode(code: unknown): code is string {
  return typeof code === 'string' && /^\w{1,60}$/.test(code);
}
