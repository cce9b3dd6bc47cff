import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import {
  type AcceptOptions,
  type Delivery,
  handler,
  recover,
  sign,
  verify,
} from '../../src/webhooks/index.js';

const secret = 'whsec_merchant_test_7Qm2xV9c';
const paid =
  '{"type":"order.paid","data":{"order_id":"ord_1001","amount":"19.9","currency":"USD","note":[1]}}';
const refund = '{"type":"refund.created","data":{"refund_id":"re_1"}}';

function request(body: string | Uint8Array<ArrayBuffer>, headers = sign({ rawBody: body, secret })): Request {
  return new Request('https://shop.example/webhooks', { method: 'POST', body, headers });
}

/** A receiver that keeps what it accepts as JSON, as a queue does. */
function receiver(options: Partial<AcceptOptions> = {}) {
  const stored: string[] = [];
  const errors: unknown[] = [];
  const receive = handler({
    secret,
    accept: async (delivery) => stored.push(JSON.stringify(delivery)),
    onError: (error) => errors.push(error),
    ...options,
  });
  const post = async (body: string | Uint8Array<ArrayBuffer>, headers?: Record<string, string>) => {
    const response = await receive(request(body, headers));
    return { status: response.status, body: await response.json() };
  };
  const last = (): Delivery => JSON.parse(stored.at(-1) ?? '');
  return { post, stored, last, errors };
}

