import dns from 'node:dns';
import { Socket } from 'node:net';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { succeed } from '../helpers/bodies.js';
import { Authority, trustAuthority } from '../helpers/certificate.js';
import { closeSocket, FaultyServer } from '../helpers/faulty-server.js';
import {
  type Carrier,
  call,
  carriers,
  clientOf,
  expectNoTrace,
  factsOf,
  methods,
  settle,
  watch,
} from '../helpers/meeting.js';
import { deadPort } from '../helpers/ports.js';

watch();

interface Expected extends Record<string, unknown> {
  error: string;
  attempts: number;
}

/** Calls with each method over both carriers, where no server need be. */
function eachWay(run: (carrier: Carrier, method: (typeof methods)[number]) => Promise<void>): void {
  describe.each(carriers)('over %s', (carrier) => {
    test.each(methods)('%s', (method) => run(carrier, method));
  });
}

async function failure(carrier: Carrier, method: (typeof methods)[number], baseUrl: string, options = {}) {
  const { error } = await settle(call(clientOf(carrier, baseUrl, options), method));
  expectNoTrace(error);
  return error;
}

function expectFacts(error: unknown, expected: Expected): void {
  expect(factsOf(error, Object.keys(expected))).toEqual(expected);
}

const unreached = { error: 'ConnectionError', phase: 'connect', outcome: 'not_sent', attempts: 3 };

describe('a refused connection is tried three times, and nothing was sent', () => {
  eachWay(async (carrier, method) => {
    const error = await failure(carrier, method, `http://127.0.0.1:${deadPort}`);
    expectFacts(error, { ...unreached, reason: 'ECONNREFUSED' });
  });
});

describe('the same where a name has several addresses', () => {
  eachWay(async (carrier, method) => {
    const baseUrl = `http://localhost:${deadPort}`;
    vi.spyOn(dns, 'lookup').mockImplementation(answerLookup(null, ['127.0.0.1', '127.0.0.2']));
    const error = await failure(carrier, method, baseUrl);
    expectFacts(error, { ...unreached, reason: 'ECONNREFUSED' });
  });
});

describe.each([
  ['2', 'ENOTFOUND'],
  ['3', 'EAI_AGAIN'],
])('%s: a name that is not found (%s) is looked up three times', (_row, code) => {
  eachWay(async (carrier, method) => {
    const problem = Object.assign(new Error(`getaddrinfo ${code}`), { code, syscall: 'getaddrinfo' });
    const lookup = vi.spyOn(dns, 'lookup').mockImplementation(answerLookup(problem));
    const error = await failure(carrier, method, 'https://api.shop.example/private-prefix');
    expectFacts(error, { ...unreached, reason: code });
    expect(lookup).toHaveBeenCalledTimes(3);
    expect(String(error)).toContain('api.shop.example');
    expect(String(error)).not.toContain('private-prefix');
  });
});

describe.each([
  ['4', 'ETIMEDOUT'],
  ['5', 'ENETUNREACH'],
  ['5', 'EHOSTUNREACH'],
  ['6', 'ECONNRESET'],
])('%s: connect that fails with %s is tried three times, and nothing was sent', (_row, code) => {
  eachWay(async (carrier, method) => {
    const connect = replaceConnect((socket) => {
      const problem = Object.assign(new Error(`connect ${code}`), { code, syscall: 'connect' });
      process.nextTick(() => socket.destroy(problem));
    });
    const error = await failure(carrier, method, 'http://127.0.0.1:9876');
    expectFacts(error, { ...unreached, reason: code });
    expect(connect).toHaveBeenCalledTimes(3);
  });
});

