import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { handler, type OnOptions, sign, WebhookConfigError } from '../../src/webhooks/index.js';

const secret = 'whsec_merchant_test_7Qm2xV9c';
const orderPaid = (order_id = 'ord_1001') =>
  JSON.stringify({ type: 'order.paid', data: { order_id, amount: '19.90', currency: 'USD' } });

function delivery(body = orderPaid(), headers = sign({ rawBody: body, secret })): Request {
  return new Request('https://shop.example/webhooks', { method: 'POST', body, headers });
}

/** A receiver with what reached each of its functions. */
function receiver(options: Partial<OnOptions> = {}) {
  const fulfilled: string[] = [];
  const errors: unknown[] = [];
  const receive = handler({
    secret,
    on: { 'order.paid': (event) => fulfilled.push(event.data.order_id) },
    onError: (error) => errors.push(error),
    ...options,
  });
  const answer = async (request: Request) => {
    const response = await receive(request);
    return { status: response.status, body: await response.json() };
  };
  return { receive, answer, fulfilled, errors };
}

const create = (options: object): unknown => {
  try {
    return Reflect.apply(handler, undefined, [options]);
  } catch (error) {
    return error;
  }
};

class H3Event {
  req = delivery();
  method = this.req.method;
  headers = this.req.headers;
}

