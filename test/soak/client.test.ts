import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Outcome } from 'merchant-payments';
import { expect, test, vi } from 'vitest';
import product from '../fixtures/product-created.json' with { type: 'json' };
import { rightBody } from '../helpers/bodies.js';
import { type ArrivedRequest, type Behaviour, FaultyServer, rawResponse } from '../helpers/faulty-server.js';
import { type Carrier, carriers, clientOf, factsOf, settle } from '../helpers/meeting.js';
import { deadPort } from '../helpers/ports.js';

/** 20,000 together; fetch takes three times as long. */
const volume: Record<Carrier, number> = { http: 14_000, fetch: 6_000 };
const atOnce = 32;

/** Faults before the service has done anything, then faults after. */
const refusals: Behaviour[] = [429, 429, 429, 401, 422, 501].map(
  (status) => (socket) => socket.write(rawResponse(status)),
);
const losses: Behaviour[] = [
  (socket) => socket.resetAndDestroy(),
  (socket) => socket.end(),
  (socket) => socket.write(rawResponse(500)),
  (socket) => socket.write(rawResponse(503)),
  (socket) => socket.write(rawResponse(302, '', { location: '/' })),
  () => {},
];
const brokenAnswers: Behaviour[] = [
  (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"code":0'),
  (socket) => socket.write(rawResponse(200, '<html>')),
  (socket) => socket.write(rawResponse(200, '')),
  (socket) => socket.write(rawResponse(200, '{"code":0,"data":{"id":"half"}}')),
];

/** The service's books: how often each write was done, by its name. */
class FlakyService {
  readonly done = new Map<string, number>();
  faults = 0;

  behave: Behaviour = (socket, request) => {
    const roll = pseudoRandom(request.number);
    if (roll >= 0.1) {
      this.#book(request);
      socket.write(rawResponse(200, request.method === 'GET' ? rightBody('GET') : JSON.stringify(product)));
      return;
    }
    this.faults++;
    if (roll < 0.03) return pick(refusals, request)(socket, request);
    if (roll < 0.07) {
      // Lost before or after it was done: nobody but the service knows.
      if (roll < 0.05) this.#book(request);
      return pick(losses, request)(socket, request);
    }
    this.#book(request);
    pick(brokenAnswers, request)(socket, request);
  };

  #book({ method, body }: ArrivedRequest): void {
    if (method === 'GET') return;
    const { name } = JSON.parse(body);
    this.done.set(name, (this.done.get(name) ?? 0) + 1);
  }
}

function pick(list: readonly Behaviour[], { number }: ArrivedRequest): Behaviour {
  return list[number % list.length] ?? (() => {});
}

/** Between 0 and 1, and the same in every run. */
function pseudoRandom(seed: number): number {
  const mixed = Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d);
  return ((Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39) ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}

/** The counts that are possible for a write with this outcome. */
const allowed: Record<Outcome | 'answered', number[]> = {
  answered: [1],
  done: [1],
  rejected: [0],
  not_sent: [0],
  unknown: [0, 1],
};

test.each(carriers)(
  'over %s the books of a flaky service and of its client agree on every write, and nothing is left over',
  async (carrier) => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const calls = volume[carrier];
    const service = new FlakyService();
    const server = await FaultyServer.start(service.behave);
    const { ended, growth, listeners } = await soak(carrier, server);

    const tally: Record<string, number> = {};
    for (const [name, outcome] of ended) {
      tally[outcome] = (tally[outcome] ?? 0) + 1;
      const done = service.done.get(name) ?? 0;
      expect(allowed[outcome], `${name} ended as ${outcome} and was done ${done} times`).toContain(done);
    }
    expect(ended.size).toBe(calls / 2);
    expect(service.faults).toBeGreaterThan(calls / 20);
    for (const outcome of ['answered', 'done', 'rejected', 'not_sent', 'unknown']) {
      expect(tally[outcome], outcome).toBeGreaterThan(10);
    }
    expect(listeners).toBe(0);
    expect(growth).toBeLessThan(8);

    const before = process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length;
    await server.close();
    await vi.waitFor(() =>
      expect(process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length).toBeLessThan(
        Math.max(before, 1),
      ),
    );
  },
  240_000,
);

/** Half of the calls read, half of them write under a name of their own; one in a hundred goes where nobody listens. */
async function soak(carrier: Carrier, server: FaultyServer) {
  const calls = volume[carrier];
  const client = clientOf(carrier, server.url, { timeoutMs: 150 });
  const nobody = clientOf(carrier, `http://127.0.0.1:${deadPort}`, { maxRetries: 0 });
  const { signal } = new AbortController();
  const ended = new Map<string, Outcome | 'answered'>();
  let next = 0;
  const worker = async () => {
    for (let n = next++; n < calls; n = next++) {
      if (n % 2 === 0) {
        await settle(client.balance.retrieve({ signal }));
        continue;
      }
      const name = `write ${n}`;
      const target = n % 100 === 1 ? nobody : client;
      const { error } = await settle(target.products.create({ name, price: '5' }, { signal }));
      const { outcome } = factsOf(error, ['outcome']);
      ended.set(name, isOutcome(outcome) ? outcome : 'answered');
      if (n === calls / 5 - 1) heapBefore = heap();
    }
  };
  let heapBefore = heap();
  await Promise.all(Array.from({ length: atOnce }, worker));
  server.requests.length = 0;
  return { ended, growth: heap() - heapBefore, listeners: getEventListeners(signal, 'abort').length };
}

function isOutcome(value: unknown): value is Outcome {
  return typeof value === 'string' && value in allowed;
}

/** Megabytes that are in use once garbage is gone. */
function heap(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}
