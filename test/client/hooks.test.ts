import { inspect } from 'node:util';
import { type Hooks, type PaymentsClientOptions, TimeoutError } from 'merchant-payments';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import created from '../fixtures/product-created.json' with { type: 'json' };
import unauthorized from '../fixtures/unauthorized.json' with { type: 'json' };
import {
  apiKey,
  carriers,
  createClient,
  jsonResponse,
  mockService,
  success,
  text,
} from '../helpers/service.js';

const service = mockService();

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
});

/** Hooks that note each call: the hook's name and its facts. */
function recordHooks() {
  const calls: [keyof Hooks, object][] = [];
  const hooks: Hooks = {
    request: (facts) => calls.push(['request', facts]),
    response: (facts) => calls.push(['response', facts]),
    retry: (facts) => calls.push(['retry', facts]),
    error: (facts) => calls.push(['error', facts]),
    end: (facts) => calls.push(['end', facts]),
  };
  return { hooks, calls };
}

function throwError(): never {
  throw new Error('then');
}

const params = { name: 'Secret mug', price: '5.00' };
const create = (options: PaymentsClientOptions) =>
  createClient(options).products.create(params, { headers: { 'x-gateway': 'gateway-token-4711' } });

describe.each(carriers)('hooks over %s', (_, options) => {
  test('are called for each request and response, with these facts and no others', async () => {
    service.on('POST /v1/products', jsonResponse({}, 429), jsonResponse(created));
    const { hooks, calls } = recordHooks();
    await create({ ...options, hooks });
    const call = { operation: 'products.create', method: 'POST', path: '/v1/products' };
    const durationMs = expect.any(Number);
    expect(calls).toEqual([
      ['request', { ...call, attempt: 1 }],
      ['response', { ...call, attempt: 1, status: 429, durationMs }],
      [
        'retry',
        { ...call, attempt: 1, delayMs: 0, error: expect.objectContaining({ name: 'RateLimitError' }) },
      ],
      ['request', { ...call, attempt: 2 }],
      ['response', { ...call, attempt: 2, status: 200, durationMs }],
      ['end', { ...call, ok: true, outcome: 'done', attempts: 2, durationMs }],
    ]);
  });

  test('are called when a call fails, with the error that it rejects with', async () => {
    service.on('PATCH /v1/products/:id', jsonResponse(unauthorized, 401));
    const { hooks, calls } = recordHooks();
    const call = createClient({ ...options, hooks }).products.update('prod_1', { name: 'Mug' });
    const error: unknown = await call.catch((reason: unknown) => reason);
    expect(calls.map(([name]) => name)).toEqual(['request', 'response', 'error', 'end']);
    expect(calls[2]?.[1]).toEqual({
      operation: 'products.update',
      method: 'PATCH',
      path: '/v1/products/{id}',
      attempt: 1,
      durationMs: expect.any(Number),
      error,
    });
    expect(calls[2]?.[1]).toHaveProperty('error', error);
  });

  test('never see a key, a header’s value or a body', async () => {
    service.on(
      'POST /v1/products',
      jsonResponse({ code: 429, message: `key ${apiKey}` }, 429),
      jsonResponse({}, 422),
    );
    const { hooks, calls } = recordHooks();
    await expect(create({ ...options, hooks })).rejects.toThrow();
    expect(calls).toHaveLength(7);
    const seen = inspect(calls, { depth: null, showHidden: true }) + JSON.stringify(calls);
    for (const secret of [apiKey, 'gateway-token-4711', 'Secret mug']) expect(seen).not.toContain(secret);
  });

  test.each<[string, () => unknown]>([
    [
      'throw',
      () => {
        throw new Error('hook');
      },
    ],
    [
      'throw null',
      () => {
        throw null;
      },
    ],
    ['reject', () => Promise.reject(new Error('hook'))],
    ['return a thenable that throws', () => Object.defineProperty({}, 'then', { get: throwError })],
    ['never settle', () => new Promise(() => {})],
  ])('that %s change nothing', async (_, hook) => {
    service.on('POST /v1/products', jsonResponse({}, 429), jsonResponse(created), jsonResponse({}, 422));
    const rejected: unknown[] = [];
    const onRejection = (reason: unknown) => rejected.push(reason);
    process.on('unhandledRejection', onRejection);
    const hooks = { request: hook, response: hook, retry: hook, error: hook, end: hook };
    expect(await create({ ...options, hooks })).toMatchObject({ id: 'prod_8f2c1a' });
    await expect(create({ ...options, hooks })).rejects.toMatchObject({ status: 422 });
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', onRejection);
    expect(rejected).toEqual([]);
    expect(service.requests).toHaveLength(3);
  });
});

test('facts that a hook changes are its own copy', async () => {
  service.on('POST /v1/products', jsonResponse(created));
  const statuses: unknown[] = [];
  const hooks: Hooks = {
    request: (facts) => Object.assign(facts, { operation: 'changed', attempt: 99 }),
    response: (facts) => statuses.push(facts),
  };
  await create({ hooks });
  expect(statuses).toMatchObject([{ operation: 'products.create', attempt: 1 }]);
});

