import type { PaymentsClientOptions } from 'merchant-payments';
import { describe, expect, test, vi } from 'vitest';
import { failsFirst } from '../helpers/bodies.js';
import {
  type Behaviour,
  FaultyServer,
  rawResponse,
  resets,
  respondsWith,
  stalls,
} from '../helpers/faulty-server.js';
import { call, carriers, clientOf, meet, methods, settled, watch } from '../helpers/meeting.js';
import { deadPort } from '../helpers/ports.js';

watch();

const asks = (status: number, retryAfter: string): Behaviour =>
  respondsWith(status, '', { 'retry-after': retryAfter });

/** Milliseconds between the requests that a server saw. */
function gaps(requests: readonly { at: number }[]): number[] {
  return requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? 0));
}

describe.each(carriers)('over %s', (carrier) => {
  test('what Retry-After asks for is waited for: reads and writes after a 429, reads after a 503', async () => {
    const meetings = await Promise.all([
      meet(failsFirst(1, asks(429, '1')), carrier, 'GET'),
      meet(failsFirst(1, asks(429, '1')), carrier, 'POST'),
      meet(failsFirst(1, asks(503, '1')), carrier, 'GET'),
    ]);
    for (const { error, requests } of meetings) {
      expect(error).toBeUndefined();
      expect(requests).toHaveLength(2);
      expect(gaps(requests)[0]).toBeGreaterThanOrEqual(995);
    }
    const { error, requests } = await meet(asks(503, '1'), carrier, 'POST');
    expect(error).toMatchObject({ name: 'ServerError', outcome: 'unknown', retryAfterMs: 1_000 });
    expect(requests).toHaveLength(1);
  });

  test('a date is compared with the Date of the response', async () => {
    const date = (ms: number) => new Date(ms).toUTCString();
    const now = Date.parse('2020-01-01T00:00:00Z');
    const headers = { date: date(now), 'retry-after': date(now + 1_000) };
    const { error, requests } = await meet(failsFirst(1, respondsWith(429, '', headers)), carrier, 'POST');
    expect(error).toBeUndefined();
    expect(gaps(requests)[0]).toBeGreaterThanOrEqual(995);
  });

  test('after a date that is past, 0, or what is no such header, the wait is the usual one', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.06);
    const past = new Date(Date.now() - 60_000).toUTCString();
    const ignored = ['-5', '1.5', 'abc', '1e3', '1, 2', '', '0x10', '٣', 'Fri, 31 Dec 9999'];
    const delays: number[] = [];
    const hooks = { retry: ({ delayMs }: { delayMs: number }) => delays.push(delayMs) };
    const values = [past, '0', ...ignored];
    const meetings = await Promise.all(
      values.map((value) => meetLocally(carrier, failsFirst(2, asks(429, value)), { hooks })),
    );
    expect(delays.sort()).toEqual([...values.map(() => 30), ...values.map(() => 60)]);
    for (const requests of meetings) {
      const [first, second] = gaps(requests);
      expect(first).toBeGreaterThanOrEqual(28);
      expect(second).toBeGreaterThanOrEqual(58);
    }
  });

  test.each(['31', '99999999', new Date(Date.now() + 3_600_000).toUTCString()])(
    '%s asks for more than 30 s, so the call ends at once and says so',
    async (value) => {
      for (const method of methods) {
        const { error, requests } = await meet(asks(429, value), carrier, method);
        expect(error).toMatchObject({ name: 'RateLimitError', outcome: 'rejected' });
        expect(Reflect.get(Object(error), 'retryAfterMs')).toBeGreaterThan(30_000);
        expect(requests).toHaveLength(1);
      }
    },
  );

  test('the same when it asks for more than the time that is left', async () => {
    const { error, requests } = await meet(asks(429, '5'), carrier, 'GET', { totalTimeoutMs: 4_000 });
    expect(error).toMatchObject({ name: 'RateLimitError', retryAfterMs: 5_000 });
    expect(requests).toHaveLength(1);
  });

  test('a wait that would outlast the call ends it at once, with the failure that was met, by no chance', async () => {
    const random = vi.spyOn(Math, 'random');
    for (const chance of [0.2, 0.9, 1]) {
      random.mockReturnValue(chance);
      const refused = await meet(respondsWith(503), carrier, 'GET', { totalTimeoutMs: 1_000 });
      expect(refused.error).toMatchObject({ name: 'ServerError', status: 503, outcome: 'unknown' });
      expect(refused.error).toMatchObject({ attempts: refused.requests.length });
    }
    const { error, requests } = await meet(resets, carrier, 'GET', { totalTimeoutMs: 400 });
    expect(error).toMatchObject({ name: 'ConnectionError', reason: 'ECONNRESET', attempts: 1 });
    expect(requests).toHaveLength(1);
  });

  test('a call whose wait ends after its time, since the process was busy, is not tried again', async () => {
    const { now } = performance;
    let busyMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + busyMs);
    const hooks = {
      retry: () => {
        busyMs = 3_600_000;
      },
    };
    const { error, requests } = await meet(resets, carrier, 'GET', { hooks });
    expect(error).toMatchObject({ name: 'ConnectionError', reason: 'ECONNRESET', attempts: 1 });
    expect(requests).toHaveLength(1);
  });

  test('a call whose time is over before its first attempt times out, and Node warns of no negative timer', async () => {
    const { now } = performance;
    let calls = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 3_600_000 * calls++);
    const client = clientOf(carrier, `http://127.0.0.1:${deadPort}`, { maxRetries: 0 });
    const { error } = await settled(call(client, 'GET'));
    expect(error).toMatchObject({ attempts: 1 });
  });

  test('a call whose time runs out in an attempt is not tried again', async () => {
    const options = { timeoutMs: 1_000, totalTimeoutMs: 2_000 };
    const { error, requests, durationMs } = await meet(stalls, carrier, 'GET', options);
    expect(error).toMatchObject({ name: 'TimeoutError', scope: 'total', attempts: 2 });
    expect(requests).toHaveLength(2);
    expect(durationMs).toBeGreaterThanOrEqual(1_999);
  });

  test('while the service is down, 150 calls make 50 retries; ten calls with a response allow another', async () => {
    let down = true;
    const server = await FaultyServer.start((socket, request) => {
      if (down) socket.write(rawResponse(503));
      else failsFirst(0, resets)(socket, request);
    });
    const retries: unknown[] = [];
    const client = clientOf(carrier, server.url, { hooks: { retry: (facts) => retries.push(facts) } });
    const all = await Promise.all(Array.from({ length: 150 }, () => settled(call(client, 'GET'))));
    expect(all.every(({ error }) => Object(error).name === 'ServerError')).toBe(true);
    expect(server.requests).toHaveLength(200);
    expect(retries).toHaveLength(50);
    expect(retries[0]).toMatchObject({
      operation: 'balance.retrieve',
      attempt: 1,
      delayMs: 0,
      error: { status: 503 },
    });
    down = false;
    for (let n = 0; n < 21; n++) await call(client, 'POST');
    down = true;
    await Promise.all(Array.from({ length: 10 }, () => settled(call(client, 'GET'))));
    expect(server.requests).toHaveLength(200 + 21 + 12);
    await server.close();
  });

  test('maxRetries is the number of retries, and 0 means none', async () => {
    for (const maxRetries of [0, 1, 4]) {
      const { requests } = await meet(respondsWith(500), carrier, 'GET', { maxRetries });
      expect(requests).toHaveLength(maxRetries + 1);
    }
  });
});

async function meetLocally(
  carrier: (typeof carriers)[number],
  behave: Behaviour,
  options: PaymentsClientOptions = {},
) {
  const server = await FaultyServer.start(behave);
  await call(clientOf(carrier, server.url, options), 'GET');
  await server.close();
  return server.requests;
}

test('full jitter: waits lie anywhere below 500 ms, 1 s, 2 s, 4 s and from then on 8 s', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.01);
  const delays: number[] = [];
  const server = await FaultyServer.start(respondsWith(500));
  const hooks = { retry: ({ delayMs }: { delayMs: number }) => delays.push(delayMs) };
  await settled(call(clientOf('http', server.url, { maxRetries: 6, hooks }), 'GET'));
  expect(delays).toEqual([5, 10, 20, 40, 80, 80]);
  await server.close();
});
