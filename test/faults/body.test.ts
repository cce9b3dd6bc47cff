import zlib, { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import { rightBody } from '../helpers/bodies.js';
import { bodyCanary } from '../helpers/canary.js';
import { faultTable, notHttp } from '../helpers/fault-table.js';
import {
  type Behaviour,
  FaultyServer,
  rawResponse,
  respondWith,
  stall,
  writeBytes,
} from '../helpers/faulty-server.js';
import { call, carriers, clientOf, meet, methods, settle, watch } from '../helpers/meeting.js';

watch();

const short = { timeoutMs: 400 };
const ok = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const half = `{"code":0,"message":"success","data":{"id":"${bodyCanary}`;
const brokenOff = { error: 'ConnectionError', phase: 'body', reason: 'ECONNRESET' };
const closedEarly = { reason: 'UND_ERR_SOCKET' };
/** undici names the reset by the system's code or by its own, whichever event of the socket it sees first. */
const resetEarly = { reason: expect.stringMatching(/^(?:ECONNRESET|UND_ERR_SOCKET)$/) };

/** Starts an answer and goes on with one byte every few milliseconds, so that it is never silent for long. */
const drip: Behaviour = (socket) => {
  socket.write(`${ok}Content-Length: 1000\r\n\r\n`);
  const timer = setInterval(() => socket.write(' '), 20);
  socket.on('close', () => clearInterval(timer));
};

function sendCompressed(encoding: string, body: Buffer): () => Behaviour {
  return () => respondWith(200, body, { 'content-encoding': encoding });
}

faultTable([
  {
    title: 'silence in the middle of the body',
    fault: () => writeBytes(`${ok}Content-Length: 1000\r\n\r\n${half}`),
    expected: { error: 'TimeoutError', scope: 'attempt', phase: 'body' },
    get: 3,
    write: 1,
    outcome: 'unknown',
    options: short,
    least: 400,
  },
  {
    title: 'one byte after the other',
    fault: () => drip,
    expected: { error: 'TimeoutError', scope: 'attempt', phase: 'body' },
    get: 3,
    write: 1,
    outcome: 'unknown',
    options: short,
    least: 400,
  },
  {
    title: 'reset in the middle of the body',
    fault: () => writeBytes(`${ok}Content-Length: 1000\r\n\r\n${half}`, 'reset'),
    expected: brokenOff,
    overFetch: resetEarly,
    get: 3,
    write: 1,
    outcome: 'unknown',
  },
  {
    title: 'closed before the announced length',
    fault: () => writeBytes(`${ok}Content-Length: 1000\r\n\r\n${half}`, 'close'),
    expected: brokenOff,
    overFetch: closedEarly,
    get: 3,
    write: 1,
    outcome: 'unknown',
  },
  {
    title: 'chunks without the last one',
    fault: () => writeBytes(`${ok}Transfer-Encoding: chunked\r\n\r\n10\r\n${half.slice(0, 16)}\r\n`, 'close'),
    expected: brokenOff,
    overFetch: closedEarly,
    get: 3,
    write: 1,
    outcome: 'unknown',
  },
  {
    title: 'a chunk whose length is no number',
    fault: () => writeBytes(`${ok}Transfer-Encoding: chunked\r\n\r\nzz\r\n${half}\r\n`),
    expected: { error: 'ConnectionError', phase: 'body', reason: 'HPE_INVALID_CHUNK_SIZE' },
    overFetch: { reason: notHttp('HPE_INVALID_CHUNK_SIZE') },
    get: 1,
    write: 1,
    outcome: 'unknown',
  },
  {
    title: 'a body without length, cut',
    fault: () => writeBytes(`${ok}Connection: close\r\n\r\n${half}`, 'close'),
    expected: { error: 'InvalidResponseError', reason: 'json' },
    get: 3,
    write: 1,
    outcome: 'unknown',
  },
  {
    title: 'JSON that breaks off in a whole answer',
    fault: () => respondWith(200, half),
    expected: { error: 'InvalidResponseError', reason: 'json', issues: [] },
    get: 1,
    write: 1,
    outcome: 'unknown',
  },
  {
    title: 'gzip with a wrong header',
    fault: sendCompressed('gzip', Buffer.from('not gzip at all')),
    expected: { error: 'ConnectionError', phase: 'body', reason: 'Z_DATA_ERROR' },
    get: 1,
    write: 1,
    outcome: 'unknown',
  },
  {
    title: 'gzip that is cut',
    fault: sendCompressed('gzip', gzipSync(half.repeat(99)).subarray(0, -20)),
    expected: { error: 'InvalidResponseError', reason: 'json' },
    get: 3,
    write: 1,
    outcome: 'unknown',
  },
  {
    title: 'gzip whose connection is closed within it',
    fault: () =>
      writeBytes(
        Buffer.concat([
          Buffer.from(`${ok}Content-Encoding: gzip\r\nContent-Length: 5000\r\n\r\n`),
          gzipSync(half.repeat(99)).subarray(0, 50),
        ]),
        'close',
      ),
    expected: { error: 'ConnectionError', phase: 'body' },
    get: 3,
    write: 1,
    outcome: 'unknown',
  },
  {
    title: 'a length of 100 MB',
    fault: () => writeBytes(`${ok}Content-Length: 100000000\r\n\r\n${half}`),
    expected: { error: 'InvalidResponseError', reason: 'too_large' },
    get: 1,
    write: 1,
    outcome: 'unknown',
  },
  {
    title: '9 MiB without a length',
    fault: () => writeBytes(Buffer.concat([Buffer.from(`${ok}\r\n`), Buffer.alloc(9 * 1024 * 1024, 0x20)])),
    expected: { error: 'InvalidResponseError', reason: 'too_large' },
    get: 1,
    write: 1,
    outcome: 'unknown',
  },
  {
    title: '9 MiB in a small gzip',
    fault: sendCompressed('gzip', gzipSync(Buffer.alloc(9 * 1024 * 1024, 0x20))),
    expected: { error: 'InvalidResponseError', reason: 'too_large' },
    get: 1,
    write: 1,
    outcome: 'unknown',
  },
]);

test.each(carriers)(
  'over %s a body of 8 MiB is read, in every encoding that servers choose on their own',
  async (carrier) => {
    const room = 8 * 1024 * 1024 - rightBody('GET').length;
    const whole = Buffer.from(' '.repeat(room) + rightBody('GET'));
    const encodings: [Record<string, string>, Buffer][] = [
      [{}, whole],
      [{ 'content-encoding': 'gzip' }, gzipSync(whole)],
      [{ 'content-encoding': 'deflate' }, deflateSync(whole)],
      // Without its header, as some servers send it, and as browsers read it.
      [{ 'content-encoding': 'deflate' }, deflateRawSync(whole)],
      [{ 'content-encoding': 'br' }, brotliCompressSync(whole, { params: {} })],
    ];
    for (const [headers, bytes] of encodings) {
      const { error, value } = await meet(respondWith(200, bytes, headers), carrier, 'GET');
      expect(error).toBeUndefined();
      expect(value).toMatchObject({ available: '1250.00' });
    }
  },
);

/** A status that says what became of the call, with a body that cannot be read. */
const unreadable: [string, (status: number) => Behaviour][] = [
  ['stalls', (status) => writeBytes(rawResponse(status, half).subarray(0, -3))],
  ['is 100 MB long', (status) => writeBytes(`HTTP/1.1 ${status} No\r\nContent-Length: 100000000\r\n\r\n`)],
  ['is no gzip', (status) => respondWith(status, 'plain', { 'content-encoding': 'gzip' })],
];

for (const [body, fault] of unreadable) {
  test.each(carriers)(`over %s a refusal counts by its status, though its body ${body}`, async (carrier) => {
    for (const method of methods) {
      const { error, requests } = await meet(fault(403), carrier, method, short);
      expect(error).toMatchObject({ name: 'PermissionDeniedError', outcome: 'rejected', attempts: 1 });
      expect(requests).toHaveLength(1);
    }
    const { error, requests } = await meet(fault(503), carrier, 'GET', short);
    expect(error).toMatchObject({ name: 'ServerError', outcome: 'unknown' });
    expect(requests).toHaveLength(3);
  });
}

test.each(carriers)(
  'over %s Retry-After is honoured, though the body of the refusal breaks off',
  async (carrier) => {
    const cut = 'HTTP/1.1 429 Slow down\r\nRetry-After: 99\r\nContent-Length: 50\r\n\r\n{';
    const { error, requests } = await meet(writeBytes(cut, 'close'), carrier, 'POST');
    expect(error).toMatchObject({ name: 'RateLimitError', retryAfterMs: 99_000 });
    expect(requests).toHaveLength(1);
  },
);

test('a decompression bomb is not decompressed further once it is refused, and its connection is closed', async () => {
  const decompress = vi.spyOn(zlib, 'brotliDecompressSync');
  const bomb = brotliCompressSync(Buffer.alloc(16 * 1024 * 1024));
  const server = await FaultyServer.start(respondWith(200, bomb, { 'content-encoding': 'br' }));
  const { error } = await settle(call(clientOf('http', server.url), 'POST'));
  expect(error).toMatchObject({ reason: 'too_large', outcome: 'unknown' });
  expect(decompress.mock.calls).toMatchObject([[{}, { maxOutputLength: 8 * 1024 * 1024 }]]);
  decompress.mockRestore();
  await vi.waitFor(() => expect(server.sockets.size).toBe(0), { interval: 1 });
  await server.close();
});

test('a body in two encodings is refused, and the message names them', async () => {
  const bytes = brotliCompressSync(gzipSync(rightBody('GET')));
  const twice = Buffer.from(
    `${ok}Content-Encoding: gzip\r\nContent-Encoding: br\r\nContent-Length: ${bytes.length}\r\n\r\n`,
  );
  const { error } = await meet(writeBytes(Buffer.concat([twice, bytes])), 'http', 'GET');
  expect(error).toMatchObject({ name: 'InvalidResponseError', reason: 'encoding' });
  expect(String(error)).toContain('its Content-Encoding is gzip, br');
});

test.each(carriers)('over %s no encoding is asked for', async (carrier) => {
  const { requests } = await meet(stall, carrier, 'GET', { ...short, maxRetries: 0 });
  const [request] = requests;
  if (carrier === 'http') expect(request?.headers.join('\n')).not.toMatch(/accept-encoding/i);
});
