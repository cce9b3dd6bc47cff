import { describe, expect, test } from 'vitest';
import { readError, readProxy } from '../../src/transport/failure.js';

interface ErrorFields {
  code?: unknown;
  syscall?: string;
  erroredSysCall?: string;
  cause?: unknown;
}

const errorWith = (shown: ErrorFields) => Object.assign(new Error('failed'), shown);
/** Wraps an error as `fetch` does. */
const wrapError = (shown: ErrorFields) => new TypeError('fetch failed', { cause: errorWith(shown) });
const groupErrors = (...shown: ErrorFields[]) =>
  Object.assign(new AggregateError(shown.map(errorWith)), shown[0]);

const connecting: [string, ErrorFields][] = [
  ['ECONNREFUSED in connect', { code: 'ECONNREFUSED', syscall: 'connect' }],
  ['ECONNRESET in connect', { code: 'ECONNRESET', syscall: 'connect' }],
  ['EHOSTUNREACH in connect', { code: 'EHOSTUNREACH', syscall: 'connect' }],
  ['ENETUNREACH in connect', { code: 'ENETUNREACH', syscall: 'connect' }],
  ['EADDRNOTAVAIL in connect', { code: 'EADDRNOTAVAIL', syscall: 'connect' }],
  ['a code of no meaning in connect', { code: 'EWHATEVER', syscall: 'connect' }],
  ['a name lookup', { code: 'ENOTFOUND', syscall: 'getaddrinfo' }],
  ['a temporary failure of a name lookup', { code: 'EAI_AGAIN', syscall: 'getaddrinfo' }],
  ["node-fetch's name of connect", { code: 'EHOSTUNREACH', erroredSysCall: 'connect' }],
];
const exchanging: [string, ErrorFields][] = [
  ['EHOSTUNREACH in read', { code: 'EHOSTUNREACH', syscall: 'read' }],
  ['ENETUNREACH in write', { code: 'ENETUNREACH', syscall: 'write' }],
  ['ECONNREFUSED in read', { code: 'ECONNREFUSED', syscall: 'read' }],
  ['ENOTFOUND in read', { code: 'ENOTFOUND', syscall: 'read' }],
  ['ECONNRESET in read', { code: 'ECONNRESET', syscall: 'read' }],
  ['EPROTO in write', { code: 'EPROTO', syscall: 'write' }],
  ["node-fetch's name of read", { code: 'EHOSTUNREACH', erroredSysCall: 'read' }],
];
const meaning: [code: string, isUnsent: boolean][] = [
  ...[
    'ENOTFOUND',
    'EAI_AGAIN',
    'EAI_NODATA',
    'ECONNREFUSED',
    'UND_ERR_CONNECT_TIMEOUT',
    'ConnectionRefused',
    'FailedToOpenSocket',
    'ERR_PROXY_TUNNEL',
    'CERT_HAS_EXPIRED',
    'CERT_REVOKED',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_GET_ISSUER_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'HOSTNAME_MISMATCH',
  ].map((code): [string, boolean] => [code, true]),
  ...[
    'EHOSTUNREACH',
    'ENETUNREACH',
    'EADDRNOTAVAIL',
    'EPROTO',
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC',
    'ERR_SSL_PACKET_LENGTH_TOO_LONG',
    'ERR_TLS_HANDSHAKE_TIMEOUT',
    'ECONNRESET',
    'ETIMEDOUT',
    'EPIPE',
    'UND_ERR_SOCKET',
    'UND_ERR_HEADERS_TIMEOUT',
    'MY_ENOTFOUND',
    'ENOTFOUND_OR_SO',
    'A_CERT_B',
  ].map((code): [string, boolean] => [code, false]),
];

describe('a system call proves where a request stopped', () => {
  test.each(connecting)('%s: nothing was sent', (_title, shown) => {
    expect(readError(errorWith(shown)).isUnsent).toBe(true);
    expect(readError(wrapError(shown)).isUnsent).toBe(true);
    expect(readError(groupErrors(shown, shown)).isUnsent).toBe(true);
    expect(readError(new TypeError('fetch failed', { cause: groupErrors(shown) })).isUnsent).toBe(true);
  });

  test.each(exchanging)('%s: it may have been, whatever the code', (_title, shown) => {
    expect(readError(errorWith(shown)).isUnsent).toBe(false);
    expect(readError(wrapError(shown)).isUnsent).toBe(false);
    expect(readError(groupErrors(...connecting.map(([, each]) => each), shown)).isUnsent).toBe(false);
  });

  test('the innermost one counts: what wraps it may carry any code', () => {
    expect(
      readError(errorWith({ code: 'ECONNREFUSED', cause: errorWith({ syscall: 'read' }) })).isUnsent,
    ).toBe(false);
    expect(
      readError(errorWith({ code: 'ERR_OF_PROXY', cause: errorWith({ syscall: 'connect' }) })).isUnsent,
    ).toBe(true);
  });
});

