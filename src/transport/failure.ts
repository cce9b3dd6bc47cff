import { isObject } from '../input/object.js';

/** The point that a request reached: nothing was sent; it may have been sent; a response began. */
export type Phase = 'connect' | 'exchange' | 'body';

/** The kind of a failure. Only a `network` failure may pass by itself; another attempt gets more time. */
export type FailureKind =
  | 'network'
  /** A certificate or a handshake. */
  | 'tls'
  /** The response cannot be read as HTTP. */
  | 'protocol'
  /** The body is not compressed as its headers say. */
  | 'encoding'
  | 'too_large'
  /** Ended by its signal: by the time limit, or by the caller, whose own reason then counts. */
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
  /** The host and port that failed, if they are not the service's: those of a proxy. */
  elsewhere?: string | undefined;
  /** The status with which a proxy refused to open a tunnel. */
  tunnelStatus?: number | undefined;
  /** A sentence more. */
  note?: string | undefined;
  /** The error that the platform threw, if it is safe to show. */
  cause?: unknown;
}

/** The reason for which there is no complete response. It stays in the transport, which makes a public error of it. */
export class Failure extends Error {
  constructor(
    readonly kind: FailureKind,
    readonly details: FailureDetails = {},
  ) {
    super(kind);
  }
}

/** Codes of a host without an address, a port that nobody listens on, a proxy without a tunnel; the last two are Bun's. */
const noConnection =
  /^(?:ENOTFOUND|EAI_[A-Z]+|ECONNREFUSED|UND_ERR_CONNECT_TIMEOUT|ERR_PROXY_[A-Z_]+|ConnectionRefused|FailedToOpenSocket)$/;
/** Codes of sockets, undici, Node's streams and HTTP/2, and Bun. */
const connectionLost =
  /^(?:E(?:(?:CONN|HOST|NET)[A-Z]+|NOTCONN|PIPE|TIMEDOUT|ADDRNOTAVAIL)|UND_ERR_(?:SOCKET|INFO|\w+_TIMEOUT)|ERR_(?:STREAM_PREMATURE|SOCKET_C|HTTP2_(?:STREAM|SESSION|GOAWAY))\w+|ABORT_ERR|ConnectionClosed)$/;
/** Codes of a certificate that was refused, so that the key stayed here. */
const certificateRefused =
  /^(?:CERT_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(?:VERIFY|GET_ISSUER_CERT)_?\w*|ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/;

/** The meaning of codes; `unsent` if a code exists for nothing that happens after connecting. */
const rules: readonly { code: RegExp; kind: FailureKind; unsent?: true }[] = [
  { code: noConnection, kind: 'network', unsent: true },
  { code: connectionLost, kind: 'network' },
  { code: certificateRefused, kind: 'tls', unsent: true },
  // Any other fault of TLS, ERR_SSL_WRONG_VERSION_NUMBER too, may come after the request was read.
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
 * address of a host). A system call says more than any code: EHOSTUNREACH comes from `connect`, and from `read` too.
 * `kind` is `undefined` if no code is known; `unsent` is true if the error proves that no byte of the request was sent, which
 * an error about another host than `target` does not.
 */
export function readError(error: unknown, target?: string) {
  const codes = codesOf(error);
  const code = codes.find(ruleFor) ?? codes[0];
  const unsent = isUnsent(error, target) === true;
  return { kind: ruleFor(code)?.kind ?? (unsent ? ('network' as const) : undefined), code, unsent };
}

const connectingCalls: readonly unknown[] = ['connect', 'getaddrinfo'];
const deepest = 8;

/** True if the error proves that nothing was sent; `undefined` if it shows neither. */
function isUnsent(error: unknown, target?: string, depth = 0): boolean | undefined {
  if (!isObject(error) || depth > deepest) return undefined;
  if (target && isElsewhere(error, target)) return false;
  const errors = error.errors;
  if (Array.isArray(errors) && errors.length > 0)
    return errors.every((each) => isUnsent(each, target, depth + 1) === true);
  const syscall = error.syscall ?? error.erroredSysCall; // node-fetch's
  if (syscall !== undefined) return connectingCalls.includes(syscall);
  const code = error.code;
  const byCode = isCode(code) ? ruleFor(code)?.unsent === true : undefined;
  return isUnsent(error.cause, target, depth + 1) ?? byCode;
}

/** True if an error names another host or port, such as a proxy's, or that of a request which a `fetch` makes beside ours. */
function isElsewhere(error: Record<string, unknown>, target: string): boolean {
  const named = new URL(target);
  named.hostname = String(error.hostname ?? error.host ?? named.hostname);
  named.port = String(error.port ?? named.port);
  return named.href !== target;
}

/** Reads what an error says of a proxy on the way to `target`: its host and port, and the status with which it refused a tunnel. */
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
  const links = new Set([error]); // each once: an error may be its own cause
  for (const link of links) {
    if (!isObject(link) || links.size > 100) continue;
    for (const inner of [link.errors, link.cause].flat()) links.add(inner);
  }
  return [...links].filter(isObject);
}

function ruleFor(code = '') {
  return rules.find((rule) => rule.code.test(code));
}

/** True if a value is a code: a DOMException has numbers, and a longer text is none. */
function isCode(code: unknown): code is string {
  return typeof code === 'string' && /^\w{1,60}$/.test(code);
}
