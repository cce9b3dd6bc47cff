import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { PaymentsClient } from 'merchant-payments';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import balance from '../fixtures/balance.json' with { type: 'json' };
import { FaultyServer, rawResponse } from '../helpers/faulty-server.js';
import { apiKey } from '../helpers/service.js';

const success = rawResponse(200, JSON.stringify(balance));

let server: FaultyServer;
let respond: () => void;
let mayRespond: Promise<void>;
let mostSockets = 0;

beforeEach(async () => {
  mostSockets = 0;
  mayRespond = new Promise((resolve) => {
    respond = resolve;
  });
  server = await FaultyServer.start((socket, { method }) => {
    mostSockets = Math.max(mostSockets, server.sockets.size);
    if (method === 'GET') socket.write(success);
    else mayRespond.then(() => socket.write(success));
  });
});
afterEach(() => server.close());

const client = (maxConnections?: number) =>
  new PaymentsClient({ apiKey, baseUrl: server.url, maxConnections, maxRetries: 0 });
const write = (payments: PaymentsClient, timeoutMs?: number) =>
  payments.request({ method: 'POST', path: '/v1/refunds', body: {} }, { timeoutMs });

/** A service in a thread of its own, which closes a connection when it was idle for 50 ms. It counts the writes. */
const impatientService = `
const { createServer } = require('node:net');
const { parentPort } = require('node:worker_threads');
let writes = 0;
createServer((socket) => {
  let timer;
  socket.on('error', () => {}).on('data', (bytes) => {
    clearTimeout(timer);
    if (String(bytes).startsWith('POST')) writes++;
    socket.write(${JSON.stringify(success.toString())});
    timer = setTimeout(() => socket.end(), 50);
  });
}).listen(0, '127.0.0.1', function () { parentPort.postMessage(this.address().port); });
parentPort.on('message', () => parentPort.postMessage(writes));
`;

test('a write after synchronous work takes no connection that the service closed meanwhile', async () => {
  const service = new Worker(impatientService, { eval: true });
  try {
    const [port] = await once(service, 'message');
    const payments = new PaymentsClient({ apiKey, baseUrl: `http://127.0.0.1:${port}` }); // which never retries a write
    for (let round = 1; round <= 3; round++) {
      await Promise.all([payments.balance.retrieve(), payments.balance.retrieve()]);
      for (const until = performance.now() + 300; performance.now() < until; );
      await write(payments);
    }
    service.postMessage('count');
    expect(await once(service, 'message')).toEqual([3]);
  } finally {
    await service.terminate();
  }
});

test.each(['GET', 'POST'] as const)(
  'a %s takes no connection that was idle for four seconds, though no timer has run',
  async (method) => {
    respond();
    const payments = client();
    await payments.balance.retrieve();
    await payments.balance.retrieve();
    expect(server.connections).toBe(1);
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 4_100);
    await payments.request({ method, path: '/v1/balance' });
    expect(server.connections).toBe(2);
  },
);

describe('maxConnections', () => {
  test('is how many connections are open at once; further calls wait for one', async () => {
    const payments = client(3);
    const calls = Array.from({ length: 12 }, () => write(payments));
    await vi.waitFor(() => expect(server.requests).toHaveLength(3));
    respond();
    await Promise.all(calls);
    expect(server.requests).toHaveLength(12);
    expect(mostSockets).toBe(3);
  });

  test('is 100 by default', async () => {
    const payments = client();
    const calls = Array.from({ length: 150 }, () => write(payments));
    await vi.waitFor(() => expect(server.requests).toHaveLength(100));
    respond();
    await Promise.all(calls);
    expect(mostSockets).toBe(100);
  });

  test('a write whose time is over while it waits was not sent', async () => {
    const payments = client(1);
    const first = write(payments);
    await vi.waitFor(() => expect(server.requests).toHaveLength(1));
    await expect(write(payments, 100)).rejects.toMatchObject({
      name: 'TimeoutError',
      outcome: 'not_sent',
      phase: 'connect',
    });
    respond();
    await first;
    expect(server.requests).toHaveLength(1);
  });
});