describe('accept', () => {
  it('gets the delivery as plain JSON: key, event, body, signed headers and time', async () => {
    vi.useFakeTimers({ now: new Date('2026-01-01T00:00:00.123Z'), toFake: ['Date'] });
    const { post, last } = receiver();
    const headers = sign({ rawBody: paid, secret });
    expect(await post(paid, { ...headers, cookie: 'session=1', 'x-request-id': 'req_1' })).toEqual({
      status: 200,
      body: { received: true },
    });
    expect(last()).toEqual({
      key: 'order.paid:ord_1001',
      event: {
        type: 'order.paid',
        data: { order_id: 'ord_1001', amount: '19.90', currency: 'USD', note: [1] },
      },
      rawBody: paid,
      headers,
      receivedAt: '2026-01-01T00:00:00.123Z',
      digest: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    vi.useRealTimers();
  });

  it('gets events of any type; those without an order have the SHA-256 of their body in the key', async () => {
    const { post, last } = receiver();
    expect(await post(refund)).toMatchObject({ status: 200 });
    expect(last()).toMatchObject({
      key: `refund.created:${createHash('sha256').update(refund).digest('hex')}`,
      event: { type: 'unknown', originalType: 'refund.created' },
    });
  });

  it('gets what scheme.verify read of other headers, such as an id that is signed too', async () => {
    const { post, last } = receiver({
      scheme: { verify: ({ header }) => header('Webhook-Id') === 'msg_1' && header('webhook-kind') === null },
    });
    const headers = sign({ rawBody: paid, secret });
    expect(await post(paid, { ...headers, 'webhook-id': 'msg_1', cookie: 'session=1' })).toMatchObject({
      status: 200,
    });
    expect(last().headers).toEqual({ ...headers, 'webhook-id': 'msg_1' });
  });

  it('is waited for: no response before it has resolved', async () => {
    let store = () => {};
    const stored = new Promise<void>((resolve) => {
      store = resolve;
    });
    const { post } = receiver({ accept: () => stored });
    const responded = vi.fn();
    const response = post(paid).then(responded);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(responded).not.toHaveBeenCalled();
    store();
    await response;
    expect(responded).toHaveBeenCalledExactlyOnceWith({ status: 200, body: { received: true } });
  });

  it.each<[string, () => PromiseLike<unknown>]>([
    ['rejects', () => Promise.reject(new Error('queue is down'))],
    [
      'throws',
      () => {
        throw new Error('queue is down');
      },
    ],
  ])('that %s gives 500 and onError', async (_way, accept) => {
    const { post, errors } = receiver({ accept });
    expect(await post(paid)).toEqual({ status: 500, body: { error: 'internal_error' } });
    expect(errors).toEqual([new Error('queue is down')]);
  });

  it.each<[string, () => unknown]>([
    ['a query without execute()', () => ({ execute: () => expect.unreachable() })],
    ['promises in an array', () => [Promise.resolve()]],
    ['a function', () => () => {}],
  ])('that resolves to %s, which may not have run, gives 500', async (_what, result) => {
    const { post, errors } = receiver({ accept: async () => result() });
    expect(await post(paid)).toEqual({ status: 500, body: { error: 'internal_error' } });
    const message = expect.stringMatching(/^accept returned .*, which may not have run\./);
    expect(errors).toMatchObject([{ code: 'invalid_options', message }]);
  });

  it('gets a repeated delivery again: the queue knows its key, not this process', async () => {
    const { post, stored } = receiver();
    await post(paid);
    await post(paid);
    expect(stored).toHaveLength(2);
  });

  it('never gets an order of the doctor, which nobody has paid, and neither do on and recover()', async () => {
    const { post, stored } = receiver();
    const probe = paid.replace('ord_1001', 'ord_doctor0123456789abcdef0123_7');
    const response = { status: 200, body: { received: true } };
    expect(await post(probe)).toEqual(response);
    expect(stored).toEqual([]);
    const fulfil = vi.fn();
    expect((await handler({ secret, on: { 'order.paid': fulfil } })(request(probe))).status).toBe(200);
    expect(fulfil).not.toHaveBeenCalled();
    const headers = sign({ rawBody: probe, secret });
    const receivedAt = new Date().toISOString();
    const record = { code: 'signature_mismatch', receivedAt, bytes: probe.length, headers, rawBody: probe };
    expect(recover([record], { secret })).toEqual([]);
  });

  it('never gets what is not authentic or stale', async () => {
    const { post, stored } = receiver();
    const stale = sign({ rawBody: paid, secret, timestamp: new Date(Date.now() - 301_000) });
    expect(await post(`${paid} `, sign({ rawBody: paid, secret }))).toMatchObject({ status: 400 });
    expect(await post(paid, stale)).toMatchObject({ status: 400 });
    expect(stored).toEqual([]);
  });

  it.each<[string, string, string, unknown, string]>([
    [
      'a number as order_id',
      '{"type":"order.paid","data":{"order_id":1001}}',
      'order.paid',
      { order_id: 1001 },
      'data.order_id: expected a string',
    ],
    [
      'an amount with a comma',
      paid.replace('19.9', '19,9'),
      'order.paid',
      expect.objectContaining({ amount: '19,9' }),
      'data.amount: expected a decimal amount, not negative',
    ],
    [
      'no currency',
      '{"type":"order.paid","data":{"order_id":"o","amount":"1.00"}}',
      'order.paid',
      { order_id: 'o', amount: '1.00' },
      'data.currency: expected a string',
    ],
    ['no type', '{"data":{"order_id":"o"}}', '', { order_id: 'o' }, 'type: expected a string'],
    ['an array', '[1]', '', null, 'the body is not a JSON object'],
    ['no JSON', 'order paid!', '', null, 'its body is not JSON in UTF-8'],
    ['nothing', '', '', null, 'its body is empty'],
  ])(
    'gets an authentic delivery that cannot be read: %s',
    async (_what, body, originalType, data, problem) => {
      const { post, last, errors } = receiver();
      expect(await post(body)).toEqual({ status: 200, body: { received: true } });
      expect(last()).toMatchObject({
        key: `invalid:${createHash('sha256').update(body).digest('hex')}`,
        event: { type: 'unknown', originalType, data, problem },
        rawBody: body,
      });
      expect(errors).toEqual([]);
      expect(() => verify({ ...last(), secret })).toThrow('The webhook is authentic, but');
    },
  );

  it('gets one that is nested too deeply to be written as JSON', async () => {
    const { post, last } = receiver();
    const body = `{"type":"deep","data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(await post(body)).toEqual({ status: 200, body: { received: true } });
    const problem = 'it has more than 100 levels';
    expect(last()).toMatchObject({
      key: `invalid:${createHash('sha256').update(body).digest('hex')}`,
      event: { type: 'unknown', originalType: 'deep', data: null, problem },
      rawBody: body,
    });
    const nestedBody = (levels: number) =>
      `{"type":"deep","data":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    await post(nestedBody(99));
    expect(last().event).toMatchObject({ type: 'unknown', originalType: 'deep' });
    expect(last().event).not.toHaveProperty('problem');
  });

  it('gets a body that is not UTF-8 in base64, which verify() understands', async () => {
    const { post, last } = receiver();
    const body = new Uint8Array([0x7b, 0xff, 0x00, 0x7d]);
    expect(await post(body)).toMatchObject({ status: 200 });
    expect(last()).toMatchObject({
      rawBody: 'e/8AfQ==',
      encoding: 'base64',
      event: { problem: 'its body is not JSON in UTF-8' },
    });
    expect(() => verify({ ...last(), secret })).toThrow('not JSON in UTF-8');
    expect(() => verify({ ...last(), rawBody: 'e/8BfQ==', secret })).toThrow('does not match');
  });

  it.each<[object, string]>([
    [{ encoding: 'hex' }, 'encoding must be "base64", or left out where rawBody is text.'],
    [{ rawBody: 'no base64!', encoding: 'base64' }, 'rawBody is not base64, as encoding says'],
    [{ rawBody: Buffer.from('e30='), encoding: 'base64' }, 'rawBody is not base64, as encoding says'],
  ])('has an encoding that is checked: %j', (given, message) => {
    const options = { rawBody: paid, headers: sign({ rawBody: paid, secret }), secret, ...given };
    expect(() => Reflect.apply(verify, undefined, [options])).toThrow(message);
  });

  it('is no unreadable event only because a new type has a field of that name', async () => {
    const { post, last } = receiver();
    await post('{"type":"dispute.created","problem":"not received","data":{}}');
    expect(last().key).toMatch(/^dispute\.created:/);
    expect(last().event).toEqual({ type: 'unknown', originalType: 'dispute.created', data: {} });
    expect(last().rawBody).toContain('not received');
  });

  it.each<[string, () => unknown]>([
    ['nothing', () => undefined],
    ['a value', () => 1],
    ['an object', () => ({ id: 'job_1' })],
  ])(
    'that returns %s is answered 500, as nobody knows whether the delivery is stored',
    async (_what, returned) => {
      const accept = vi.fn().mockImplementation(returned);
      const { post, errors } = receiver({ accept });
      expect(await post(paid)).toEqual({ status: 500, body: { error: 'internal_error' } });
      expect(errors).toMatchObject([
        { code: 'invalid_options', message: expect.stringContaining('accept returned no promise') },
      ]);
    },
  );

  it('may return any thenable, as query builders do', async () => {
    // biome-ignore lint/suspicious/noThenProperty: a thenable that is no Promise is what this is about.
    const accept = vi.fn().mockReturnValue({ then: (done: (value: unknown) => void) => done('stored') });
    expect(await receiver({ accept }).post(paid)).toMatchObject({ status: 200 });
  });

  it('may return a thenable that is a function, as stubs of remote calls are', async () => {
    // biome-ignore lint/suspicious/noThenProperty: a thenable that is a function is what this is about.
    const stub = Object.assign(() => {}, { then: (done: (value: unknown) => void) => done('stored') });
    const accept = vi.fn().mockReturnValue(stub);
    expect(await receiver({ accept }).post(paid)).toMatchObject({ status: 200 });
  });
});

describe('digest', () => {
  async function digestOf(body: string): Promise<string> {
    const { post, last } = receiver();
    await post(body);
    return last().digest;
  }

  it.each([
    ['white space', paid.replaceAll(',', ' , ')],
    [
      'the order of fields',
      '{"data":{"note":[1],"currency":"USD","amount":19.9,"order_id":"ord_1001"},"type":"order.paid"}',
    ],
    ['the form of the amount', paid.replace('"19.9"', '19.90')],
    ['what stands beside type and data', paid.replace('{"type"', '{"sent":2,"type"')],
  ])('is the same whatever %s', async (_what, body) => {
    expect(await digestOf(body)).toBe(await digestOf(paid));
    expect(await digestOf(body)).toMatch(/^[0-9a-f]{16}$/);
  });

  it.each([
    ['the amount', paid.replace('19.9', '90.00')],
    ['the currency', paid.replace('USD', 'EUR')],
    ['a field that the spec does not list', paid.replace('[1]', '[2]')],
    ['the order of a list', paid.replace('[1]', '[1,1]')],
    ['the type', paid.replace('order.paid', 'order.payed')],
  ])('is another one if %s differs', async (_what, body) => {
    expect(await digestOf(body)).not.toBe(await digestOf(paid));
  });

  it('does not change between versions: queues keep it', async () => {
    expect(
      await digestOf('{"type":"order.paid","data":{"order_id":"ord_1","amount":"10.00","currency":"USD"}}'),
    ).toBe(
      createHash('sha256')
        .update('["order.paid",{"amount":"10.00","currency":"USD","order_id":"ord_1"}]')
        .digest('hex')
        .slice(0, 16),
    );
  });
});

describe('a stored delivery', () => {
  it('is verified again by verify({ ...delivery, secret }), at any time', async () => {
    const { post, last } = receiver();
    await post(paid);
    const delivery = last();
    vi.useFakeTimers({ now: Date.now() + 30 * 86_400_000, toFake: ['Date'] });
    expect(verify({ ...delivery, secret })).toEqual(delivery.event);
    expect(verify({ ...delivery, receivedAt: new Date(delivery.receivedAt), secret })).toEqual(
      delivery.event,
    );
    vi.useRealTimers();
  });

  it('is verified with the headers that scheme.verify reads', async () => {
    const idSecret = 'whsec_id';
    const scheme: AcceptOptions['scheme'] = {
      verify: ({ body, timestamp, signature, header }) =>
        createHmac('sha256', idSecret)
          .update(`${header('webhook-id')}.${timestamp}.`)
          .update(body)
          .digest('hex') === signature,
    };
    const { post, last } = receiver({ secret: undefined, scheme });
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac('sha256', idSecret).update(`msg_1.${timestamp}.`).update(paid).digest('hex');
    await post(paid, {
      'x-service-signature': signature,
      'x-service-timestamp': timestamp,
      'webhook-id': 'msg_1',
    });
    expect(verify({ ...last(), scheme })).toEqual(last().event);
  });

  it.each([
    ['with a byte order mark', Buffer.from(`\ufeff${paid}`)],
    ['with characters of one to four bytes', Buffer.from(paid.replace('ord_1001', 'o é € 😀'))],
    ['with escaped and odd white space', Buffer.from(`\r\n ${paid.replace('ord_1001', '\\u0000\\ud800')}\t`)],
  ])('keeps a body %s byte for byte', async (_form, body) => {
    const { post, last } = receiver();
    expect(await post(new Uint8Array(body))).toMatchObject({ status: 200 });
    expect(Buffer.from(last().rawBody)).toEqual(body);
    expect(verify({ ...last(), secret })).toEqual(last().event);
  });

  it('is refused when somebody changed its body, its time or its headers', async () => {
    const { post, last } = receiver();
    await post(paid);
    const { rawBody, receivedAt, ...rest } = last();
    const changed = rawBody.replace('19.9', '99.9');
    expect(() => verify({ ...rest, receivedAt, rawBody: changed, secret })).toThrow('signature');
    const later = new Date(Date.parse(receivedAt) + 302_000).toISOString();
    expect(() => verify({ ...rest, rawBody, receivedAt: later, secret })).toThrow('toleranceSeconds');
    expect(() => verify({ ...rest, rawBody, receivedAt, headers: {}, secret })).toThrow('missing');
  });

  it.each([
    'yesterday',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-02-30T00:00:00Z',
    '',
    `2026-01-01T00:00:00.${'0'.repeat(40)}Z`,
  ])('must not have the time %j', (receivedAt) => {
    expect(() =>
      verify({ rawBody: paid, headers: sign({ rawBody: paid, secret }), receivedAt, secret }),
    ).toThrow('receivedAt must be a valid Date or ISO 8601 with a zone.');
  });

  it('is the only thing with a key and an event: other names are refused still', () => {
    const options = { rawBody: paid, headers: {}, secret, key: 'k', event: {}, keys: 'k' };
    expect(() => verify(options)).toThrow('keys is unknown.');
  });
});
