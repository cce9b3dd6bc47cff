import {
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  InvalidRequestError,
  InvalidResponseError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
  TimeoutError,
} from 'merchant-payments';
import { describe, expect, test } from 'vitest';
import { Failure, type FailureKind, type Phase } from '../../src/transport/failure.js';
import { RequestProgress, type ResponseHead } from '../../src/transport/response.js';
import {
  errorOfRefusal,
  errorOfUnusableResponse,
  errorWithoutResponse,
  type TimeLimit,
} from '../../src/transport/to-error.js';
import { factsOf, key, read, write } from './call.js';

const attempt = { scope: 'attempt', limitMs: 1_500.4, leftMs: 1_500.4 } as const;
const total = { scope: 'total', limitMs: 59_999.6, leftMs: 5 } as const;
const head = (status: number, headers: Record<string, string> = {}) => ({
  status,
  headers: new Headers(headers),
});
const begun = head(200, { 'content-type': 'application/json' });
/** The error of an attempt that came as far as `reached`: a phase, or the head of a response. */
function failureOf(
  call: typeof read,
  reached: Phase | ResponseHead,
  kind: FailureKind,
  details: ConstructorParameters<typeof Failure>[1] = {},
  limit: TimeLimit = attempt,
) {
  const isHead = typeof reached !== 'string';
  const phase = isHead ? 'body' : reached;
  const head = isHead ? reached : phase === 'body' ? begun : undefined;
  return errorWithoutResponse(
    call,
    new Failure(kind, details),
    Object.assign(new RequestProgress(), { phase, head }),
    limit,
  );
}
const doubt = ' It may have been done. Look for it.';
const itWasDone = ' It was done. Look for it.';

/** The class itself, not one that extends it. */
const isJust = (error: unknown, itsClass: new (...args: never[]) => Error) =>
  expect(Object.getPrototypeOf(error)).toBe(itsClass.prototype);

describe('a proxy', () => {
  const elsewhere = '10.0.0.1:3128';
  test.each([
    [403, 'never'],
    [407, 'never'],
    [502, 'any'],
  ] as const)('that refuses a tunnel with %i is named', (tunnelStatus, retriable) => {
    const details = { code: 'ERR_PROXY_TUNNEL', elsewhere, tunnelStatus };
    const { error, ...rest } = failureOf(write, 'connect', 'network', details);
    expect(error.message).toBe(
      `POST /v1/products was not sent: the proxy 10.0.0.1:3128 refused the tunnel (${tunnelStatus}).`,
    );
    expect(rest.retriable).toBe(retriable);
  });

  test('that is gone is not called the service', () => {
    const { error } = failureOf(write, 'connect', 'network', { code: 'ECONNREFUSED', elsewhere });
    expect(error.message).toBe(
      'POST /v1/products was not sent: the proxy 10.0.0.1:3128 could not be reached (ECONNREFUSED).',
    );
  });

  test('of a given fetch is not called the service, either', () => {
    const details = { code: 'ECONNREFUSED', elsewhere, detail: 'threw TypeError: fetch failed' };
    const { error } = failureOf(read, 'exchange', 'network', details);
    expect(error.message).toBe(
      'GET /v1/balance got no response: the connection to 10.0.0.1:3128, not the service, failed (ECONNREFUSED).',
    );
  });

  test('that inspects TLS is what an unknown issuer hints at', () => {
    for (const code of ['SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY']) {
      const { error } = failureOf(read, 'connect', 'tls', { code, note: 'It is ignored' });
      expect(error.message).toBe(
        `GET /v1/balance was not sent: the secure connection to api.example failed (${code}). If a company's proxy inspects TLS, start Node with NODE_EXTRA_CA_CERTS. It is ignored.`,
      );
    }
  });
});

