import { runInNewContext } from 'node:vm';
import { ConfigurationError, type Fetch, type Hooks, PaymentsClient } from 'merchant-payments';
import { fetch as undiciFetch } from 'undici';
import { describe, expect, test, vi } from 'vitest';
import { rightBody } from '../helpers/bodies.js';
import { canaryKey } from '../helpers/canary.js';
import { call, expectNoTrace, methods, settle, watch } from '../helpers/meeting.js';

watch();

/** A client whose fetch misbehaves, and the calls that it got. */
function clientWith(
  behaviour: (request: unknown, init: RequestInit | undefined) => unknown,
  maxRetries = 2,
  hooks?: Hooks,
) {
  const calls = vi.fn(behaviour);
  const fetch = async (request: unknown, init?: RequestInit) => calls(request, init);
  // The function's result is no Response, so no type lets it through.
  const options = [{ apiKey: canaryKey, baseUrl: 'https://api.shop.example', fetch, maxRetries, hooks }];
  const client: PaymentsClient = Reflect.construct(PaymentsClient, options);
  return { client, calls };
}

function throwError(): never {
  throw new Error('read');
}

/** Faults that only a function of the user's own can have. */
const faults: [title: string, () => unknown][] = [
  [
    'throws text that holds the key',
    () => {
      throw `failed with ${canaryKey}`;
    },
  ],
  ['rejects with undefined', () => Promise.reject(undefined)],
  ['rejects with null', () => Promise.reject(null)],
  ['returns nothing', () => undefined],
  ['returns text', () => 'OK'],
  ['returns what only looks like a response', () => ({ status: 200, headers: new Map(), body: null })],
];

describe.each(faults)('a fetch that %s', (_title, behaviour) => {
  test.each(methods)('%s: ConnectionError, outcome unknown, not tried again', async (method) => {
    const { client, calls } = clientWith(behaviour);
    const { error } = await settle(call(client, method));
    expect(error).toMatchObject({ name: 'ConnectionError', phase: 'exchange', outcome: 'unknown' });
    expectNoTrace(error);
    expect(calls).toHaveBeenCalledTimes(1);
  });
});

/** Errors of a caller's own function that is wrong, and the part of each that the message shows. */
const mistakes: [title: string, thrown: () => unknown, shown: string][] = [
  [
    'a TypeError',
    () => new TypeError("Cannot read properties of undefined (reading 'agent')"),
    "TypeError: Cannot read properties of undefined (reading 'agent')",
  ],
  ['an Error', () => new Error('proxy agent not configured'), 'Error: proxy agent not configured'],
  ['the key', () => new Error(`failed with ${canaryKey}`), 'Error: failed with [redacted]'],
  ['text', () => 'no proxy', 'no proxy'],
  ['an Error of another realm', () => runInNewContext("new Error('no proxy')"), 'Error: no proxy'],
  ['undefined', () => undefined, 'undefined'],
  [
    'a refused argument',
    () =>
      new TypeError('fetch failed', {
        cause: Object.assign(new Error('invalid onRequestStart method'), { code: 'UND_ERR_INVALID_ARG' }),
      }),
    'TypeError: fetch failed, caused by Error: invalid onRequestStart method',
  ],
  [
    'the failure of a file',
    () =>
      Object.assign(new Error("ENOENT: no such file, open 'ca.pem'"), { code: 'ENOENT', syscall: 'open' }),
    "Error: ENOENT: no such file, open 'ca.pem'",
  ],
  [
    'a code that no network has',
    () => Object.assign(new Error("Cannot find package 'proxy'"), { code: 'ERR_MODULE_NOT_FOUND' }),
    "Error: Cannot find package 'proxy'",
  ],
  [
    'the refusal of a proxy, as undici does',
    () =>
      new TypeError('fetch failed', {
        cause: Object.assign(new Error('Proxy response (407)'), { code: 'UND_ERR_ABORTED' }),
      }),
    'TypeError: fetch failed, caused by Error: Proxy response (407)',
  ],
];

describe.each(mistakes)('a fetch that throws %s', (_title, thrown, shown) => {
  test.each(methods)('%s: the message names it, and it is not tried again', async (method) => {
    const { client, calls } = clientWith((request) => {
      const error = thrown();
      throw typeof error === 'object' ? Object.assign(error ?? {}, { request }) : error;
    });
    const { error } = await settle(call(client, method));
    expect(error).toMatchObject({ name: 'ConnectionError', phase: 'exchange', outcome: 'unknown' });
    expect(String(error)).toContain(`because the function passed as fetch threw ${shown}.`);
    expectNoTrace(error);
    expect(calls).toHaveBeenCalledTimes(1);
  });
});