describe('the response is', () => {
  it('200 once the function has finished, with the event that it got', async () => {
    const { answer, fulfilled, errors } = receiver();
    expect(await answer(delivery())).toEqual({ status: 200, body: { received: true } });
    expect(fulfilled).toEqual(['ord_1001']);
    expect(errors).toEqual([]);
  });

  it('400 for a changed body, with the facts of the body that was verified, and none of its content', async () => {
    const { answer, fulfilled, errors } = receiver();
    const changed = delivery(`${orderPaid()} `, sign({ rawBody: orderPaid(), secret }));
    expect(await answer(changed)).toEqual({
      status: 400,
      body: { error: 'signature_mismatch', bytes: 87, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(fulfilled).toEqual([]);
    expect(errors).toMatchObject([{ code: 'signature_mismatch' }]);
  });

  it('400 for a stale delivery', async () => {
    const { answer, fulfilled } = receiver();
    const stale = sign({ rawBody: orderPaid(), secret, timestamp: new Date(Date.now() - 301_000) });
    expect(await answer(delivery(orderPaid(), stale))).toEqual({
      status: 400,
      body: { error: 'timestamp_too_old' },
    });
    expect(fulfilled).toEqual([]);
  });

  it('400 without the headers', async () => {
    expect(await receiver().answer(delivery(orderPaid(), {}))).toEqual({
      status: 400,
      body: { error: 'missing_signature' },
    });
  });

  it.each<[string, string, string]>([
    ['not JSON', '{', 'invalid_json'],
    ['no event', '{}', 'invalid_event'],
    ['too deep', `{"type":"deep","data":${'['.repeat(1e5)}${']'.repeat(1e5)}}`, 'invalid_event'],
  ])('500 for an authentic body that is %s, which reaches onError', async (_form, body, error) => {
    const { answer, errors } = receiver();
    expect(await answer(delivery(body))).toEqual({ status: 500, body: { error } });
    expect(errors).toMatchObject([{ name: 'WebhookPayloadError', code: error }]);
  });

  it('405 with the allowed method for anything but POST', async () => {
    const { receive, errors } = receiver();
    const response = await receive(new Request('https://shop.example/webhooks'));
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
    expect(errors).toEqual([]);
    expect((await receive(delivery())).headers.has('allow')).toBe(false);
  });

  it('JSON with its content type', async () => {
    expect((await receiver().receive(delivery())).headers.get('content-type')).toBe('application/json');
  });

  it('according to tolerance and scheme of the options', async () => {
    const scheme = { prefix: 'v1=' };
    const old = sign({ rawBody: orderPaid(), secret, scheme, timestamp: new Date(Date.now() - 301_000) });
    expect(
      await receiver({ scheme, toleranceSeconds: 600 }).answer(delivery(orderPaid(), old)),
    ).toMatchObject({ status: 200 });
    expect(await receiver({ scheme }).answer(delivery(orderPaid(), old))).toMatchObject({ status: 400 });
  });
});

/** A query like those of postgres.js, which its own methods run. */
class LazyPromise extends Promise<void> {
  static override readonly [Symbol.species] = Promise;
  // biome-ignore lint/suspicious/noThenProperty: it is one.
  override then = () => expect.unreachable();
  override catch = () => expect.unreachable();
}

describe('the raw body', () => {
  it('may have 1 MiB; one byte more gets 413, whether its length was declared or not', async () => {
    const { answer, errors } = receiver({ onUnknown: () => {} });
    const bodyOfSize = (bytes: number) => `{"type":"${'a'.repeat(bytes - 11)}"}`;
    expect(await answer(delivery(bodyOfSize(1024 * 1024)))).toMatchObject({ status: 200 });
    const long = bodyOfSize(1024 * 1024 + 1);
    expect(await answer(delivery(long))).toEqual({ status: 413, body: { error: 'body_too_large' } });
    const declared = { ...sign({ rawBody: 'x', secret }), 'content-length': '1048577' };
    expect(await answer(delivery('x', declared))).toMatchObject({ status: 413 });
    expect(await answer(delivery('x', { ...declared, 'content-length': '1048576' }))).toMatchObject({
      status: 500,
    });
    expect(errors).toMatchObject([{ code: 'invalid_json' }]);
  });

  it('is dropped once it is too long, and not read further than 8 MiB after that', async () => {
    let pulled = 0;
    const cancel = vi.fn();
    const body = new ReadableStream({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(100_000));
        // The limit makes the test fail instead of filling the memory if reading goes on.
        if (pulled === 400) controller.close();
      },
      cancel,
    });
    const endless = new Request('https://shop.example', { method: 'POST', body, ...{ duplex: 'half' } });
    expect(await receiver().answer(endless)).toMatchObject({ status: 413 });
    expect(pulled).toBeLessThan(98);
    expect(cancel).toHaveBeenCalledOnce();
  });

  it('is too long also where a header says that its length is no number', async () => {
    const rawBody = orderPaid();
    const body = new ReadableStream({
      start(controller) {
        for (const part of [rawBody, ' '.repeat(1024 * 1024)]) controller.enqueue(Buffer.from(part));
        controller.close();
      },
    });
    // The signature is that of what came before the limit.
    const headers = { ...sign({ rawBody, secret }), 'content-length': '5, 5' };
    const request = new Request('https://shop.example', {
      method: 'POST',
      headers,
      body,
      ...{ duplex: 'half' },
    });
    const { answer, fulfilled } = receiver();
    expect(await answer(request)).toMatchObject({ status: 413 });
    expect(fulfilled).toEqual([]);
  });

  it.each([
    ['declared', true],
    ['in chunks', false],
  ])(
    'over 1 MiB, %s, does not keep the next delivery on the connection from its answer',
    async (_how, isDeclared) => {
      const { receive, fulfilled } = receiver();
      const server = createServer(getRequestListener(receive)).listen(0, '127.0.0.1');
      onTestFinished(() => void server.close());
      await once(server, 'listening');
      const port = Number(Reflect.get(Object(server.address()), 'port'));
      const socket = connect(port, '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      let text = '';
      socket.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      const head = (headers: Record<string, string>) =>
        `POST / HTTP/1.1\r\nhost: shop\r\n${Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join('')}\r\n`;
      const part = 'x'.repeat(1024 * 1024);
      socket.write(
        head(isDeclared ? { 'content-length': `${3 * part.length}` } : { 'transfer-encoding': 'chunked' }),
      );
      for (let sent = 0; sent < 3; sent++) {
        socket.write(isDeclared ? part : `100000\r\n${part}\r\n`);
        await sleep(300); // more than a server waits by itself
      }
      if (!isDeclared) socket.write('0\r\n\r\n');
      await expect.poll(() => text, { timeout: 4000 }).toContain('body_too_large');
      const rawBody = orderPaid();
      const length = { 'content-length': `${Buffer.byteLength(rawBody)}` };
      socket.write(head({ ...sign({ rawBody, secret }), ...length }) + rawBody);
      await expect.poll(() => text, { timeout: 4000 }).toContain('{"received":true}');
      expect(fulfilled).toHaveLength(1);
    },
  );

  it('may come in pieces, even in the middle of a character', async () => {
    const bytes = Buffer.from(orderPaid('ord_é'));
    const cut = bytes.indexOf(0xc3) + 1;
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(bytes.subarray(0, cut));
        controller.enqueue(new Uint8Array());
        controller.enqueue(bytes.subarray(cut));
        controller.close();
      },
    });
    const { answer, fulfilled } = receiver();
    const headers = sign({ rawBody: bytes, secret });
    const pieces = new Request('https://shop.example', {
      method: 'POST',
      headers,
      body,
      ...{ duplex: 'half' },
    });
    expect(await answer(pieces)).toMatchObject({ status: 200 });
    expect(fulfilled).toEqual(['ord_é']);
  });

  it('that is absent is an empty one', async () => {
    const headers = sign({ rawBody: '', secret });
    const empty = new Request('https://shop.example', { method: 'POST', headers });
    expect(await receiver().answer(empty)).toEqual({ status: 500, body: { error: 'invalid_json' } });
  });

  it('that was read before gets 500, and onError the line to change', async () => {
    const { answer, errors } = receiver();
    const request = delivery();
    await request.json();
    expect(await answer(request)).toEqual({ status: 500, body: { error: 'invalid_body' } });
    expect(errors).toMatchObject([
      { name: 'WebhookConfigError', message: expect.stringContaining('request.clone()') },
    ]);
  });

  it('whose stream breaks gets 500', async () => {
    const broken = new Error('socket hang up');
    const body = new ReadableStream({ start: (controller) => controller.error(broken) });
    const { answer, errors } = receiver();
    const request = new Request('https://shop.example', { method: 'POST', body, ...{ duplex: 'half' } });
    expect(await answer(request)).toEqual({ status: 500, body: { error: 'internal_error' } });
    expect(errors).toEqual([broken]);
  });

  it.each<[string, unknown, string]>([
    ['a call without a request', undefined, 'no request was passed'],
    ["Hono's context", { req: { raw: delivery() } }, 'c.req.raw'],
    ['an event of SvelteKit, or a context of Astro', { request: delivery(), params: {} }, 'Pass its request'],
    // The event of h3 2 looks like a request without a body.
    ['an event of h3 2', new H3Event(), 'a Fetch Request, and was passed H3Event. Pass its req: event.req'],
    ['a node request', { method: 'POST', headers: { host: 'shop.example' } }, 'nodeHandler'],
  ])('cannot come from %s: the error names what to pass', async (_form, given, fix) => {
    const { receive, errors } = receiver();
    const response: Response = await Reflect.apply(receive, undefined, [given]);
    expect(response.status).toBe(500);
    expect(errors).toMatchObject([{ code: 'invalid_body', message: expect.stringContaining(fix) }]);
  });
});

