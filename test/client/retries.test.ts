import {
  PaymentsClient,
  type PaymentsClientOptions,
  RateLimitError,
  ServerError,
  TimeoutError,
} from 'merchant-payments';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import balance from '../fixtures/balance.json' with { type: 'json' };

// A fetch of our own answers at once, so that nothing but the client's waits takes the fake time.
function serviceOf(
  ...answers: [() => Response | Promise<Response>, ...(() => Response | Promise<Response>)[]]
) {
  const startedAt = performance.now();
  const sentAt: number[] = [];
  const fetch = async () => {
    const next = answers[Math.min(sentAt.length, answers.length - 1)] ?? answers[0];
    sentAt.push(performance.now() - startedAt);
    return next();
  };
  return { fetch, sentAt };
}

const status =
  (code: number, headers: Record<string, string> = {}) =>
  () =>
    Response.json({ code, message: 'No' }, { status: code, headers });
const ok = (body: unknown) => () => Response.json(body);
const neverRespond = () => new Promise<Response>(() => {});

function clientOf(options: PaymentsClientOptions) {
  return new PaymentsClient({ apiKey: 'service_test_1', baseUrl: 'https://api.example', ...options });
}

/** Runs all timers, then returns the call. */
async function finish<T>(call: Promise<T>): Promise<T> {
  call.catch(() => {});
  await vi.runAllTimersAsync();
  return call;
}

beforeEach(async () => {
  // The first request loads what it needs; that takes real time.
  await clientOf({ fetch: async () => Response.json(balance) }).balance.retrieve();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  expect(vi.getTimerCount(), 'timers left behind').toBe(0);
  vi.useRealTimers();
});

test('a last attempt that was not sent says nothing of those before: their outcome stays', async () => {
  const refuseConnection = () =>
    Promise.reject(
      Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED', syscall: 'connect' } }),
    );
  const write = clientOf({ fetch: serviceOf(status(429), refuseConnection).fetch }).products.create({
    name: 'Mug',
    price: '5',
  });
  await expect(finish(write)).rejects.toMatchObject({
    outcome: 'rejected',
    attempts: 3,
    message: expect.stringMatching(
      /^POST \/v1\/products failed; its last attempt was not sent: .* \(ECONNREFUSED\)\.$/,
    ),
  });
  const ends: unknown[] = [];
  const hooks = { end: ({ outcome }: { outcome: string }) => ends.push(outcome) };
  const read = clientOf({ fetch: serviceOf(status(503), refuseConnection).fetch, hooks }).balance.retrieve();
  await expect(finish(read)).rejects.toMatchObject({ outcome: 'unknown', phase: 'connect' });
  expect(ends).toEqual(['unknown']);
  await expect(
    finish(clientOf({ fetch: serviceOf(refuseConnection).fetch }).balance.retrieve()),
  ).rejects.toMatchObject({
    outcome: 'not_sent',
    message: expect.stringMatching(/^GET \/v1\/balance was not sent: /),
  });
});

test('when no attempt succeeds, the last error is thrown and says how many there were', async () => {
  const { fetch, sentAt } = serviceOf(status(503));
  const payments = clientOf({ fetch });
  const call = finish(payments.balance.retrieve());
  await expect(call).rejects.toBeInstanceOf(ServerError);
  await expect(call).rejects.toMatchObject({ attempts: 3 });
  expect(sentAt).toHaveLength(3);
});

test('waits between attempts double from 500 ms to 8 s, with full jitter', async () => {
  vi.mocked(Math.random).mockReturnValue(0.999_999_9);
  const { fetch, sentAt } = serviceOf(status(503));
  const payments = clientOf({ fetch, maxRetries: 7 });
  await expect(finish(payments.balance.retrieve())).rejects.toBeInstanceOf(ServerError);
  const waits = sentAt.slice(1).map((at, index) => Math.round(at - (sentAt[index] ?? 0)));
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000]);
});