test.each([
  ['fetch failed', 'TypeError'],
  ['Failed to fetch', 'TypeError'],
  ['error sending request for url (https://api.shop.example/)', 'TypeError'],
  ['Network connection lost.', 'Error'],
  ['The operation was aborted', 'AbortError'],
  ['The operation timed out', 'TimeoutError'],
])(
  'a fetch that fails by "%s", as platforms name a connection that failed, is tried again for a GET',
  async (message, name) => {
    const { client, calls } = clientWith(() => {
      throw Object.assign(new Error(message), { name });
    });
    const { error } = await settle(call(client, 'GET'));
    expect(error).toMatchObject({ name: 'ConnectionError', phase: 'exchange', reason: 'network' });
    expect(calls).toHaveBeenCalledTimes(3);
  },
);

test.each([
  ['the platform', globalThis.fetch],
  ['undici', undiciFetch],
])('a port that the fetch of %s forbids is named, and not tried again', async (_name, fetch) => {
  const calls = vi.fn(fetch);
  const options = { apiKey: canaryKey, baseUrl: 'https://127.0.0.1:1', fetch: calls };
  const { error } = await settle(call(new PaymentsClient(options), 'POST'));
  expect(error).toMatchObject({ name: 'ConnectionError', reason: 'fetch', attempts: 1 });
  // Words prove nothing: another fetch may use them for something else.
  expect(error).toMatchObject({ phase: 'exchange', outcome: 'unknown' });
  expect(String(error)).toContain('threw TypeError: fetch failed, caused by Error: bad port.');
  expect(calls).toHaveBeenCalledTimes(1);
});

test('a failure before fetch is called is not the network: the call ends at once, and says what was thrown', async () => {
  const thrown = new ReferenceError('Request is not defined');
  vi.stubGlobal(
    'Request',
    class {
      constructor() {
        throw thrown;
      }
    },
  );
  const { client, calls } = clientWith(() => undefined);
  const { error } = await settle(call(client, 'GET'));
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error).toMatchObject({
    operation: 'balance.retrieve',
    outcome: 'not_sent',
    attempts: 1,
    cause: thrown,
  });
  expect(String(error)).toContain('the request could not be made: ReferenceError: Request is not defined.');
  expect(calls).not.toHaveBeenCalled();
});

test('no port is forbidden without the option fetch', async () => {
  const client = new PaymentsClient({ apiKey: canaryKey, baseUrl: 'https://127.0.0.1:1', maxRetries: 0 });
  const { error } = await settle(call(client, 'POST'));
  expect(error).toMatchObject({ phase: 'connect', reason: 'ECONNREFUSED', outcome: 'not_sent' });
});

test('the error says so if the fetch returned a response that was read before', async () => {
  const logs = async (response: Response) => {
    await response.text();
    return response;
  };
  const read = clientWith(() => logs(Response.json({ code: 0, data: {} })));
  const { error } = await settle(call(read.client, 'GET'));
  expect(error).toMatchObject({ name: 'ConnectionError', phase: 'body' });
  expect(String(error)).toContain('returned a Response whose body was read already: read a clone() of it');
  expect(read.calls).toHaveBeenCalledTimes(1);
});

test('a fetch that returns the response of a network error may be called again for a GET', async () => {
  const { client, calls } = clientWith(() => Response.error(), 1);
  const { error } = await settle(call(client, 'GET'));
  expect(error).toMatchObject({ name: 'ConnectionError', phase: 'exchange', reason: 'network' });
  expect(calls).toHaveBeenCalledTimes(2);
});

test('a response whose stream cannot be iterated, as in Safari, is read', async () => {
  const { client } = clientWith(() =>
    Object.defineProperty(new Response(rightBody('GET')), 'body', { value: { cancel: () => {} } }),
  );
  expect(await call(client, 'GET')).toMatchObject({ available: '1250.00' });
});

test('a fetch that never settles and ignores its signal is left when time is up', async () => {
  const { client, calls } = clientWith(() => new Promise(() => {}), 0);
  const { error } = await settle(client.balance.retrieve({ timeoutMs: 50 }));
  expect(error).toMatchObject({ name: 'TimeoutError', scope: 'attempt' });
  expect(calls).toHaveBeenCalledTimes(1);
});

test('a response whose body fails in the middle is a failed connection in its body', async () => {
  const body = () => new ReadableStream({ pull: (controller) => controller.error(new Error(canaryKey)) });
  const { client, calls } = clientWith(
    () => new Response(body(), { headers: { 'content-type': 'application/json' } }),
  );
  const { error } = await settle(call(client, 'POST'));
  expect(error).toMatchObject({ name: 'ConnectionError', phase: 'body', outcome: 'unknown' });
  expectNoTrace(error);
  expect(calls).toHaveBeenCalledTimes(1);
});