test('a call that is refused before it is sent calls the hooks error and end', async () => {
  const { hooks, calls } = recordHooks();
  await expect(createClient({ hooks }).checkouts.retrieve('')).rejects.toThrow();
  expect(calls).toMatchObject([
    ['error', { operation: 'checkouts.retrieve', attempt: 0 }],
    ['end', { operation: 'checkouts.retrieve', attempts: 0, ok: false, outcome: 'not_sent' }],
  ]);
});

test('the hook end tells a response that cannot be used from success: both outcomes are done', async () => {
  service.on('POST /v1/products', success(null));
  const { hooks, calls } = recordHooks();
  await expect(create({ hooks })).rejects.toMatchObject({ outcome: 'done' });
  expect(calls.at(-1)).toMatchObject(['end', { ok: false, outcome: 'done' }]);
});

test('an attempt without a response has a request and no response', async () => {
  const { hooks, calls } = recordHooks();
  const fetch = () => new Promise<Response>(() => {});
  const client = createClient({ hooks, fetch, timeoutMs: 5, maxRetries: 0 });
  await expect(client.balance.retrieve()).rejects.toBeInstanceOf(TimeoutError);
  expect(calls.map(([name]) => name)).toEqual(['request', 'error', 'end']);
});

test.each(carriers)('a response whose body breaks off is passed to the hook over %s', async (_, options) => {
  service.on('GET /v1/balance', text('x'.repeat(9_000_000)));
  const { hooks, calls } = recordHooks();
  await expect(createClient({ ...options, hooks }).balance.retrieve()).rejects.toThrow('larger than 8 MiB');
  expect(calls.map(([name]) => name)).toEqual(['request', 'response', 'error', 'end']);
  expect(calls[1]?.[1]).toMatchObject({ attempt: 1, status: 200, durationMs: expect.any(Number) });
});

test('after an abort by the caller only the hook end is called, not the hook error', async () => {
  const { hooks, calls } = recordHooks();
  const call = createClient({ hooks }).balance.retrieve({ signal: AbortSignal.abort('enough') });
  await expect(call).rejects.toBe('enough');
  expect(calls).toMatchObject([['end', { attempts: 0, ok: false, outcome: 'not_sent' }]]);
});

test('a reason that is the error of another call passes untouched, and is no error of this one', async () => {
  const { hooks, calls } = recordHooks();
  const cause = await createClient()
    .products.create({ name: '', price: '' })
    .catch((error: unknown) => error);
  const stack = cause instanceof Error && cause.stack;
  Object.freeze(cause);
  service.on('GET /v1/balance', () => new Promise(() => {}));
  const controller = new AbortController();
  const call = createClient({ hooks }).balance.retrieve({ signal: controller.signal });
  setTimeout(() => controller.abort(cause), 20);
  await expect(call).rejects.toBe(cause);
  expect(cause).toHaveProperty('stack', stack);
  expect(calls.map(([name]) => name)).toEqual(['request', 'end']);
});

test('the hook end has the outcome of a write that its caller aborted', async () => {
  const { hooks, calls } = recordHooks();
  const controller = new AbortController();
  const fetch = async () => {
    setTimeout(() => controller.abort('left'));
    return new Promise<Response>(() => {});
  };
  const call = createClient({ hooks, fetch }).products.create(params, { signal: controller.signal });
  await expect(call).rejects.toBe('left');
  expect(calls.at(-1)).toMatchObject(['end', { attempts: 1, ok: false, outcome: 'unknown' }]);
  expect(calls.map(([name]) => name)).toEqual(['request', 'end']);
});

describe('an instance of a class as hooks', () => {
  class Counter {
    #count = 0;
    name = 'a field that is no hook';

    request() {
      this.#count++;
    }

    get count() {
      return this.#count;
    }
  }
  class LoudCounter extends Counter {
    heard: string[] = [];

    end({ outcome }: { outcome: string }) {
      this.heard.push(outcome);
    }
  }

  test('has its methods called, and those that it inherits, with itself as this', async () => {
    service.on('POST /v1/products', jsonResponse(created));
    const hooks = new LoudCounter();
    await create({ hooks });
    expect(hooks.count).toBe(1);
    expect(hooks.heard).toEqual(['done']);
  });

  test('that has none of the hooks is refused', () => {
    const hooks: Hooks = Object.create({ requests() {} });
    expect(() => createClient({ hooks })).toThrow(/hooks must have a method request, response/);
  });
});

test('hooks that are changed after the constructor change nothing', async () => {
  service.on('POST /v1/products', jsonResponse(created));
  const { hooks, calls } = recordHooks();
  const client = createClient({ hooks });
  hooks.request = () => calls.push(['error', {}]);
  await client.products.create(params);
  expect(calls.map(([name]) => name)).toEqual(['request', 'response', 'end']);
});

test('a hook may freeze the error that it gets: the call rejects with it', async () => {
  service.on('GET /v1/balance', jsonResponse({}, 503));
  // The wait before the next attempt ends too late, so the error that the hook got is that of the call.
  const retry = ({ error }: { error: Error }) => {
    Object.freeze(error);
    for (const end = performance.now() + 1_000; performance.now() < end; );
  };
  const payments = createClient({ hooks: { retry }, totalTimeoutMs: 1_000 });
  const error = await payments.balance.retrieve().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'ServerError', outcome: 'unknown' });
  expect(Object.isFrozen(error)).toBe(true);
});
