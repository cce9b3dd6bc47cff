import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { PaymentsClientOptions } from 'merchant-payments';
import nodeFetch from 'node-fetch';
import { fetch as undiciFetch } from 'undici';
import { describe, expect, test } from 'vitest';
import { succeed } from '../helpers/bodies.js';
import { Authority, trustAuthority } from '../helpers/certificate.js';
import { FaultyServer, resetSocket } from '../helpers/faulty-server.js';
import { call, clientOf, expectNoTrace, settle, watch } from '../helpers/meeting.js';
import { deadPort } from '../helpers/ports.js';

watch();

const carriers: [string, PaymentsClientOptions['fetch']][] = [
  ['node:http', undefined],
  ['the fetch of the platform', globalThis.fetch],
  ['the fetch of undici', undiciFetch],
  ['node-fetch', nodeFetch],
];

const authority = new Authority('Authority');

async function failureOfPost(baseUrl: string, fetch: PaymentsClientOptions['fetch']) {
  const { error } = await settle(call(clientOf('http', baseUrl, { fetch }), 'POST'));
  expectNoTrace(error);
  return error;
}

describe.each(carriers)('over %s', (_name, fetch) => {
  test('a POST to a port that nobody listens on was not sent, and is tried three times', async () => {
    const error = await failureOfPost(`http://127.0.0.1:${deadPort}`, fetch);
    expect(error).toMatchObject({ reason: 'ECONNREFUSED', outcome: 'not_sent', attempts: 3 });
  });

  test('a POST to a stranger with a certificate of its own was not sent', async () => {
    trustAuthority(authority);
    const server = await FaultyServer.start(succeed, { identity: new Authority('localhost').identity });
    const error = await failureOfPost(`https://localhost:${server.port}`, fetch);
    expect(error).toMatchObject({ reason: 'DEPTH_ZERO_SELF_SIGNED_CERT', outcome: 'not_sent', attempts: 1 });
    expect(server.requests).toHaveLength(0);
    await server.close();
  });

  test('a POST whose kept connection breaks may have been done, and is sent once', async () => {
    const server = await FaultyServer.start((socket, request) =>
      (request.method === 'GET' ? succeed : resetSocket)(socket, request),
    );
    const client = clientOf('http', server.url, { fetch });
    await call(client, 'GET');
    const { error } = await settle(call(client, 'POST'));
    expect(error).toMatchObject({ phase: 'exchange', outcome: 'unknown', attempts: 1 });
    expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'POST']);
    await server.close();
  });
});

/** undici does not report such an error at all: it waits until its time is up. */
describe.each(carriers.filter(([, fetch]) => fetch === undefined || fetch === nodeFetch))(
  'over %s',
  (_name, fetch) => {
    test.each([
      ['of another version', [0x17, 0xff, 0xff, 0x00, 0x14], 'ERR_SSL_WRONG_VERSION_NUMBER'],
      ['that cannot be decrypted', [0x17, 3, 3, 0, 20], 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC'],
    ])(
      'a POST after which TLS fails by bytes %s may have been done, and is sent once',
      async (_title, head, reason) => {
        trustAuthority(authority);
        const clients = new Set<Socket>();
        const disturb = () => {
          for (const socket of clients) socket.write(Buffer.from([...head, ...Array(20).fill(7)]));
        };
        const server = await FaultyServer.start(disturb, { identity: authority.issue('localhost') });
        const middle = createServer((socket) => {
          clients.add(socket);
          const onwards = connect(server.port, '127.0.0.1');
          for (const end of [socket, onwards]) end.on('error', () => {});
          socket.pipe(onwards).pipe(socket);
        }).listen(0, '127.0.0.1');
        await once(middle, 'listening');
        const address = middle.address();
        const port = typeof address === 'object' ? address?.port : undefined;
        const error = await failureOfPost(`https://localhost:${port}`, fetch);
        expect(error).toMatchObject({ reason, phase: 'exchange', outcome: 'unknown', attempts: 1 });
        expect(server.requests).toHaveLength(1);
        for (const socket of clients) socket.destroy();
        middle.close();
        await server.close();
      },
    );
  },
);

/** The error of undici and node-fetch for a kept connection whose host is gone. compat/transport meets the real thing. */
test.each([
  ['undici', () => new TypeError('fetch failed', { cause: systemError({ syscall: 'read' }) })],
  ['node-fetch', () => systemError({ erroredSysCall: 'read', type: 'system' })],
])(
  'EHOSTUNREACH from read, as %s reports it, leaves a POST in doubt: it is sent once',
  async (_name, failure) => {
    const server = await FaultyServer.start(succeed);
    const error = await failureOfPost(server.url, async (url, init) => {
      await undiciFetch(url, init);
      throw failure();
    });
    expect(error).toMatchObject({
      reason: 'EHOSTUNREACH',
      phase: 'exchange',
      outcome: 'unknown',
      attempts: 1,
    });
    expect(server.requests).toHaveLength(1);
    await server.close();
  },
);

function systemError(fields: object): Error {
  return Object.assign(new Error('read EHOSTUNREACH'), { code: 'EHOSTUNREACH', ...fields });
}

test.each([
  ['platform', globalThis.fetch],
  ['undici', undiciFetch],
])(
  'a fetch of the %s whose second request fails leaves a POST in doubt: it is sent once',
  async (_name, fetch) => {
    const server = await FaultyServer.start(succeed);
    for (const second of [
      'http://audit.invalid/',
      `http://127.0.0.1:${deadPort}/`,
      'http://audit.invalid:8080/',
    ]) {
      const error = await failureOfPost(server.url, async (url, init) => {
        const response = await fetch(url, init);
        await fetch(second);
        return response;
      });
      expect(error).toMatchObject({ phase: 'exchange', outcome: 'unknown', attempts: 1 });
      expect(String(error)).not.toContain('does not resolve');
    }
    expect(server.requests).toHaveLength(3);
    await server.close();
  },
);

test.each([
  ['the lookup of another host', { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: 'proxy.internal' }],
  ['a connection to another port', { code: 'ECONNREFUSED', syscall: 'connect', port: 3128 }],
  ['the certificate of another host', { code: 'ERR_TLS_CERT_ALTNAME_INVALID', host: 'audit.example' }],
])('%s that fails proves nothing of a POST', async (_title, fields) => {
  const error = await failureOfPost('https://api.shop.example', async () => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('failed'), fields) });
  });
  expect(error).toMatchObject({ phase: 'exchange', outcome: 'unknown', attempts: 1 });
});

test.each([
  ['https://api.shop.example', { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: 'api.shop.example' }],
  ['https://api.shop.example', { code: 'ECONNREFUSED', syscall: 'connect', port: 443 }],
  ['http://[::1]', { code: 'ECONNREFUSED', syscall: 'connect', hostname: '::1', port: 80 }],
  ['http://[::1]:8443', { code: 'ECONNREFUSED', syscall: 'connect', address: '::1', port: 8443 }],
  ['https://api.shop.example:8443', { code: 'ECONNREFUSED', syscall: 'connect' }],
])('a failure to reach %s that says %j proves that a POST was not sent', async (baseUrl, fields) => {
  const error = await failureOfPost(baseUrl, async () => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('failed'), fields) });
  });
  expect(error).toMatchObject({ phase: 'connect', outcome: 'not_sent', attempts: 3 });
});