describe('Retry-After', () => {
  const now = new Date('2026-01-01T00:00:00Z');
  beforeEach(() => {
    vi.setSystemTime(now);
  });

  test.each([
    ['whole seconds', '3', undefined, 3000],
    ['a date', 'Thu, 01 Jan 2026 00:00:05 GMT', undefined, 5000],
    [
      'a date, compared with the Date of the response',
      'Thu, 01 Jan 2026 01:00:02 GMT',
      'Thu, 01 Jan 2026 01:00:00 GMT',
      2000,
    ],
    ['the longest wait', '30', undefined, 30_000],
    ['a past date: the usual wait', 'Wed, 31 Dec 2025 00:00:00 GMT', undefined, 250],
    ['no such form: the usual wait', 'soon', undefined, 250],
  ])('of %s', async (_, retryAfter, date, wait) => {
    const headers = { 'retry-after': retryAfter, ...(date === undefined ? {} : { date }) };
    const { fetch, sentAt } = serviceOf(status(429, headers), ok(balance));
    const payments = clientOf({ fetch });
    await finish(payments.balance.retrieve());
    expect(sentAt).toEqual([0, wait]);
  });

  test.each(['31', '9'.repeat(400), 'Thu, 01 Jan 2026 00:00:31 GMT'])(
    'of %s is longer than the client waits: the call ends at once and says how long',
    async (retryAfter) => {
      const { fetch, sentAt } = serviceOf(status(429, { 'retry-after': retryAfter }));
      const payments = clientOf({ fetch });
      const call = finish(payments.balance.retrieve());
      await expect(call).rejects.toBeInstanceOf(RateLimitError);
      const asked = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : 31_000;
      await expect(call).rejects.toMatchObject({
        attempts: 1,
        retryAfterMs: Math.min(asked, Number.MAX_SAFE_INTEGER),
      });
      expect(sentAt).toEqual([0]);
    },
  );

  test('of more than the time that is left ends the call at once', async () => {
    const { fetch, sentAt } = serviceOf(status(503, { 'retry-after': '10' }));
    const payments = clientOf({ fetch, totalTimeoutMs: 9000 });
    await expect(finish(payments.balance.retrieve())).rejects.toMatchObject({
      status: 503,
      retryAfterMs: 10_000,
    });
    expect(sentAt).toEqual([0]);
  });
});

describe('time limits', () => {
  test('an attempt ends after timeoutMs, and a GET is tried again', async () => {
    const { fetch, sentAt } = serviceOf(neverRespond, ok(balance));
    const payments = clientOf({ fetch, timeoutMs: 1000 });
    expect(await finish(payments.balance.retrieve())).toMatchObject({ currency: 'USD' });
    expect(sentAt).toEqual([0, 1250]);
  });

  test('by default an attempt has 20 s and a call 60 s', async () => {
    const { fetch, sentAt } = serviceOf(neverRespond);
    const payments = clientOf({ fetch, maxRetries: 9 });
    const startedAt = performance.now();
    const call = finish(payments.balance.retrieve());
    await expect(call).rejects.toBeInstanceOf(TimeoutError);
    await expect(call).rejects.toMatchObject({
      code: 'timeout',
      scope: 'total',
      reason: 'timeout',
      phase: 'exchange',
    });
    expect(performance.now() - startedAt).toBe(60_000);
    expect(sentAt).toEqual([0, 20_250, 40_750]);
  });

  test('an unset timeoutMs is totalTimeoutMs where that is less', async () => {
    const { fetch } = serviceOf(neverRespond);
    const payments = clientOf({ fetch, totalTimeoutMs: 5000, maxRetries: 0 });
    const startedAt = performance.now();
    await expect(finish(payments.balance.retrieve())).rejects.toBeInstanceOf(TimeoutError);
    expect(performance.now() - startedAt).toBe(5000);
  });

  test('a write that timed out is sent once, and may have been done', async () => {
    const { fetch, sentAt } = serviceOf(neverRespond);
    const payments = clientOf({ fetch, timeoutMs: 1000 });
    const call = finish(payments.checkouts.create({ productId: 'prod_1' }));
    await expect(call).rejects.toMatchObject({
      name: 'TimeoutError',
      scope: 'attempt',
      outcome: 'unknown',
      attempts: 1,
    });
    await expect(call).rejects.toThrow(
      'POST /v1/checkouts timed out after 1000 ms (timeoutMs): no response arrived. It may have been done. A session that no customer is sent to charges nobody, so it is safe to create another.',
    );
    expect(sentAt).toEqual([0]);
  });

  test('a wait that would pass the total limit is not begun: the call ends with the failure that was met', async () => {
    const { fetch, sentAt } = serviceOf(status(503));
    const payments = clientOf({ fetch, totalTimeoutMs: 200 });
    const call = finish(payments.balance.retrieve());
    await expect(call).rejects.toMatchObject({ name: 'ServerError', status: 503, attempts: 1 });
    expect(sentAt).toEqual([0]);
  });

  test.each([
    ['of our own', {}, 200],
    ['of exactly what is left', { 'retry-after': '1' }, 1000],
    ['that Retry-After asks for', { 'retry-after': '1' }, 900],
  ])('a wait %s that exceeds the time left is not begun', async (_wait, headers, totalTimeoutMs) => {
    const { fetch } = serviceOf(status(429, headers));
    const began = performance.now();
    await expect(finish(clientOf({ fetch, totalTimeoutMs }).balance.retrieve())).rejects.toMatchObject({
      name: 'RateLimitError',
      attempts: 1,
    });
    expect(performance.now() - began).toBe(0);
  });

  test('limits of one call go before the client’s', async () => {
    const { fetch, sentAt } = serviceOf(neverRespond);
    const payments = clientOf({ fetch, timeoutMs: 9000 });
    const call = payments.balance.retrieve({ timeoutMs: 100, totalTimeoutMs: 2000, maxRetries: 1 });
    await expect(finish(call)).rejects.toMatchObject({ attempts: 2, scope: 'attempt' });
    expect(sentAt).toEqual([0, 350]);
  });

  test('a totalTimeoutMs of one call cuts the client’s timeoutMs', async () => {
    const { fetch } = serviceOf(neverRespond);
    const payments = clientOf({ fetch, timeoutMs: 9000 });
    const startedAt = performance.now();
    await expect(
      finish(payments.balance.retrieve({ totalTimeoutMs: 700, maxRetries: 0 })),
    ).rejects.toMatchObject({
      name: 'TimeoutError',
      scope: 'total',
    });
    expect(performance.now() - startedAt).toBe(700);
  });
});