describe('a connection that fails', () => {
  test.each([
    ['network', 'ENOTFOUND', 'the host api.example does not resolve (ENOTFOUND). Check baseUrl.', 'any'],
    ['network', 'ECONNREFUSED', 'api.example could not be reached (ECONNREFUSED).', 'any'],
    [
      'network',
      'EMFILE',
      'this process has no free file descriptor (EMFILE). Lower maxConnections, or raise the limit (ulimit -n).',
      'any',
    ],
    [
      'network',
      'ENFILE',
      'this machine has no free file descriptor (ENFILE). Lower maxConnections, or raise the limit (ulimit -n).',
      'any',
    ],
    [
      'tls',
      'ERR_SSL_WRONG_VERSION_NUMBER',
      'the secure connection to api.example failed (ERR_SSL_WRONG_VERSION_NUMBER). Check the scheme and host of baseUrl.',
      'never',
    ],
  ] as const)('before it stood (%s, %s) sent nothing, and says so', (kind, code, why, retriable) => {
    const { error, ...rest } = failureOf(write, 'connect', kind, { code });
    isJust(error, ConnectionError);
    expect(error).toMatchObject({
      ...factsOf(write),
      code: 'connection_error',
      message: `POST /v1/products was not sent: ${why}`,
      outcome: 'not_sent',
      phase: 'connect',
      reason: code,
    });
    expect(rest.retriable).toBe(retriable);
  });

  test.each([
    ['exchange', 'ECONNRESET', 'got no response: the connection to api.example failed (ECONNRESET).', doubt],
    ['exchange', undefined, 'got no response: the connection to api.example failed.', doubt],
    [
      'body',
      'ECONNRESET',
      'got only a part of the response: the connection to api.example failed (ECONNRESET).',
      doubt,
    ],
    ['body', undefined, 'got only a part of the response: the connection to api.example failed.', doubt],
  ] as const)('in %s by %s says what is known, and reads may be sent again', (phase, code, what, after) => {
    const outcome = 'unknown';
    const reason = code ?? 'network';
    const ofWrite = failureOf(write, phase, 'network', { code });
    expect(ofWrite.error).toMatchObject({
      ...factsOf(write),
      message: `POST /v1/products ${what}${after}`,
      outcome,
      phase,
      reason,
    });
    expect(ofWrite.retriable).toBe('get');
    const ofRead = failureOf(read, phase, 'network', { code });
    expect(ofRead.error).toMatchObject({
      ...factsOf(read),
      message: `GET /v1/balance ${what}`,
      outcome,
      reason,
    });
  });

  test.each([
    [
      'tls',
      'EPROTO',
      'got no response: the secure connection to api.example failed (EPROTO). Check the scheme and host of baseUrl.',
    ],
    [
      'protocol',
      'HPE_INVALID_CONSTANT',
      'got a response that cannot be read as HTTP (HPE_INVALID_CONSTANT). Check baseUrl.',
    ],
    ['protocol', undefined, 'got a response that cannot be read as HTTP. Check baseUrl.'],
    ['encoding', 'Z_DATA_ERROR', 'got a response that cannot be decompressed (Z_DATA_ERROR).'],
  ] as const)('by %s (%s) is met again by another attempt, so there is none', (kind, code, what) => {
    const { error, retriable } = failureOf(read, 'exchange', kind, { code });
    expect(error.message).toBe(`GET /v1/balance ${what}`);
    expect(error).toMatchObject({ reason: code ?? kind });
    expect(retriable).toBe('never');
  });

  test('by a mistake of the option fetch says which, without the key', () => {
    const detail = `threw Error: no proxy for ${key}${'x'.repeat(600)}`;
    const { error } = failureOf(write, 'exchange', 'fetch', { detail });
    const said = `threw Error: no proxy for [redacted]`;
    expect(error.message).toMatch(`POST /v1/products failed, because the function passed as fetch ${said}`);
    expect(error.message).toHaveLength(
      'POST /v1/products failed, because the function passed as fetch .'.length + 500 + doubt.length,
    );
  });

  test('shows no key in place of a code', () => {
    const { error } = failureOf(read, 'exchange', 'network', { code: key.replaceAll('-', '_') });
    expect(error).toMatchObject({ reason: '[redacted]' });
  });
});