describe('onUnknown', () => {
  const refund = '{"type":"refund.created","data":{"refund_id":"re_1"}}';

  it('gets events of a new type, which get 200 with or without it', async () => {
    const onUnknown = vi.fn();
    expect(await receiver({ onUnknown }).answer(delivery(refund))).toMatchObject({ status: 200 });
    expect(onUnknown).toHaveBeenCalledExactlyOnceWith({
      type: 'unknown',
      originalType: 'refund.created',
      data: { refund_id: 're_1' },
    });
    const { answer, fulfilled, errors } = receiver();
    expect(await answer(delivery(refund))).toMatchObject({ status: 200 });
    expect([fulfilled, errors]).toEqual([[], []]);
  });

  it('gets a repeated delivery once', async () => {
    const onUnknown = vi.fn();
    const { answer } = receiver({ onUnknown });
    for (let times = 0; times < 3; times++)
      expect(await answer(delivery(refund))).toMatchObject({ status: 200 });
    expect(onUnknown).toHaveBeenCalledTimes(1);
  });

  it.each<[string, () => unknown]>([
    ['a function', () => () => {}],
    ['a generator', async () => (function* () {})()],
    ['a statement', () => ({ run: () => expect.unreachable(), all: () => expect.unreachable() })],
    ['promises in an array', () => [Promise.reject(new Error('no stock'))]],
    [
      'promises in arrays',
      () => [[1], [2]].map((ids) => ids.map(() => Promise.reject(new Error('no stock')))),
    ],
    ['a promise that runs once it is awaited', () => [new LazyPromise(() => {})]],
  ])('that returns %s, which may not have run, gives 500', async (_what, result) => {
    const { answer, errors } = receiver({ onUnknown: result });
    expect(await answer(delivery(refund))).toEqual({ status: 500, body: { error: 'internal_error' } });
    const message = expect.stringMatching(
      /^Your function returned .* Execute and await it, or return nothing\.$/,
    );
    expect(errors).toMatchObject([{ code: 'invalid_options', message }]);
  });

  it('that fails gives 500, and the next delivery reaches it again', async () => {
    const failure = new Error('no disk');
    const onUnknown = vi.fn().mockRejectedValueOnce(failure);
    const { answer, errors } = receiver({ onUnknown });
    expect(await answer(delivery(refund))).toEqual({ status: 500, body: { error: 'internal_error' } });
    expect(errors).toEqual([failure]);
    expect(await answer(delivery(refund))).toMatchObject({ status: 200 });
  });
});