describe('the retry budget', () => {
  /** Counts the retries of one call while the service is down. */
  async function retriesOf(payments: PaymentsClient) {
    const error: unknown = await finish(payments.balance.retrieve({ maxRetries: 1 })).catch(
      (reason: unknown) => reason,
    );
    return error instanceof ServerError ? Number(error.attempts) - 1 : Number.NaN;
  }

  test('is 50 retries; ten calls with a response allow one more, and first attempts are always sent', async () => {
    let respond: () => Response = status(503);
    const payments = clientOf({ fetch: async () => respond() });
    let retries = 0;
    for (let call = 0; call < 60; call++) retries += await retriesOf(payments);
    expect(retries).toBe(50);

    respond = ok(balance);
    for (let call = 0; call < 9; call++) await finish(payments.balance.retrieve());
    respond = status(503);
    expect(await retriesOf(payments)).toBe(0);

    // The tenth, then ten more: 429 is a response, too.
    for (const refusal of [404, 429]) {
      respond = status(refusal);
      for (let call = 0; call < (refusal === 404 ? 1 : 10); call++)
        await finish(payments.balance.retrieve({ maxRetries: 0 })).catch(() => {});
      respond = status(503);
      expect(await retriesOf(payments)).toBe(1);
      expect(await retriesOf(payments)).toBe(0);
    }
  });

  test('never holds more than 50 retries', async () => {
    let respond: () => Response = ok(balance);
    const payments = clientOf({ fetch: async () => respond() });
    for (let call = 0; call < 100; call++) await finish(payments.balance.retrieve());
    respond = status(503);
    let retries = 0;
    for (let call = 0; call < 60; call++) retries += await retriesOf(payments);
    expect(retries).toBe(50);
  });

  test('is each client’s own', async () => {
    const fetch = async () => status(503)();
    const one = clientOf({ fetch });
    for (let call = 0; call < 60; call++) await retriesOf(one);
    expect(await retriesOf(one)).toBe(0);
    expect(await retriesOf(clientOf({ fetch }))).toBe(1);
  });
});