describe('several addresses that do not respond in time are tried three times, and nothing was sent', () => {
  eachWay(async (carrier, method) => {
    replaceConnect((socket) => {
      const each = ['10.0.0.1', '10.0.0.2'].map((address) =>
        Object.assign(new Error(`connect ETIMEDOUT ${address}`), { code: 'ETIMEDOUT', syscall: 'connect' }),
      );
      const problem = Object.assign(new AggregateError(each), { code: 'ETIMEDOUT' });
      process.nextTick(() => socket.destroy(problem));
    });
    expectFacts(await failure(carrier, method, 'http://127.0.0.1:9876'), {
      ...unreached,
      // So Node 26's fetch calls what every address said.
      reason:
        carrier === 'fetch' ? expect.stringMatching(/^(?:ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/) : 'ETIMEDOUT',
    });
  });
});

/** The platform's fetch does not tell that it was still connecting, so there a write counts as unknown. */
describe('a connection that does not come about in time', () => {
  eachWay(async (carrier, method) => {
    const connect = replaceConnect(() => {});
    const error = await failure(carrier, method, 'http://127.0.0.1:9876', { timeoutMs: 80 });
    const overHttp = { phase: 'connect', outcome: 'not_sent', attempts: 3 };
    const overFetch = { phase: 'exchange', outcome: 'unknown', attempts: method === 'GET' ? 3 : 1 };
    const expected = carrier === 'http' ? overHttp : overFetch;
    expectFacts(error, { error: 'TimeoutError', scope: 'attempt', ...expected });
    if (carrier === 'http') expect(connect).toHaveBeenCalledTimes(3);
  });
});

/** Puts something else in the place of connecting, as the operating system would. */
function replaceConnect(instead: (socket: Socket) => void) {
  const spy = vi.spyOn(Socket.prototype, 'connect');
  return spy.mockImplementation(function (this: Socket) {
    Reflect.set(this, 'connecting', true);
    instead(this);
    return this;
  });
}

function answerLookup(problem: Error | null, addresses: string[] = []) {
  return (...values: unknown[]) => {
    const callback = values.at(-1);
    if (typeof callback !== 'function') throw new TypeError('lookup takes a callback');
    process.nextTick(
      callback,
      problem,
      addresses.map((address) => ({ address, family: 4 })),
      undefined,
    );
  };
}

const authority = new Authority('Authority');

describe('a certificate that cannot be trusted', () => {
  beforeEach(() => trustAuthority(authority));
  const certificates = [
    [
      'of an unknown authority',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      new Authority('Another').issue('localhost'),
    ],
    ['that is self-signed', 'DEPTH_ZERO_SELF_SIGNED_CERT', new Authority('localhost').identity],
    ['that expired', 'CERT_HAS_EXPIRED', authority.issue('localhost', [-9, -1])],
    ['for another host', 'ERR_TLS_CERT_ALTNAME_INVALID', authority.issue('other.example')],
  ] as const;
  describe.each(certificates)('%s: %s, one connection, nothing sent', (_title, reason, identity) => {
    eachWay(async (carrier, method) => {
      const server = await FaultyServer.start(succeed, { identity });
      const error = await failure(carrier, method, `https://localhost:${server.port}`);
      expectFacts(error, { ...unreached, reason, attempts: 1 });
      expect(server.requests).toHaveLength(0);
      expect(server.connections).toBe(1);
      await server.close();
    });
  });

  describe('that is right: the call succeeds', () => {
    eachWay(async (carrier, method) => {
      const server = await FaultyServer.start(succeed, { identity: authority.issue('localhost') });
      await call(clientOf(carrier, `https://localhost:${server.port}`), method);
      expect(server.requests).toHaveLength(1);
      await server.close();
    });
  });
});

/** A `fetch` reports a code that a connection has in its middle, too. Ours knows that there was none. */
describe('https to a port that speaks http: one connection, nothing sent, as far as can be told', () => {
  eachWay(async (carrier, method) => {
    const server = await FaultyServer.start(succeed, {
      onConnect: (socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    });
    const error = await failure(carrier, method, `https://localhost:${server.port}`);
    const overFetch = { phase: 'exchange', outcome: 'unknown' };
    expectFacts(error, { ...unreached, ...(carrier === 'fetch' && overFetch), attempts: 1 });
    expect(error).toMatchObject({ reason: expect.stringMatching(/^(?:ERR_SSL_|EPROTO$)/) });
    expect(String(error)).toMatch(/scheme.+baseUrl/);
    expect(server.connections).toBe(1);
    await server.close();
  });
});

describe('a connection that closes in the TLS handshake', () => {
  eachWay(async (carrier, method) => {
    const server = await FaultyServer.start(closeSocket, {
      onConnect: (socket) => socket.once('data', () => socket.end()),
    });
    const error = await failure(carrier, method, `https://localhost:${server.port}`);
    const attempts = method === 'GET' ? 3 : 1;
    expectFacts(error, { error: 'ConnectionError', phase: 'exchange', outcome: 'unknown', attempts });
    expect(server.connections).toBe(attempts);
    await server.close();
  });
});

const warned = vi.fn();
process.on('warning', warned);
afterAll(() => {
  process.off('warning', warned);
  expect(warned).not.toHaveBeenCalled();
});