describe('without a system call only a code that exists for nothing else is a proof', () => {
  test.each(meaning)('%s: nothing was sent: %s', (code, isUnsent) => {
    expect(readError(errorWith({ code }))).toMatchObject({ code, isUnsent });
    expect(readError(wrapError({ code }))).toMatchObject({ code, isUnsent });
  });

  test('each address of a host has to fail so', () => {
    expect(readError(groupErrors({ code: 'ECONNREFUSED' }, { code: 'ECONNRESET' })).isUnsent).toBe(false);
    expect(readError(groupErrors({ code: 'ECONNREFUSED' }, { code: 'ENOTFOUND' })).isUnsent).toBe(true);
  });
});

test.each([
  ['CERT_HAS_EXPIRED', 'tls'],
  ['UNABLE_TO_DECRYPT_CERT_SIGNATURE', 'tls'],
  ['ERR_SSL_BAD_DECRYPT', 'tls'],
  ['ERR_TLS_DH_PARAM_SIZE', 'tls'],
  ['EPROTO', 'tls'],
  ['HPE_INVALID_CONSTANT', 'protocol'],
  ['UND_ERR_HEADERS_OVERFLOW', 'protocol'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'protocol'],
  ['Z_DATA_ERROR', 'encoding'],
  ['ERR__ERROR_FORMAT_PADDING_2', 'encoding'], // as Node's zlib names what Brotli cannot read
  ['UND_ERR_INVALID_ARG', 'fetch'],
  ['ERR_INVALID_ARG_TYPE', 'fetch'],
  ['ECONNRESET', 'network'],
  ['UND_ERR_SOCKET', 'network'],
  ['ERR_STREAM_PREMATURE_CLOSE', 'network'], // of node-fetch, when a body is cut
  ['ERR_HTTP2_STREAM_ERROR', 'network'],
  ['ABORT_ERR', 'network'],
  ['EISDIR', undefined],
  ['UND_ERR_ABORTED', undefined],
  ['Z_BUF_ERROR', undefined],
  ['MY_HPE_', undefined],
])('%s is a failure of kind %s', (code, kind) => {
  expect(readError(wrapError({ code })).kind).toBe(kind);
});

test.each([
  ['text', 'failed'],
  ['nothing', undefined],
  ['null', null],
  ['an error without a code', new Error('failed')],
  ['a number for a code, as DOMException has', errorWith({ code: 20 })],
  ['text in place of a code', errorWith({ code: 'the key is service_test_1' })],
  ['no errors at all', new AggregateError([])],
])('%s shows nothing', (_title, error) => {
  expect(readError(error)).toEqual({ kind: undefined, code: undefined, isUnsent: false });
});

test('a code that is known counts, not one that wraps it', () => {
  const error = errorWith({ code: 'MY_CODE', cause: errorWith({ code: 'ECONNRESET' }) });
  expect(readError(error)).toEqual({ kind: 'network', code: 'ECONNRESET', isUnsent: false });
});

test('errors that hold each other many times over are read once', () => {
  const error = groupErrors();
  error.errors.push(...Array(10_000).fill(error), errorWith({ code: 'ECONNRESET' }));
  const began = performance.now();
  expect(readError(error)).toMatchObject({ code: 'ECONNRESET' });
  expect(performance.now() - began).toBeLessThan(1000);
});

test('an error that is its own cause is read once', () => {
  const error = errorWith({});
  error.cause = error;
  expect(readError(error)).toEqual({ kind: undefined, code: undefined, isUnsent: false });
});

test.each([
  [
    {
      code: 'ERR_PROXY_TUNNEL',
      statusCode: 407,
      message: 'Failed … to api.example:443 via http://user:pw@10.0.0.1:3128/: HTTP/1.1 407',
    },
    { elsewhere: '10.0.0.1:3128', tunnelStatus: 407 },
  ],
  [{ syscall: 'connect', address: '10.0.0.1', port: 3128 }, { elsewhere: '10.0.0.1:3128' }],
  [{ syscall: 'getaddrinfo', hostname: 'proxy.internal' }, { elsewhere: 'proxy.internal' }],
  [{ syscall: 'connect', address: '10.0.0.1', port: 443 }, {}],
  [{ syscall: 'getaddrinfo', hostname: 'api.example' }, {}],
])('of a proxy, %j says', (cause, expected) => {
  expect(readProxy(new TypeError('fetch failed', { cause }), 'https://api.example/v1/products')).toEqual(
    expected,
  );
});