describe('time that runs out', () => {
  test.each([
    ['connect', 'nothing was sent, because there was no connection to api.example.', 'not_sent', 'any'],
    ['exchange', `no response arrived.${doubt}`, 'unknown', 'get'],
    ['body', `the response was incomplete.${doubt}`, 'unknown', 'get'],
  ] as const)(
    'for an attempt, in %s, names the option and how far it came',
    (phase, stage, outcome, retriable) => {
      const { error, ...rest } = failureOf(write, phase, 'timeout');
      isJust(error, TimeoutError);
      expect(error).toMatchObject({
        ...factsOf(write),
        code: 'timeout',
        message: `POST /v1/products timed out after 1500 ms (timeoutMs): ${stage}`,
        outcome,
        phase,
        reason: 'timeout',
        scope: 'attempt',
      });
      expect(rest.retriable).toBe(retriable);
    },
  );

  test.each(['connect', 'exchange', 'body'] as const)(
    'for the whole call, in %s, leaves none for another attempt',
    (phase) => {
      const { error, retriable } = failureOf(read, phase, 'timeout', {}, total);
      expect(error).toMatchObject({ scope: 'total', phase });
      expect(error.message).toMatch(/^GET \/v1\/balance timed out after 60000 ms \(totalTimeoutMs\): /);
      expect(retriable).toBe('never');
    },
  );
});

