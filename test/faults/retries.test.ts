import { describe, expect, test, vi } from 'vitest';
import { failFirst } from '../helpers/bodies.js';
import { type Behaviour, resetSocket, respondWith, stall } from '../helpers/faulty-server.js';
import { call, carriers, clientOf, meet, settle, watch } from '../helpers/meeting.js';
import { deadPort } from '../helpers/ports.js';

watch();

const askToRetry = (status: number, retryAfter: string): Behaviour =>
  respondWith(status, '', { 'retry-after': retryAfter });

/** Milliseconds between the requests that a server saw. */
function gaps(requests: readonly { at: number }[]): number[] {
  return requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? 0));
}

describe.each(carriers)('over %s', (carrier) => {
  test('the wait of Retry-After is kept by reads and writes after a 429, and by reads after a 503', async () => {
    const meetings = await Promise.all([
      meet(failFirst(1, askToRetry(429, '1')), carrier, 'GET'),
      meet(failFirst(1, askToRetry(429, '1')), carrier, 'POST'),
      meet(failFirst(1, askToRetry(503, '1')), carrier, 'GET'),
    ]);
    for (const { error, requests } of meetings) {
      expect(error).toBeUndefined();
      expect(requests).toHaveLength(2);
      expect(gaps(requests)[0]).toBeGreaterThanOrEqual(995);
    }
    const { error, requests } = await meet(askToRetry(503, '1'), carrier, 'POST');
    expect(error).toMatchObject({ name: 'ServerError', outcome: 'unknown', retryAfterMs: 1_000 });
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
    const { error, requests } = await meet(resetSocket, carrier, 'GET', { hooks });
    expect(error).toMatchObject({ name: 'ConnectionError', reason: 'ECONNRESET', attempts: 1 });
    expect(requests).toHaveLength(1);
  });

  test('a call whose time is over before its first attempt times out, and Node warns of no negative timer', async () => {
    const { now } = performance;
    let calls = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + 3_600_000 * calls++);
    const client = clientOf(carrier, `http://127.0.0.1:${deadPort}`, { maxRetries: 0 });
    const { error } = await settle(call(client, 'GET'));
    expect(error).toMatchObject({ attempts: 1 });
  });

  test('a call whose time runs out in an attempt is not tried again', async () => {
    const options = { timeoutMs: 1_000, totalTimeoutMs: 2_000 };
    const { error, requests, durationMs } = await meet(stall, carrier, 'GET', options);
    expect(error).toMatchObject({ name: 'TimeoutError', scope: 'total', attempts: 2 });
    expect(requests).toHaveLength(2);
    expect(durationMs).toBeGreaterThanOrEqual(1_999);
  });

  test('maxRetries is the number of retries, and 0 means none', async () => {
    for (const maxRetries of [0, 1, 4]) {
      const { requests } = await meet(respondWith(500), carrier, 'GET', { maxRetries });
      expect(requests).toHaveLength(maxRetries + 1);
    }
  });
});
