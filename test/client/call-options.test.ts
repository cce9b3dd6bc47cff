import { type CallOptions, InvalidParamsError, type PaymentsClient } from 'merchant-payments';
import { describe, expect, test } from 'vitest';
import balance from '../fixtures/balance.json' with { type: 'json' };
import { apiKey, carriers, createClient, jsonResponse, mockService } from '../helpers/service.js';

const service = mockService();
const payments = createClient({ maxRetries: 0 });

/** Options as JavaScript callers can pass them. */
function callOptions(options: unknown): CallOptions {
  const whole: { options: CallOptions } = { options: {} };
  return Object.assign(whole, { options }).options;
}

const number = 'must be a number of milliseconds above 0, at most 2147483647.';
const retries = 'must be an integer from 0 to 100, got';
test.each<[string, unknown, string]>([
  ['timeoutMs', 0, number],
  ['timeoutMs', -1, number],
  ['timeoutMs', Number.NaN, number],
  ['timeoutMs', Number.POSITIVE_INFINITY, number],
  ['timeoutMs', 2 ** 31, number],
  ['timeoutMs', '1000', number],
  ['timeoutMs', null, number],
  ['totalTimeoutMs', 0, number],
  ['maxRetries', -1, `${retries} the number -1.`],
  ['maxRetries', 1.5, `${retries} the number 1.5.`],
  ['maxRetries', '2', `${retries} a string.`],
  ['signal', {}, 'is not an AbortSignal.'],
  ['signal', null, 'is not an AbortSignal.'],
  ['signal', new AbortController(), 'is not an AbortSignal.'],
  ['headers', 'x-tenant: one', 'must be an object of string values.'],
  ['timeout', 5, 'is unknown. Did you mean timeoutMs?'],
  ['Signal', 5, 'is unknown. Did you mean signal?'],
  ['idempotencyKey', 'x', 'is unknown. Known are signal, timeoutMs, totalTimeoutMs, maxRetries, headers.'],
  ['apiKey', 'other', 'is unknown. Known are signal, timeoutMs, totalTimeoutMs, maxRetries, headers.'],
  ['prefetch', 2, 'is unknown. Known are signal, timeoutMs, totalTimeoutMs, maxRetries, headers.'],
])('%s %o is refused, and nothing is sent', async (name, value, message) => {
  const call = payments.balance.retrieve(callOptions({ [name]: value }));
  await expect(call).rejects.toBeInstanceOf(InvalidParamsError);
  await expect(call).rejects.toMatchObject({
    code: 'invalid_params',
    operation: 'balance.retrieve',
    outcome: 'not_sent',
    issues: [{ path: `options.${name}`, message }],
    message: `balance.retrieve: options.${name} ${message}`,
  });
  expect(service.requests).toEqual([]);
});

test('a timeoutMs above the client’s own totalTimeoutMs is refused: both are given', async () => {
  const client = createClient({ totalTimeoutMs: 1000 });
  await expect(client.balance.retrieve({ timeoutMs: 2000 })).rejects.toThrow(
    'options.timeoutMs (2000) is more than totalTimeoutMs (1000)',
  );
});

test.each([null, 5, 'fast', true, []])('options that are no object are refused: %j', async (options) => {
  const call = payments.balance.retrieve(callOptions(options));
  await expect(call).rejects.toMatchObject({ issues: [{ path: 'options', message: 'is not an object.' }] });
  await expect(payments.products.list({}, callOptions(options))).rejects.toMatchObject({
    issues: [{ path: 'options', message: 'is not an object.' }],
  });
});

test('a list knows prefetch, and proposes it', async () => {
  await expect(payments.products.list({}, callOptions({ prefetsh: 4 }))).rejects.toThrow(
    'Did you mean prefetch?',
  );
});

