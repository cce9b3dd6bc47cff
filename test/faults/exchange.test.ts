import { once } from 'node:events';
import { createServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { failFirst, rightBody, succeed } from '../helpers/bodies.js';
import { faultTable, notHttp } from '../helpers/fault-table.js';
import {
  type Behaviour,
  closeSocket,
  FaultyServer,
  rawResponse,
  resetSocket,
  stall,
  writeBytes,
} from '../helpers/faulty-server.js';
import { call, carriers, clientOf, meet, watch } from '../helpers/meeting.js';

watch();

const lost = { error: 'ConnectionError', phase: 'exchange' };
const short = { timeoutMs: 400 };

faultTable([
  {
    title: 'reset after the request was sent',
    fault: () => resetSocket,
    expected: { ...lost, reason: 'ECONNRESET' },
    get: 3,
    write: 1,
    outcome: 'unknown',
  },
  {
    title: 'closed after the request was sent',
    fault: () => closeSocket,
    expected: { ...lost, reason: 'ECONNRESET' },
    overFetch: { reason: 'UND_ERR_SOCKET' },
    get: 3,
    write: 1,
    outcome: 'unknown',
  },
  {
    title: 'silence instead of a response',
    fault: () => stall,
    expected: { error: 'TimeoutError', scope: 'attempt', phase: 'exchange', reason: 'timeout' },
    get: 3,
    write: 1,
    outcome: 'unknown',
    options: short,
    least: 400,
  },
  {
    title: 'an interim answer, then closed',
    fault: () => writeBytes('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n', 'close'),
    expected: { ...lost, reason: 'ECONNRESET' },
    overFetch: { reason: 'UND_ERR_SOCKET' },
    get: 3,
    write: 1,
    outcome: 'unknown',
  },
  ...[
    {
      title: 'a banner of another protocol',
      bytes: 'SSH-2.0-OpenSSH_9.6\r\n',
      reason: 'HPE_INVALID_CONSTANT',
    },
    {
      title: 'a status that is no number',
      bytes: 'HTTP/1.1 abc Odd\r\n\r\n',
      reason: 'HPE_INVALID_STATUS',
    },
    {
      title: 'two lengths',
      bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
      reason: 'HPE_UNEXPECTED_CONTENT_LENGTH',
      newer: 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
    },
  ].map(({ title, bytes, reason, newer }) => ({
    title,
    fault: () => writeBytes(bytes),
    expected: { ...lost, reason },
    overFetch: { reason: notHttp(reason, newer) },
    get: 1,
    write: 1,
    outcome: 'unknown' as const,
  })),
  {
    title: '101',
    fault: () =>
      writeBytes('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    expected: { ...lost, reason: 'protocol' },
    get: 1,
    write: 1,
    outcome: 'unknown',
    also: ({ durationMs }) => expect(durationMs).toBeLessThan(5_000),
  },
  {
    title: 'more headers than are read',
    fault: () => writeBytes(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`),
    expected: { ...lost, reason: 'HPE_HEADER_OVERFLOW' },
    overFetch: { reason: 'UND_ERR_HEADERS_OVERFLOW' },
    get: 1,
    write: 1,
    outcome: 'unknown',
  },
]);

test('a 101 leaves no connection open', async () => {
  let closed: Promise<unknown> | undefined;
  const server = await FaultyServer.start((socket) => {
    closed = once(socket, 'close');
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  });
  await expect(call(clientOf('http', server.url), 'POST')).rejects.toMatchObject({ reason: 'protocol' });
  await closed;
  await server.close();
});

/** The platform's fetch waits for more, until its time is up. */
test('a 101 without a protocol fails at once, too', async () => {
  const { error, requests, durationMs } = await meet(
    writeBytes('HTTP/1.1 101 Switching\r\n\r\n'),
    'http',
    'POST',
  );
  expect(error).toMatchObject({ reason: 'protocol', outcome: 'unknown', attempts: 1 });
  expect(requests).toHaveLength(1);
  expect(durationMs).toBeLessThan(5_000);
});

/** Answers the first request of a connection, and drops the connection when a second comes. */
function dropReused(): Behaviour {
  const used = new WeakSet<object>();
  return (socket, request) => {
    if (used.has(socket)) socket.resetAndDestroy();
    else succeed(socket, request);
    used.add(socket);
  };
}

test.each(carriers)(
  'over %s a GET survives the loss of a kept connection, a POST is sent once',
  async (carrier) => {
    const server = await FaultyServer.start(dropReused());
    const client = clientOf(carrier, server.url);
    await call(client, 'GET');
    await nextTurn();
    await call(client, 'GET');
    expect(server.requests).toHaveLength(3);
    await nextTurn();
    await expect(call(client, 'POST')).rejects.toMatchObject({
      phase: 'exchange',
      outcome: 'unknown',
      attempts: 1,
    });
    expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    await server.close();
  },
);

test.each(carriers)(
  'over %s every call succeeds on a server that closes connections between calls',
  async (carrier) => {
    const server = await FaultyServer.start((socket, { method }) => {
      const body = rightBody(method);
      socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
    const client = clientOf(carrier, server.url);
    for (let n = 0; n < 30; n++) {
      await call(client, 'GET');
      await call(client, 'POST');
    }
    expect(server.requests).toHaveLength(60);
    await server.close();
  },
);

test.each(carriers)('over %s a GET succeeds when the reset passes', async (carrier) => {
  const { error, requests } = await meet(failFirst(2, resetSocket), carrier, 'GET');
  expect(error).toBeUndefined();
  expect(requests).toHaveLength(3);
});

test("a new client's first calls, made at once, share their connections with all later ones", async () => {
  const server = await FaultyServer.start(succeed);
  const client = clientOf('http', server.url);
  const twoCalls = () => Promise.all([call(client, 'GET'), call(client, 'GET')]);
  await twoCalls();
  await nextTurn();
  await twoCalls();
  expect(server.requests).toHaveLength(4);
  expect(server.connections).toBe(2);
  await server.close();
});

test('an early response to a body that the server does not read closes its connection', async () => {
  const body = 'x'.repeat(24 * 1024 * 1024);
  let received = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (chunk) => {
      received += chunk.length;
      socket.pause().write(rawResponse(413, '{}'));
      socket.on('data', (more) => {
        received += more.length;
      });
      socket.pause();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const connected = once(server, 'connection');
  const client = clientOf('http', `http://127.0.0.1:${port}`);
  const sent = client.request({ method: 'POST', path: '/v1/products', body });
  const [socket] = await connected;
  await expect(sent).rejects.toMatchObject({ status: 413, outcome: 'rejected' });
  const closed = once(socket, 'close');
  socket.resume();
  await closed;
  expect(received).toBeLessThan(body.length);
  server.close();
});