describe('a refusal', () => {
  const keyRefused =
    ' The API key was refused. Check that it and its prefix belong to this environment; regenerating a key in the dashboard disables the old one at once.';
  const contentRefused = ' The request was refused.';
  const nothingFound =
    ' Check the id and baseUrl: an id is unknown in another environment, and in a sandbox that was started afresh.';
  const failedThere = ' The service failed.';

  test.each([
    [400, InvalidRequestError, 'rejected', 'never', contentRefused],
    [401, AuthenticationError, 'rejected', 'never', keyRefused],
    [402, ApiError, 'rejected', 'never', ''],
    [403, PermissionDeniedError, 'rejected', 'never', ' This API key is not allowed to do that.'],
    [404, NotFoundError, 'rejected', 'never', nothingFound],
    [405, ApiError, 'rejected', 'never', ''],
    [407, ApiError, 'rejected', 'never', ' The proxy asks for credentials. Put them in its URL.'],
    [408, ApiError, 'unknown', 'get', ''],
    [409, ConflictError, 'rejected', 'never', ''],
    [413, InvalidRequestError, 'rejected', 'never', contentRefused],
    [422, InvalidRequestError, 'rejected', 'never', contentRefused],
    [429, RateLimitError, 'rejected', 'any', ' Wait before the next request.'],
    [499, ApiError, 'rejected', 'never', ''],
    [500, ServerError, 'unknown', 'get', failedThere],
    [501, ServerError, 'rejected', 'never', failedThere],
    [503, ServerError, 'unknown', 'get', failedThere],
    [505, ServerError, 'rejected', 'never', failedThere],
    [511, ServerError, 'rejected', 'never', failedThere],
    [526, ServerError, 'unknown', 'get', failedThere],
    [599, ServerError, 'unknown', 'never', failedThere],
    [600, ApiError, 'unknown', 'never', ''],
    [999, ApiError, 'unknown', 'never', ''],
    [199, ApiError, 'unknown', 'never', ''],
  ] as const)(
    'by status %i has its class, outcome and advice',
    (status, itsClass, outcome, retriable, advice) => {
      const { error, ...rest } = errorOfRefusal(write, head(status), {});
      isJust(error, itsClass);
      expect(error).toMatchObject({ ...factsOf(write), status, outcome });
      const after = outcome === 'unknown' ? doubt : '';
      expect(error.message).toBe(`POST /v1/products returned ${status}.${advice}${after}`);
      expect(rest.retriable).toBe(retriable);
    },
  );

  test.each([
    [1, ApiError, 'rejected', ''],
    [399, ApiError, 'rejected', ''],
    [400, InvalidRequestError, 'rejected', contentRefused],
    [401, AuthenticationError, 'rejected', keyRefused],
    [404, NotFoundError, 'rejected', nothingFound],
    [408, ApiError, 'unknown', ''],
    [500, ServerError, 'unknown', failedThere],
    [599, ServerError, 'unknown', failedThere],
    [600, ApiError, 'rejected', ''],
    [-1, ApiError, 'rejected', ''],
  ] as const)(
    'by code %i under status 200 has the class of that status, and is never sent again',
    (code, itsClass, outcome, advice) => {
      const { error, ...rest } = errorOfRefusal(write, head(200), { code, message: 'No' });
      isJust(error, itsClass);
      expect(error).toMatchObject({ status: 200, apiCode: code, apiMessage: 'No', outcome });
      const after = outcome === 'unknown' ? doubt : '';
      expect(error.message).toBe(`POST /v1/products returned 200 with code ${code}: No.${advice}${after}`);
      expect(rest.retriable).toBe('never');
    },
  );

  test('by status wins over the code of its body', () => {
    const { error } = errorOfRefusal(read, head(500), { code: 404 });
    isJust(error, ServerError);
    expect(error).toMatchObject({ status: 500, apiCode: 404 });
    expect(error.message).toBe('GET /v1/balance returned 500. The service failed.');
  });

  test.each([
    ['Unauthorized', ': Unauthorized.'],
    ['  Not\n\t this  way. ', ': Not this way.'],
    ['Wait: ...', ': Wait.'],
    ['v1.2: no', ': v1.2: no.'],
    ['Who are you?', ': Who are you?'],
    ['', '.'],
    [' . ', '.'],
  ])('puts the message %j of the service into one line before the advice', (message, said) => {
    const { error } = errorOfRefusal(read, head(403), { message });
    expect(error.message).toBe(`GET /v1/balance returned 403${said} This API key is not allowed to do that.`);
    expect(error).toMatchObject({ apiMessage: message });
  });

  test.each([
    ['1', 'Wait 1 s', 1_000],
    ['30', 'Wait 30 s', 30_000],
    ['0', 'Wait', 0],
    ['soon', 'Wait', undefined],
  ])('429 with Retry-After %s says how long to wait', (value, wait, retryAfterMs) => {
    const { error } = errorOfRefusal(read, head(429, { 'retry-after': value }), {});
    expect(error.message).toBe(`GET /v1/balance returned 429. ${wait} before the next request.`);
    expect(Reflect.get(error, 'retryAfterMs')).toBe(retryAfterMs);
  });

  test("a date in Retry-After counts from the response's Date", () => {
    const headers = {
      'retry-after': 'Sun, 06 Nov 1994 08:49:39 GMT',
      date: 'Sun, 06 Nov 1994 08:49:37 GMT',
    };
    expect(errorOfRefusal(read, head(503, headers), {}).error).toMatchObject({ retryAfterMs: 2_000 });
  });

  test('shows 200 characters of message and body', () => {
    const texts = { message: 'm'.repeat(201), snippet: 's'.repeat(201) };
    const { error } = errorOfRefusal(read, head(400), texts);
    expect(error).toMatchObject({ apiMessage: 'm'.repeat(200), bodySnippet: 's'.repeat(200) });
    const exact = { message: 'm'.repeat(200), snippet: 's'.repeat(200) };
    expect(errorOfRefusal(read, head(400), exact).error).toMatchObject({
      apiMessage: exact.message,
      bodySnippet: exact.snippet,
    });
  });

  test('shows no key, even one that ends behind the 200th character', () => {
    const long = 'x'.repeat(190) + key;
    const { error } = errorOfRefusal(read, head(401, { 'x-echo': key, 'x-request-id': `a-${key}` }), {
      message: long,
      snippet: long,
    });
    const redacted = `${'x'.repeat(190)}[redacted]`;
    expect(error).toMatchObject({ apiMessage: redacted, bodySnippet: redacted, requestId: 'a-[redacted]' });
    expect(error).toSatisfy((it: ApiError) => it.headers.get('x-echo') === '[redacted]');
  });

  test('without a body has neither message nor snippet', () => {
    const { error } = errorOfRefusal(read, head(400), {});
    expect(error).not.toHaveProperty('apiMessage');
    expect(error).not.toHaveProperty('bodySnippet');
    expect(error).not.toHaveProperty('apiCode');
    expect(error).not.toHaveProperty('requestId');
  });

  test.each([
    [['x-request-id', 'request-id', 'x-correlation-id', 'cf-ray'], 'x-request-id'],
    [['request-id', 'x-correlation-id', 'cf-ray'], 'request-id'],
    [['x-correlation-id', 'cf-ray'], 'x-correlation-id'],
    [['cf-ray'], 'cf-ray'],
  ])('of the headers %j takes the first as the id to quote to support', (names, first) => {
    const headers = Object.fromEntries(names.map((name) => [name, `from ${name}`]));
    expect(errorOfRefusal(read, head(400, headers), {}).error).toMatchObject({ requestId: `from ${first}` });
  });

  test('passes over an empty request id', () => {
    const headers = { 'x-request-id': '', 'cf-ray': '7' };
    expect(errorOfRefusal(read, head(400, headers), {}).error).toMatchObject({ requestId: '7' });
  });
});