describe('onError', () => {
  it('decides nothing: whatever it throws, the response is the same', async () => {
    for (const onError of [
      () => {
        throw new Error('log full');
      },
      async () => Promise.reject(new Error('log full')),
    ]) {
      expect(await receiver({ onError }).answer(delivery(orderPaid(), {}))).toMatchObject({ status: 400 });
    }
  });

  it('that never returns does not hold the response', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { answer } = receiver({ onError: () => new Promise(() => {}) });
    const answered = answer(delivery(orderPaid(), {}));
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
    vi.advanceTimersByTime(2000);
    expect(await answered).toEqual({ status: 400, body: { error: 'missing_signature' } });
    vi.useRealTimers();
  });

  it('is console.error where it is not given: one line for a delivery that was refused', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    await receiver({ onError: undefined }).answer(delivery(orderPaid(), {}));
    expect(log.mock.calls).toEqual([
      [expect.stringMatching(/^WebhookVerificationError missing_signature: The header [^\n]+$/)],
    ]);
  });

  it('is console.error where it is not given: the whole error where your function failed', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    const failure = new Error('no stock');
    await receiver({ onError: undefined, on: { 'order.paid': () => Promise.reject(failure) } }).answer(
      delivery(),
    );
    expect(log.mock.calls).toEqual([[failure]]);
  });
});

describe('an order is handed over once', () => {
  it('when its delivery is repeated: 200 both times', async () => {
    const { answer, fulfilled } = receiver();
    expect(await answer(delivery())).toMatchObject({ status: 200 });
    expect(await answer(delivery())).toMatchObject({ status: 200 });
    expect(await answer(delivery(orderPaid('ord_1002')))).toMatchObject({ status: 200 });
    expect(fulfilled).toEqual(['ord_1001', 'ord_1002']);
  });

  it('when two deliveries arrive at once: the second gets 409 until the first has finished', async () => {
    const { promise, resolve } = withResolvers();
    const paid = vi.fn(() => promise);
    const { answer, errors } = receiver({ on: { 'order.paid': paid } });
    const first = answer(delivery());
    expect(await answer(delivery())).toEqual({ status: 409, body: { error: 'in_progress' } });
    expect(await answer(delivery(orderPaid('ord_1001')))).toMatchObject({ status: 409 });
    resolve();
    expect(await first).toMatchObject({ status: 200 });
    expect(await answer(delivery())).toMatchObject({ status: 200 });
    expect(paid).toHaveBeenCalledOnce();
    expect(errors).toEqual([]);
  });

  it('unless its function failed: 500, and the next delivery is handled', async () => {
    const failure = new Error('no stock');
    const paid = vi
      .fn()
      .mockRejectedValueOnce(failure)
      .mockImplementationOnce(() => {
        throw failure;
      });
    const { answer, errors } = receiver({ on: { 'order.paid': paid } });
    expect(await answer(delivery())).toEqual({ status: 500, body: { error: 'internal_error' } });
    expect(await answer(delivery())).toMatchObject({ status: 500 });
    expect(await answer(delivery())).toMatchObject({ status: 200 });
    expect(await answer(delivery())).toMatchObject({ status: 200 });
    expect(paid).toHaveBeenCalledTimes(3);
    expect(errors).toEqual([failure, failure]);
  });

  it('even if its function throws one of the errors of this package', async () => {
    const failure = new WebhookConfigError('inner', 'invalid_options');
    const { answer } = receiver({ on: { 'order.paid': () => Promise.reject(failure) } });
    expect(await answer(delivery())).toEqual({ status: 500, body: { error: 'internal_error' } });
  });

  it('among the last 10,000 orders, so that memory stays bounded, and among those being handled', async () => {
    const { promise, resolve } = withResolvers();
    const handled: string[] = [];
    const { answer } = receiver({
      on: {
        'order.paid': async ({ data }) => {
          handled.push(data.order_id);
          if (data.order_id === 'slow') await promise;
        },
      },
    });
    const slow = answer(delivery(orderPaid('slow')));
    for (let id = 0; id <= 10_000; id++) await answer(delivery(orderPaid(`${id}`)));
    handled.length = 0;
    expect(await answer(delivery(orderPaid('slow')))).toMatchObject({ status: 409 });
    for (const id of ['10000', '2', '0']) await answer(delivery(orderPaid(id)));
    expect(handled).toEqual(['0']);
    resolve();
    expect(await slow).toMatchObject({ status: 200 });
  }, 120_000);

  it.each([
    ['while the first is handled', false],
    ['after the first was handled', true],
  ])('but not with another amount: 409 and onError, %s', async (_when, isFinished) => {
    const { promise, resolve } = withResolvers();
    const amounts: string[] = [];
    const { answer, errors } = receiver({
      on: {
        'order.paid': async ({ data }) => {
          amounts.push(data.amount);
          await promise;
        },
      },
    });
    const first = answer(delivery());
    if (isFinished) resolve();
    if (isFinished) await first;
    const other = orderPaid().replace('19.90', '90.00');
    expect(await answer(delivery(other))).toEqual({ status: 409, body: { error: 'conflicting_event' } });
    expect(errors).toMatchObject([
      {
        name: 'WebhookPayloadError',
        code: 'conflicting_event',
        httpStatus: 409,
        message: expect.stringContaining('"order.paid:ord_1001" arrived before with another content'),
      },
    ]);
    resolve();
    expect(await first).toMatchObject({ status: 200 });
    expect(await answer(delivery())).toMatchObject({ status: 200 });
    expect(amounts).toEqual(['19.90']);
  });

  it('even where the sender writes a field of the order in another way', async () => {
    const { answer, fulfilled } = receiver();
    await answer(delivery());
    await answer(delivery(orderPaid().replace('"19.90"', '19.9')));
    expect(fulfilled).toEqual(['ord_1001']);
  });
});