describe.each(carriers)('over %s', (_, options) => {
  const client = createClient({
    ...options,
    maxRetries: 0,
    headers: { 'x-tenant': 'client', 'x-other': 'kept' },
  });

  test('headers of a call go before the client’s of the same name', async () => {
    service.on('GET /v1/balance', jsonResponse(balance));
    await client.balance.retrieve({ headers: { 'X-Tenant': 'call', 'User-Agent': 'mine' } });
    await client.balance.retrieve();
    expect(service.requests.map(({ headers }) => [headers.get('x-tenant'), headers.get('x-other')])).toEqual([
      ['call', 'kept'],
      ['client', 'kept'],
    ]);
    expect(service.requests[0]?.headers.get('user-agent')).toBe('mine');
  });

  test.each(['x-api-key', 'X-API-KEY', 'content-type', 'host', 'content-length'])(
    '%s cannot be set',
    async (name) => {
      const call = client.balance.retrieve({ headers: { [name]: 'other' } });
      await expect(call).rejects.toMatchObject({
        issues: [{ path: `options.headers.${name}`, message: 'is set by the client. Remove it.' }],
      });
    },
  );

  test('a signal that was aborted before sends nothing, and its reason passes untouched', async () => {
    const reason = { why: 'closed' };
    await expect(client.balance.retrieve({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    await expect(client.balance.retrieve({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
  });

  test('an abort while the service works ends the call with its reason', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    service.on('GET /v1/balance', async () => {
      controller.abort(reason);
      return jsonResponse(balance)();
    });
    await expect(client.balance.retrieve({ signal: controller.signal })).rejects.toBe(reason);
  });

  test('bad parameters are reported before an aborted signal', async () => {
    const call = client.checkouts.retrieve('', { signal: AbortSignal.abort() });
    await expect(call).rejects.toBeInstanceOf(InvalidParamsError);
  });
});

test('an AbortController as options ends the call: its signal is read', async () => {
  const controller = new AbortController();
  controller.abort();
  await expect(payments.balance.retrieve(controller)).rejects.toBe(controller.signal.reason);
});

test('an AbortSignal as options is refused', async () => {
  const call: Promise<unknown> = Reflect.apply(payments.balance.retrieve, payments.balance, [
    new AbortController().signal,
  ]);
  await expect(call).rejects.toMatchObject({
    issues: [{ path: 'options', message: 'is an AbortSignal. Pass { signal }.' }],
  });
});

test('a header that is refused is not quoted', async () => {
  const call = payments.balance.retrieve({ headers: { 'x-token': `${apiKey}\n` } });
  await expect(call).rejects.not.toMatchObject({ message: expect.stringContaining(apiKey) });
});

// No method may throw before there is a promise to reject, whatever it is given.
describe('nothing throws synchronously', () => {
  const bad: [string, unknown][] = [
    ['undefined', undefined],
    ['null', null],
    ['a number', 5],
    ['text', 'x y'],
    ['an array', []],
    ['a function', () => {}],
    ['a symbol', Symbol('x')],
    ['an object without a prototype', Object.create(null)],
    [
      'a body whose toJSON throws',
      {
        method: 'POST',
        path: '/v1/x',
        body: {
          toJSON: () => {
            throw new Error('no');
          },
        },
      },
    ],
  ];

  type Loose = (...values: unknown[]) => Promise<unknown>;
  const methods: [string, (client: PaymentsClient) => Loose][] = [
    ['products.create', ({ products }) => loose(products.create, products)],
    ['products.list', ({ products }) => loose(products.list, products)],
    ['products.update', ({ products }) => loose(products.update, products)],
    ['checkouts.create', ({ checkouts }) => loose(checkouts.create, checkouts)],
    ['checkouts.retrieve', ({ checkouts }) => loose(checkouts.retrieve, checkouts)],
    ['request', (client) => loose(client.request, client)],
  ];
  function loose(method: unknown, owner: object): Loose {
    return (...values) => {
      if (typeof method !== 'function') throw new Error('no method');
      return Reflect.apply(method, owner, values);
    };
  }

  describe.each(methods)('%s', (operation, of) => {
    const call = of(payments);
    const expectIgnored = (value: unknown) =>
      operation === 'products.list' && (value === undefined || isEmpty(value));

    test.each(bad)('given %s rejects with InvalidParamsError', async (_, value) => {
      if (expectIgnored(value)) service.on('GET /v1/products', jsonResponse({}, 500));
      const promise = call(value);
      expect(promise).toBeInstanceOf(Promise);
      await expect(promise).rejects.toMatchObject({
        name: expectIgnored(value) ? 'ServerError' : 'InvalidParamsError',
        operation,
      });
    });

    test.each(bad.filter(([, value]) => value !== undefined && !isEmpty(value)))(
      'given %s as options rejects with InvalidParamsError',
      async (_, value) => {
        const given = {
          'products.create': [{ name: 'Mug', price: '5' }],
          'products.update': ['prod_1', { name: 'Mug' }],
          'checkouts.create': [{ productId: 'prod_1' }],
          'checkouts.retrieve': ['chk_1'],
          request: [{ method: 'GET', path: '/v1/x' }],
        }[operation] ?? [{}];
        const promise = call(...given, value);
        expect(promise).toBeInstanceOf(Promise);
        await expect(promise).rejects.toMatchObject({ name: 'InvalidParamsError', operation });
      },
    );
  });

  test.each(methods)('%s rejects with what a getter of its argument throws', async (_operation, of) => {
    const thrown = new Error('getter');
    const get = () => {
      throw thrown;
    };
    const given = Object.defineProperty({}, 'name', { enumerable: true, get });
    await expect(of(payments)(given, given)).rejects.toBe(thrown);
  });

  function isEmpty(value: unknown): boolean {
    return (
      typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
    );
  }
});