describe('text of the service', () => {
  test('is cut between characters, never inside one', () => {
    const text = `${'x'.repeat(199)}😀`;
    const { error } = errorOfRefusal(read, head(400), { message: text, snippet: `${'x'.repeat(198)}😀` });
    expect(error).toMatchObject({ apiMessage: 'x'.repeat(199), bodySnippet: `${'x'.repeat(198)}😀` });
  });

  test('is cut between the signs that show a character, too', () => {
    const text = `${'x'.repeat(197)}\u001b[31m`;
    const { error } = errorOfRefusal(read, head(400), {
      message: text,
      snippet: `${'x'.repeat(194)}\u001b[31m`,
    });
    expect(error).toMatchObject({
      apiMessage: 'x'.repeat(197),
      bodySnippet: `${'x'.repeat(194)}\\u001b`,
    });
  });

  test('shows its control, escape and bidirectional characters, and keeps its lines', () => {
    const text = 'a\u001b[31m\u202eb\r\nc\u0000';
    const visible = 'a\\u001b[31m\\u202eb\nc\\u0000';
    const { error } = errorOfRefusal(read, head(400), { message: text, snippet: text, code: '\u0007' });
    expect(error).toMatchObject({ apiMessage: visible, bodySnippet: visible, apiCode: '\\u0007' });
    expect(error.message).toContain('returned 400: a\\u001b[31m\\u202eb c\\u0000.');
  });

  test('is shown in a problem, too, in one line', () => {
    const { error } = errorOfUnusableResponse(read, head(200), {
      reason: 'content_type',
      problem: 'the body is a\u009b\nb, not JSON',
      outcome: 'unknown',
    });
    expect(error.message).toContain('the body is a\\u009b b, not JSON.');
  });

  test('has a code of text or number, without the key', () => {
    expect(errorOfRefusal(read, head(400), { code: 'PRODUCT_ARCHIVED' }).error).toMatchObject({
      apiCode: 'PRODUCT_ARCHIVED',
    });
    expect(errorOfRefusal(read, head(400), { code: `X-${key}` }).error).toMatchObject({
      apiCode: 'X-[redacted]',
    });
  });
});

