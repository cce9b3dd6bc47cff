import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { rightBody } from '../helpers/bodies.js';
import { children } from '../helpers/child.js';
import { type Behaviour, FaultyServer, rawResponse, respondWith } from '../helpers/faulty-server.js';
import { carriers } from '../helpers/meeting.js';

const { run } = children();

const megabyte = 1024 * 1024;

/** 300 MB of blanks in 300 kB: a gzip file may consist of several, one after the other. */
function bomb(): Buffer {
  return Buffer.concat(Array(30).fill(gzipSync(Buffer.alloc(10 * megabyte, 0x20))));
}

/** 100 MB, as fast as the client takes it. */
const flood: Behaviour = (socket) => {
  socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n');
  const chunk = Buffer.alloc(megabyte, 0x20);
  let left = 100;
  const writeMore = () => {
    while (left-- > 0) if (!socket.write(chunk)) return;
    socket.end();
  };
  socket.on('drain', writeMore);
  writeMore();
};

const gzip = rawResponse(200, bomb(), { 'content-encoding': 'gzip' });

const bodies: [title: string, Behaviour][] = [
  ['a gzip bomb of 300 MB', (socket) => socket.write(gzip)],
  ['a body of 100 MB', flood],
];

for (const [title, behave] of bodies) {
  test.each(carriers)(
    `${title} over %s costs less than 64 MB, and its connection is closed`,
    async (carrier) => {
      const server = await FaultyServer.start((socket, request) => {
        if (request.number === 1) socket.write(rawResponse(200, rightBody('GET')));
        else behave(socket, request);
      });
      const found = await run(
        `
      const { PaymentsClient } = await import(entry);
      const fetch = ${carrier === 'fetch' ? 'globalThis.fetch' : 'undefined'};
      const client = new PaymentsClient({ fetch });
      await client.balance.retrieve();
      const peak = () => process.resourceUsage().maxRSS / 1024;
      const before = peak();
      const error = await client.products.create({ name: 'Mug', price: '5' }).catch((error) => error);
      await new Promise((resolve) => setTimeout(resolve, 100));
      console.log(JSON.stringify({ reason: error.reason, outcome: error.outcome, megabytes: peak() - before }));
    `,
        { env: { PAYMENTS_API_KEY: 'key', PAYMENTS_BASE_URL: server.url } },
      );
      expect(found).toMatchObject({ reason: 'too_large', outcome: 'unknown' });
      expect(Reflect.get(Object(found), 'megabytes')).toBeLessThan(64);
      expect(server.requests).toHaveLength(2);
      await server.close();
    },
  );
}

test('one AbortSignal serves 5,000 calls: no listener is left, no warning comes, memory stays', async () => {
  const server = await FaultyServer.start((socket) => socket.write(rawResponse(200, rightBody('GET'))));
  const found = await run(
    `
    import { getEventListeners } from 'node:events';
    const { PaymentsClient } = await import(entry);
    const warnings = [];
    process.on('warning', (warning) => warnings.push(String(warning)));
    const client = new PaymentsClient();
    const { signal } = new AbortController();
    const round = () => Promise.all(Array.from({ length: 100 }, () => client.balance.retrieve({ signal })));
    for (let n = 0; n < 25; n++) await round();
    globalThis.gc();
    const before = process.memoryUsage().heapUsed;
    for (let n = 0; n < 25; n++) await round();
    globalThis.gc();
    const growth = (process.memoryUsage().heapUsed - before) / 1024 / 1024;
    await new Promise((resolve) => setImmediate(resolve));
    console.log(JSON.stringify({ listeners: getEventListeners(signal, 'abort').length, warnings, growth }));
  `,
    { flags: ['--expose-gc'], env: { PAYMENTS_API_KEY: 'key', PAYMENTS_BASE_URL: server.url } },
  );
  expect(found).toMatchObject({ listeners: 0, warnings: [] });
  expect(Reflect.get(Object(found), 'growth')).toBeLessThan(3);
  await server.close();
});

test('bodies are freed without a full garbage collection, though ky keeps what it makes until then', async () => {
  const body = JSON.stringify({ code: 0, data: 'x'.repeat(50_000) });
  const server = await FaultyServer.start(respondWith(200, body));
  const found = await run(
    `
    const { PaymentsClient } = await import(entry);
    const client = new PaymentsClient();
    const calls = async (count) => {
      for (let n = 0; n < count; n++) await client.request({ method: 'GET', path: '/v1/balance' });
      for (let n = 0; n < 3; n++) globalThis.gc({ type: 'minor' });
    };
    await calls(20);
    const before = process.memoryUsage().arrayBuffers;
    await calls(200);
    console.log(JSON.stringify({ kept: (process.memoryUsage().arrayBuffers - before) / 50_000 }));
  `,
    { flags: ['--expose-gc'], env: { PAYMENTS_API_KEY: 'key', PAYMENTS_BASE_URL: server.url } },
  );
  expect(Reflect.get(Object(found), 'kept')).toBeLessThan(20);
  await server.close();
});