it('a delivery gets 500 while Object.prototype has a field of its own, and no function runs', async () => {
  const errors: unknown[] = [];
  const onPaid = vi.fn();
  const paid = '{"type":"order.paid","data":{"order_id":"ord_1","amount":"19.90","currency":"USD"}}';
  const receive = handler({ secret, on: { 'order.paid': onPaid }, onError: (error) => errors.push(error) });
  const headers = sign({ rawBody: paid, secret });
  const request = new Request('https://shop.example', { method: 'POST', headers, body: paid });
  Reflect.set(Object.prototype, 'polluted', true);
  try {
    expect((await receive(request)).status).toBe(500);
  } finally {
    Reflect.deleteProperty(Object.prototype, 'polluted');
  }
  expect(onPaid).not.toHaveBeenCalled();
  expect(errors).toMatchObject([{ code: 'invalid_options', message: expect.stringContaining('"polluted"') }]);
});

describe('options of a handler', () => {
  const on = { 'order.paid': () => {} };

  it.each<[string, object, RegExp]>([
    ['an unknown option', { secret, on, onerror: () => {} }, /Did you mean onError/],
    ['an option of verify() that a delivery brings', { secret, on, rawBody: '' }, /rawBody is unknown/],
    ['functions in another form', { secret, on: () => {} }, /on must be an object/],
    [
      'a misspelt event type',
      { secret, on: { 'order.payed': () => {} } },
      /on\.order\.payed is unknown\. Did you mean order\.paid\?/,
    ],
    [
      'an event type of the future',
      { secret, on: { ...on, 'refund.created': () => {} } },
      /on\.refund\.created is unknown\. Known are order\.paid\./,
    ],
    [
      'a function that is not one',
      { secret, on: { 'order.paid': 'fulfil' } },
      /on\.order\.paid must be a function/,
    ],
    ['an onUnknown that is none', { secret, on, onUnknown: 1 }, /onUnknown must be a function/],
    ['an onError that is none', { secret, on, onError: null }, /onError must be a function/],
    [
      'no function for order.paid',
      { secret, on: {} },
      /no function for "order\.paid", so orders would be lost/,
    ],
    ['neither on nor accept', { secret }, /pass "on".* or "accept"/],
    ['both on and accept', { secret, on, accept: () => {} }, /"accept" gets every event, so pass no "on"/],
    ['accept and onUnknown', { secret, accept: () => {}, onUnknown: () => {} }, /no "onUnknown" beside it/],
    ['an accept that is none', { secret, accept: 'queue' }, /accept must be a function/],
    ['a former option', { secret, on, claim: () => true }, /claim is unknown\. Known are .*accept/],
    [
      'a tolerance that is no number',
      { secret, on, toleranceSeconds: Number.NaN },
      /toleranceSeconds must be/,
    ],
    ['an unknown field of scheme', { secret, on, scheme: { algo: 'sha256' } }, /scheme\.\w+ is unknown/],
    [
      'a bad scheme beside a secret function',
      { secret: () => secret, on, scheme: { content: 'x' } },
      /\{body\}/,
    ],
    ['hooks that are none', { secret, on, hooks: 'log' }, /hooks must be an object of functions/],
    ['a hook that is none', { secret, on, hooks: { done: 1 } }, /hooks\.done must be a function/],
    [
      'a misspelt hook',
      { secret, on, hooks: { recieved: () => {} } },
      /hooks\.\w+ is unknown. Did you mean received/,
    ],
  ])('must not have %s: creating it throws', (_form, options, message) => {
    const error = create(options);
    expect(error).toBeInstanceOf(WebhookConfigError);
    expect(error).toMatchObject({ code: 'invalid_options', message: expect.stringMatching(message) });
  });

  it.each<[string, object]>([
    ['no secret', { on }],
    ['a secret whose environment variable is not set', { secret: undefined, on }],
    ['an empty secret', { secret: '', on }],
    ['no secret beside accept', { accept: () => {} }],
  ])('must not have %s: creating it throws', (_form, options) => {
    expect(create(options)).toMatchObject({ name: 'WebhookConfigError', code: 'invalid_secret' });
  });

  it('keep a secret of bytes that are zeroed afterwards', async () => {
    const bytes = Buffer.from(secret);
    const { answer } = receiver({ secret: bytes });
    bytes.fill(0);
    expect(await answer(delivery())).toMatchObject({ status: 200 });
    const forged = sign({ rawBody: orderPaid('ord_2'), secret: new Uint8Array(1) });
    expect(await answer(delivery(orderPaid('ord_2'), forged))).toMatchObject({ status: 400 });
  });

  it('need no secret where scheme.verify checks the signature', async () => {
    const { answer } = receiver({ secret: undefined, scheme: { verify: () => true } });
    expect(await answer(delivery())).toMatchObject({ status: 200 });
  });
});