describe('a response of which only the status arrived', () => {
  test('is a refusal where the status is one', () => {
    const { error, retriable } = failureOf(write, head(429, { 'retry-after': '9' }), 'network', {
      code: 'ECONNRESET',
    });
    isJust(error, RateLimitError);
    expect(error).toMatchObject({ retryAfterMs: 9_000, outcome: 'rejected' });
    expect(retriable).toBe('any');
  });

  test('says what the option fetch did to its body, without the key', () => {
    const detail = `threw Error: ${key}`;
    const { error } = failureOf(write, head(403), 'fetch', { detail });
    isJust(error, PermissionDeniedError);
    expect(error.message).toBe(
      'POST /v1/products returned 403. This API key is not allowed to do that. The function passed as fetch threw Error: [redacted].',
    );
  });
});

describe('a response that cannot be used', () => {
  test('says what became of the write', () => {
    const { error, retriable } = errorOfUnusableResponse(write, head(201), {
      reason: 'envelope',
      problem: 'it has no data',
      outcome: 'done',
    });
    isJust(error, InvalidResponseError);
    expect(error).toMatchObject({
      ...factsOf(write),
      code: 'invalid_response',
      status: 201,
      reason: 'envelope',
      outcome: 'done',
      issues: [],
    });
    expect(error).not.toHaveProperty('id');
    expect(error.message).toBe(
      `POST /v1/products returned 201, but the response cannot be used: it has no data.${itWasDone}`,
    );
    expect(retriable).toBe('never');
  });

  test('names the id of what was made', () => {
    const issues = [{ path: 'name', message: 'is missing' }];
    const { error } = errorOfUnusableResponse(write, head(200), {
      reason: 'schema',
      problem: 'name: is missing',
      outcome: 'done',
      issues,
      id: 'prod_"1',
    });
    expect(error).toMatchObject({ id: 'prod_"1', issues });
    expect(error.message).toBe(
      `POST /v1/products returned 200, but the response cannot be used: name: is missing. Its id is "prod_\\"1".${itWasDone}`,
    );
  });

  test('shows no key in problem or id', () => {
    const { error } = errorOfUnusableResponse(read, head(200), {
      reason: 'schema',
      problem: `${key} is wrong`,
      outcome: 'done',
      issues: [],
      id: key,
    });
    expect(error).toMatchObject({ id: '[redacted]' });
    expect(error.message).toBe(
      'GET /v1/balance returned 200, but the response cannot be used: [redacted] is wrong. Its id is "[redacted]".',
    );
  });

  test('describes the problem in 1000 characters at most', () => {
    const { error } = errorOfUnusableResponse(read, head(200), {
      reason: 'schema',
      problem: 'p'.repeat(1_001),
      outcome: 'done',
    });
    expect(error.message).toBe(
      `GET /v1/balance returned 200, but the response cannot be used: ${'p'.repeat(1_000)}.`,
    );
  });

  test('as a redirect leaves open what was done', () => {
    const { error } = errorOfUnusableResponse(write, head(302), {
      reason: 'redirect',
      problem: 'it redirects',
      outcome: 'unknown',
      isForeign: true,
    });
    expect(error).toMatchObject({ outcome: 'unknown' });
    expect(error.message).toBe(
      `POST /v1/products returned 302, but the response cannot be used: it redirects. Check baseUrl.${doubt}`,
    );
  });

  test('carries the request id', () => {
    const { error } = errorOfUnusableResponse(read, head(200, { 'x-request-id': 'req_1' }), {
      reason: 'json',
      problem: 'cut',
      outcome: 'unknown',
    });
    expect(error).toMatchObject({ requestId: 'req_1' });
  });

  test('has a body of more than 8 MiB', () => {
    const { error, retriable } = failureOf(write, 'body', 'too_large');
    isJust(error, InvalidResponseError);
    expect(error).toMatchObject({ status: 200, reason: 'too_large', outcome: 'unknown' });
    expect(error.message).toBe(
      `POST /v1/products returned 200, but the response cannot be used: it is larger than 8 MiB.${doubt}`,
    );
    expect(retriable).toBe('never');
  });
});
