import { createSandbox } from 'merchant-payments/sandbox';
import { describe, expect, test, vi } from 'vitest';
import { checkout, mug, open } from './open.js';

/** Calls a method as plain JavaScript does, where nothing checks the types. */
function call(name: string, ...args: unknown[]) {
  const sandbox = createSandbox();
  return Promise.resolve().then(() => Reflect.apply(Reflect.get(sandbox, name), sandbox, args));
}

describe('invalid input is named', () => {
  test.each<[string, unknown[], string]>([
    ['completeCheckout', [undefined], 'There is no checkout undefined. Pass the id or the url of one.'],
    ['completeCheckout', ['chk_1'], 'There is no checkout "chk_1".'],
    ['expireCheckout', [7], 'There is no checkout 7.'],
    ['archiveProduct', [undefined], 'There is no product undefined. Pass the id of one.'],
    ['signedRequest', [undefined], 'There is no event undefined.'],
    ['redeliver', [null], 'There is no event null.'],
    ['trigger', ['order.refunded'], 'trigger: type must be "order.paid", got a string.'],
    ['trigger', ['order.paid', { amount: '0' }], 'trigger: amount "0" is below the least price, "0.01".'],
    ['trigger', ['order.paid', { amuont: '1' }], 'trigger: amuont is unknown. Did you mean amount?'],
    [
      'advanceTime',
      ['5'],
      'advanceTime: by "5" has no unit. Pass "5s" for seconds; the units are ms, s, m, h and d.',
    ],
    ['advanceTime', ['soon'], 'advanceTime: by "soon" is not a duration.'],
    ['reset', [{ seed: 1.5 }], 'reset: seed must be an integer'],
    ['reset', [{ sede: 1 }], 'reset: sede is unknown. Did you mean seed?'],
    ['completeCheckout', ['chk_1', { methd: 'walletA' }], 'completeCheckout: methd is unknown. Did'],
    ['completeCheckout', ['chk_1', 'walletA'], 'completeCheckout: options must be an object, got a string.'],
    ['setWebhook', [undefined, { secrt: 'whsec_1' }], 'setWebhook: secrt is unknown. Did you mean se'],
    ['listen', [{ prt: 0 }], 'listen: prt is unknown. Did you mean port?'],
    ['doctor', ['http://127.0.0.1:1', { amont: '5.00' }], 'doctor: amont is unknown. Did you mean amo'],
    ['waitForEvent', [undefined, { timeout: 50 }], 'waitForEvent: timeout is unknown. Did you mean ti'],
    ['doctor', ['nowhere'], 'doctor: target must be an absolute http: or https: URL'],
    ['setWebhook', ['localhost:3000'], 'setWebhook: url must be an absolute http: or https: URL'],
    ['setWebhook', [undefined, { secret: '' }], 'setWebhook: secret must be a string without white space.'],
    ['setWebhook', [undefined, { secret: '<secret>' }], 'secret must be the secret itself'],
    [
      'setWebhook',
      [undefined, { scheme: { encoding: 'base32' } }],
      'setWebhook: scheme.encoding must be "hex"',
    ],
    [
      'failNext',
      [undefined],
      'failNext: options must have one of webhook, status, network, malformed, delay.',
    ],
    ['failNext', [{ netwrok: 'reset' }], 'failNext: netwrok is unknown. Did you mean network?'],
    ...['v1/products', '/products', '/v1/products?page=1', '/v1/*', '/v1/orders', '/v1/checkouts/:id'].map(
      (path): [string, unknown[], string] => [
        'failNext',
        [{ status: 500, path }],
        `failNext: path "${path}" is no operation. There are GET /v1/products, POST /v1/products, `,
      ],
    ),
    ['failNext', [{ delay: '1s', path: '/v1/*' }], 'failNext: path "/v1/*" is no operation. There are GET'],
    ['failNext', [{ status: 500, method: 'DELETE' }], 'failNext: method "DELETE" is no operation. There'],
    [
      'failNext',
      [{ status: 500, method: 'get', path: '/v1/checkouts' }],
      'failNext: path "GET /v1/checkouts" is no operation. There are GET',
    ],
    ['failNext', [{ delay: '5' }], 'has no unit'],
    [
      'failNext',
      [{ network: 'reset', delay: '1s', status: 503 }],
      'failNext: network does not go with status.',
    ],
    ['failNext', [{ status: 503, webhook: true }], 'failNext: status does not go with webhook.'],
    ['advanceTime', ['36501d'], 'advanceTime: by "36501d" is too long. Pass at most "36500d".'],
    ['advanceTime', [1e300], 'is too long. Pass at most "36500d".'],
    ['advanceTime', [-1], 'advanceTime: by -1 is not a duration.'],
  ])('%s(%j)', async (name, args, message) => {
    await expect(call(name, ...args)).rejects.toMatchObject({
      name: 'SandboxError',
      message: expect.stringContaining(message),
    });
  });

  test('a method, a reason and a way to tamper that do not exist', async () => {
    const { sandbox } = open();
    const { id } = await checkout(sandbox);
    const options = { method: 'cash' };
    await expect(Reflect.apply(sandbox.completeCheckout, sandbox, [id, options])).rejects.toThrow(
      'completeCheckout: method must be "card", "walletA" or "walletB", got a string.',
    );
    await expect(Reflect.apply(sandbox.failCheckout, sandbox, [id, 'poor'])).rejects.toThrow(
      'failCheckout: reason must be "card_declined"',
    );
    const { event } = await sandbox.completeCheckout(id);
    await expect(Reflect.apply(sandbox.signedRequest, sandbox, [event, { tamper: 'all' }])).rejects.toThrow(
      'signedRequest: tamper must be "body"',
    );
    await expect(Reflect.apply(sandbox.signedRequest, sandbox, [event, { tampr: 'body' }])).rejects.toThrow(
      'signedRequest: tampr is unknown. Did you mean tamper?',
    );
  });

  test.each<[object, string]>([
    [{ products: [{ name: 'Mug' }] }, 'products.0.price '],
    [{ products: [{ name: 'Mug', price: '1', stock: 3 }] }, 'products.0.stock is unknown.'],
    [{ products: {} }, 'products must be an array, got an object.'],
    [{ unspecified: { settlement: '5' } }, 'unspecified.settlement "5" has no unit.'],
    [{ webhook: 'https://93.184.215.14/' }, 'neither on this machine nor in a private network'],
  ])('createSandbox(%j)', (options, message) => {
    const create = () => Reflect.apply(createSandbox, undefined, [options]);
    expect(create).toThrow(message);
    const textOf = ({ message }: Error) =>
      JSON.stringify({ name: 'SandboxError', message, code: 'invalid_options' });
    expect(create).toThrow(expect.toSatisfy((error) => JSON.stringify(error) === textOf(error)));
  });

  test.each<[string, object, string]>([
    ['/clock', { advance: '5' }, 'advance "5" has no unit.'],
    ['/balance', {}, 'settle is missing. Pass true. Send {"settle": true}.'],
    ['/webhook', { url: 'nowhere' }, 'The body is invalid: url must be an absolute http: or https: URL'],
    [
      '/webhook',
      { secret: '' },
      'The body is invalid: secret must be a string without white space. Send {"url"',
    ],
    ['/webhook', { scheme: { encoding: 7 } }, 'The body is invalid: scheme.encoding must be'],
    ['/doctor', { target: 'nowhere' }, 'The body is invalid: target must be an absolute http: or https: URL'],
    [
      '/faults',
      { status: 503, network: 'reset' },
      'The body is invalid: network does not go with status. Send {"status": 503} or',
    ],
    ['/trigger', { amount: 'x' }, 'The body is invalid: amount "x" is not a decimal amount. Pass digits'],
    [
      '/faults',
      { status: 5 },
      'The body is invalid: status must be an integer from 200 to 599, got the number 5. Send {"status',
    ],
    ['/faults', { clear: true, status: 500 }, 'The body is invalid: status does not go with clear.'],
    [
      '/faults',
      { clear: false },
      'The body is invalid: clear must be true, got false. Send {"status": 503} or',
    ],
    ['/clock', { to: '1' }, 'The body is invalid: to "1" is not a date with time and zone in ISO 8601. Send'],
    ['/clock', { to: '2026-02-31T00:00:00Z' }, 'to "2026-02-31T00:00:00Z" is not a date with time'],
    ['/webhook', { uri: null }, 'uri is unknown. Did you mean url?'],
    ['/signed-request', { eventId: 'evt_1', tamper: 'all' }, 'tamper must be "body"'],
    ['/trigger', { type: 'order.refunded' }, 'type must be "order.paid", got a string.'],
  ])('POST /_sandbox%s %j', async (path, body, message) => {
    const response = await createSandbox().fetch(`/_sandbox${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: { code: 'invalid_options', message: expect.stringContaining(message) } },
    ]);
  });
});

test.each([
  ['GET', '/events?wiat=5s', 'wiat is unknown. Did you mean wait? Send ?after=evt_…&wait=5s.'],
  ['GET', '/events?wait=5', 'wait "5" has no unit. Pass "5s" for seconds; the units are'],
  ['DELETE', '/state?sed=1', 'sed is unknown. Did you mean seed? Send ?seed=1.'],
  ['DELETE', '/state?seed=x', 'seed must be an integer, got the number NaN. Send ?seed=1.'],
])('%s /_sandbox%s is told what is wrong, and does nothing', async (method, path, message) => {
  const sandbox = createSandbox();
  await sandbox.trigger('order.paid');
  const response = await sandbox.fetch(`/_sandbox${path}`, { method });
  expect([response.status, (await response.json()).error.message, sandbox.orders.length]).toEqual([
    400,
    expect.stringContaining(`The query is invalid: ${message}`),
    1,
  ]);
});

test('an event is triggered in the currency of the balance, also if told undefined', async () => {
  const { order } = await createSandbox({ currency: 'EUR' }).trigger('order.paid', { currency: undefined });
  expect(order.currency).toBe('EUR');
});

test('an error inside the app is printed, without a stack trace in the response', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
  const broken = vi.spyOn(Intl, 'supportedValuesOf').mockImplementation(() => {
    throw new TypeError('of undefined');
  });
  const { status, text } = await open().call('POST', '/v1/products', { ...mug, currency: 'EUR' });
  expect([status, text]).toEqual([
    500,
    '{"code":500,"message":"The sandbox failed. Please report what it printed."}',
  ]);
  expect(String(printed.mock.calls[0]?.[0])).toContain('of undefined');
  broken.mockRestore();
  printed.mockRestore();
});

test.each([404, 0])('products that are there at the start are there again after a reset', async (seed) => {
  const { sandbox, call } = open({ seed, products: [{ name: 'Mug', price: '19.90' }] });
  const [first] = sandbox.products;
  await call('POST', '/v1/products', { name: 'Candle', price: '9.00' });
  sandbox.reset();
  expect(sandbox.products.map(({ id, name }) => [id, name])).toEqual([[first?.id, 'Mug']]);
  const restored = createSandbox({
    from: sandbox.snapshot(),
    products: [{ name: 'Bowl', price: '12.00' }],
  });
  expect(restored.products.map(({ name }) => name)).toEqual(['Mug']);
});

test('reset() after a snapshot was restored goes back to its seed and its clock', async () => {
  const start = new Date('2026-01-01T00:00:00Z');
  const first = createSandbox({ seed: 5, now: start });
  const { order } = await first.trigger('order.paid');
  const restored = createSandbox({ from: first.snapshot() });
  await restored.advanceTime('1d');
  restored.reset();
  expect(restored.now()).toEqual(start);
  expect((await restored.trigger('order.paid')).order.id).toBe(order.id);
});

test('advanceTime() waits for the attempt in flight, and does what follows from it', async () => {
  let calls = 0;
  const sandbox = createSandbox({
    now: new Date(0),
    webhook: async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return new Response(null, { status: ++calls === 1 ? 500 : 200 });
    },
  });
  const paid = sandbox.trigger('order.paid');
  await sandbox.advanceTime('10s');
  expect(sandbox.events).toMatchObject([
    { state: 'delivered', attempts: [{ status: 500 }, { status: 200 }] },
  ]);
  expect((await paid).delivery).toMatchObject({ number: 1, status: 500 });
});

test('advanceTime() waits for a payment that a handler makes, and for its delivery', async () => {
  const sandbox = createSandbox({ now: new Date(0) });
  let paid = false;
  sandbox.setWebhook(async () => {
    if (!paid) setTimeout(() => void sandbox.trigger('order.paid'), 5);
    paid = true;
    await new Promise((resolve) => setTimeout(resolve, 10));
    return new Response();
  });
  void sandbox.trigger('order.paid');
  await sandbox.advanceTime('1s');
  expect(sandbox.events.map(({ state }) => state)).toEqual(['delivered', 'delivered']);
});