test('a body that is a stream of text is read', async () => {
  async function* body() {
    yield rightBody('GET').slice(0, 9);
    yield rightBody('GET').slice(9);
  }
  const { client } = clientWith(() => Object.defineProperty(new Response(), 'body', { value: body() }));
  expect(await call(client, 'GET')).toMatchObject({ available: '1250.00' });
});

test('a body of more than 8 MiB is refused in a stream of text, too, and no more of it is read', async () => {
  let chunks = 0;
  async function* body() {
    for (; chunks < 64; chunks++) yield 'é'.repeat(512 * 1024);
  }
  const { client, calls } = clientWith(() =>
    Object.defineProperty(new Response(), 'body', { value: body() }),
  );
  const { error } = await settle(call(client, 'GET'));
  expect(error).toMatchObject({ name: 'InvalidResponseError', reason: 'too_large' });
  expect(chunks).toBe(8);
  expect(calls).toHaveBeenCalledTimes(1);
});

test('a fetch is called with redirect: manual, and its opaque response to one is refused', async () => {
  const { client } = clientWith((_request, init) => {
    expect(init?.redirect).toBe('manual');
    return Object.defineProperties(new Response(null), {
      type: { value: 'opaqueredirect' },
      status: { value: 0 },
    });
  });
  const { error } = await settle(call(client, 'POST'));
  expect(error).toMatchObject({ name: 'InvalidResponseError', reason: 'redirect', outcome: 'unknown' });
});

test('a header that no HTTP response may have is left out of the error, whose outcome stays', async () => {
  const headers = new Map([
    ['x-city', '東京'],
    ['x-nul', 'a\0b'],
    ['x-request-id', 'req_1'],
  ]);
  const ends: unknown[] = [];
  const { client, calls } = clientWith(
    () => ({
      status: 500,
      headers: { get: (name: string) => headers.get(name) ?? null, forEach: headers.forEach.bind(headers) },
      body: new Response('{}').body,
      [Symbol.toStringTag]: 'Response',
    }),
    0,
    { end: ({ outcome }) => ends.push(outcome) },
  );
  const { error } = await settle(call(client, 'POST'));
  expect(error).toMatchObject({ name: 'ServerError', outcome: 'unknown', requestId: 'req_1' });
  expect([...Object(error).headers.keys()]).toEqual(['x-request-id']);
  expect(ends).toEqual(['unknown']);
  expect(calls).toHaveBeenCalledTimes(1);
});

/** Headers that only a function of the user's own can give. */
const wrongHeaders: [title: string, headers: unknown][] = [
  ['are missing', undefined],
  ['are a plain object', { 'content-type': 'application/json' }],
  ['have no forEach()', { get: () => null }],
  [
    'throw text that holds the key',
    {
      get: throwError,
      forEach() {
        throw new Error(`failed with ${canaryKey}`);
      },
    },
  ],
];

describe.each(wrongHeaders)('a fetch that gives a Response whose headers %s', (_title, headers) => {
  test.each([200, 302, 400, 503])('and whose status is %i has failed, outcome unknown', async (status) => {
    const failures: unknown[] = [];
    const ends: unknown[] = [];
    const { body } = new Response('{"code":0,"message":"success","data":{}}');
    const { client, calls } = clientWith(
      () => ({ status, headers, body, [Symbol.toStringTag]: 'Response' }),
      2,
      {
        error: ({ error }) => failures.push(error),
        end: ({ outcome }) => ends.push(outcome),
      },
    );
    const { error } = await settle(call(client, 'POST'));
    expect(error).toMatchObject({ name: 'ConnectionError', reason: 'fetch', outcome: 'unknown' });
    expectNoTrace(error);
    expect(failures).toEqual([error]);
    expect(ends).toEqual(['unknown']);
    expect(calls).toHaveBeenCalledTimes(1);
  });
});

test('a fetch may give what a test writes by hand: a status, headers and a stream', async () => {
  const { body } = new Response(rightBody('GET'));
  const fetch: Fetch = async () => ({
    status: 200,
    headers: new Map([['content-type', 'application/json']]),
    body,
  });
  const client = new PaymentsClient({ apiKey: canaryKey, baseUrl: 'https://api.shop.example', fetch });
  expect(await client.balance.retrieve()).toMatchObject({ available: '1250.00' });
});

test.each([null, '{"code":0}', new Uint8Array([1])])(
  'a fetch that gives a body which cannot be read (%j) has failed, outcome unknown',
  async (body) => {
    const { client, calls } = clientWith(() => ({ status: 200, headers: new Headers(), body }));
    const { error } = await settle(call(client, 'GET'));
    expect(error).toMatchObject({ name: 'ConnectionError', reason: 'fetch', outcome: 'unknown' });
    expect(String(error)).toContain('the function passed as fetch returned no Response');
    expect(calls).toHaveBeenCalledTimes(1);
  },
);