describe('a secret that is a function', () => {
  it('is called once, at the first delivery', async () => {
    const read = vi.fn(() => secret);
    const { answer } = receiver({ secret: read });
    expect(read).not.toHaveBeenCalled();
    const both = [answer(delivery()), answer(delivery(orderPaid('ord_1002')))];
    expect(await Promise.all(both)).toMatchObject([{ status: 200 }, { status: 200 }]);
    expect(await answer(delivery())).toMatchObject({ status: 200 });
    expect(read).toHaveBeenCalledOnce();
  });

  it('may return a promise, or several secrets', async () => {
    const { answer } = receiver({ secret: async () => ['whsec_next', secret] });
    expect(await answer(delivery())).toMatchObject({ status: 200 });
  });

  it('that returns no valid secret gives 500 and onError, and is called again at the next delivery', async () => {
    const read = vi.fn<() => string | undefined>().mockReturnValueOnce(undefined).mockReturnValue(secret);
    const { answer, errors } = receiver({ secret: read });
    expect(await answer(delivery())).toEqual({ status: 500, body: { error: 'invalid_secret' } });
    expect(errors).toMatchObject([{ name: 'WebhookConfigError', code: 'invalid_secret' }]);
    expect(await answer(delivery())).toMatchObject({ status: 200 });
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('that never returns gives 500 and onError, and is called again at the next delivery', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const read = vi.fn(() => secret as string | Promise<string>).mockReturnValueOnce(new Promise(() => {}));
    const { answer, errors } = receiver({ secret: read });
    const answered = answer(delivery());
    await vi.waitFor(() => expect(read).toHaveBeenCalledOnce());
    vi.advanceTimersByTime(10_000);
    expect(await answered).toEqual({ status: 500, body: { error: 'internal_error' } });
    expect(String(errors)).toContain('The function `secret` returned nothing within 10 s');
    expect(await answer(delivery())).toMatchObject({ status: 200 });
    vi.useRealTimers();
  });

  it('that throws gives 500 and onError', async () => {
    const down = new Error('vault is down');
    const { answer, errors } = receiver({
      secret: () => {
        throw down;
      },
    });
    expect(await answer(delivery())).toEqual({ status: 500, body: { error: 'internal_error' } });
    expect(errors).toEqual([down]);
  });
});

function withResolvers() {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
