import { describe, expect, it } from 'vitest';
import {
  type AcceptOptions,
  type Delivery,
  handler,
  type RefusedDelivery,
  recover,
  sign,
  verify,
} from '../../src/webhooks/index.js';

const secret = 'whsec_merchant_test_7Qm2xV9c';
const scheme = { content: '{body}', encoding: 'base64' } as const;
const paidBody = (id = 'ord_1001') =>
  `{"type":"order.paid","data":{"order_id":"${id}","amount":"19.90","currency":"USD","note":"Grüße"}}`;
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A receiver that keeps what it refuses as JSON, as a table does. */
function receiver(options: Partial<AcceptOptions> = {}) {
  const rows: string[] = [];
  const accepted: Delivery[] = [];
  const errors: unknown[] = [];
  const receive = handler({
    secret,
    accept: async (delivery) => accepted.push(delivery),
    refused: async (delivery) => rows.push(JSON.stringify(delivery)),
    onError: (error) => errors.push(error),
    ...options,
  });
  const post = async (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) =>
    (await receive(new Request('https://shop.example/webhooks', { method: 'POST', body, headers }))).status;
  const records = (): RefusedDelivery[] => rows.map((row) => JSON.parse(row));
  return { post, accepted, records, errors };
}

describe('accept with refused', () => {
  it('keeps a delivery that another scheme signed, as plain JSON, and responds with 400', async () => {
    const { post, records, accepted } = receiver();
    const headers = sign({ rawBody: paidBody(), secret, scheme });
    expect(await post(paidBody(), { ...headers, cookie: 'session=1', 'x-request-id': 'req_1' })).toBe(400);
    expect(records()).toEqual([
      {
        code: 'malformed_signature',
        receivedAt: expect.stringMatching(/^\d{4}-.*Z$/),
        bytes: Buffer.byteLength(paidBody()),
        headers: { ...headers, 'x-request-id': 'req_1' },
        rawBody: paidBody(),
      },
    ]);
    expect(accepted).toEqual([]);
  });

  it('responds only once it is kept', async () => {
    const steps: string[] = [];
    const { post } = receiver({
      refused: async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        steps.push('kept');
      },
    });
    await post(paidBody(), sign({ rawBody: paidBody(), secret, scheme })).then((status) =>
      steps.push(`${status}`),
    );
    expect(steps).toEqual(['kept', '400']);
  });

  const signed = sign({ rawBody: paidBody(), secret });
  const { 'x-service-signature': signature = '' } = signed;
  it.each<[string, string, Record<string, string>, string | undefined]>([
    ['of another signature', paidBody(), sign({ rawBody: 'x', secret }), 'signature_mismatch'],
    ['with a time in words', paidBody(), { ...signed, 'x-service-timestamp': 'noon' }, 'malformed_timestamp'],
    ['without a timestamp', paidBody(), { 'x-service-signature': signature }, 'missing_timestamp'],
    [
      'of 1970',
      paidBody(),
      sign({ rawBody: paidBody(), secret, timestamp: new Date(86_400_000) }),
      'timestamp_too_old',
    ],
    ['of 64 KiB', ' '.repeat(65_536), signed, 'signature_mismatch'],
    ['of one byte more', ' '.repeat(65_537), signed, undefined],
    ['without a signature', paidBody(), {}, undefined],
  ])('is given what the quarantine of the inbox keeps: one %s', async (_what, body, headers, code) => {
    const { post, records } = receiver();
    expect(await post(body, headers)).toBe(400);
    expect(records().map((record) => record.code)).toEqual(code === undefined ? [] : [code]);
  });

  it('responds with 500, and onError gets both errors, if it cannot be kept', async () => {
    const { post, errors } = receiver({ refused: () => Promise.reject(new Error('the disk is full')) });
    expect(await post(paidBody(), sign({ rawBody: 'x', secret }))).toBe(500);
    expect(errors).toMatchObject([{ code: 'signature_mismatch' }, { message: 'the disk is full' }]);
  });

  it('responds with 500 if it returns no promise: an await was forgotten', async () => {
    const forgetPromise: AcceptOptions['refused'] = () => JSON.parse('null');
    const { post, errors } = receiver({ refused: forgetPromise });
    expect(await post(paidBody(), sign({ rawBody: 'x', secret }))).toBe(500);
    expect(errors).toMatchObject([{}, { message: expect.stringMatching(/^refused returned no promise/) }]);
  });

  it('goes with accept: with on, and alone, the handler is not made', () => {
    const refuse = async () => {};
    for (const other of [{ on: { 'order.paid': () => {} } }, {}])
      expect(() => Reflect.apply(handler, undefined, [{ secret, refused: refuse, ...other }])).toThrow(
        /"refused" keeps|pass "on"/,
      );
  });
});

describe('recover', () => {
  it('returns what is authentic under another scheme as deliveries, in their order', async () => {
    const { post, records } = receiver();
    for (const id of ['ord_1', 'ord_2', 'ord_3'])
      await post(paidBody(id), sign({ rawBody: paidBody(id), secret, scheme }));
    const kept = records();
    const withForged = kept.flatMap((record) => [{ ...record, rawBody: paidBody('ord_9') }, record]);
    const recovered = recover(withForged, { secret, scheme });
    expect(recovered.map(({ key }) => key)).toEqual([
      'order.paid:ord_1',
      'order.paid:ord_2',
      'order.paid:ord_3',
    ]);
    expect(recovered[0]).toMatchObject({ rawBody: paidBody('ord_1'), receivedAt: kept[0]?.receivedAt });
    expect(verify({ ...JSON.parse(JSON.stringify(recovered[0])), secret, scheme })).toEqual(
      recovered[0]?.event,
    );
    expect(recover(kept, { secret })).toEqual([]);
  });

  it('verifies each as of when it was received', async () => {
    const receivedAt = '2026-01-01T00:00:00.000Z';
    const headers = sign({ rawBody: paidBody(), secret, scheme, timestamp: new Date(receivedAt) });
    const record = {
      code: 'malformed_signature',
      receivedAt,
      bytes: paidBody().length,
      headers,
      rawBody: paidBody(),
    };
    expect(recover([record], { secret, scheme })).toMatchObject([{ receivedAt }]);
    const later = { ...record, receivedAt: '2026-01-01T02:00:00.000Z' };
    expect(recover([later], { secret, scheme })).toEqual([]);
    // The sender's clock is signed, and that of a server which is two hours ahead is not.
    expect(recover([later], { secret, scheme, toleranceSeconds: 7200 })).toMatchObject([{ receivedAt }]);
  });

  it.each([
    ['base64, as AWS Lambda passes it', base64],
    ['base64 with a newline', (text: string) => `${base64(text)}\n`],
    ['a JSON string', (text: string) => JSON.stringify(text)],
  ])('reads a body that came as %s, and returns the one that was sent', async (_form, encode) => {
    const { post, records } = receiver();
    await post(encode(paidBody()), sign({ rawBody: paidBody(), secret }));
    const [delivery, ...others] = recover(records(), { secret });
    expect(others).toEqual([]);
    expect(delivery).toMatchObject({ key: 'order.paid:ord_1001', rawBody: paidBody() });
    expect(delivery && verify({ ...delivery, secret })).toEqual(delivery?.event);
  });

  it('lets a verifier that throws on one record hold back no other, and throws if it throws on all', () => {
    const record = (rawBody: string) => ({
      ...{ code: 'signature_mismatch', receivedAt: new Date().toISOString(), bytes: rawBody.length, rawBody },
      headers: sign({ rawBody, secret }),
    });
    const picky = (message: { body: Uint8Array }) => {
      if (message.body.length < 3) throw new RangeError('too short');
      return true;
    };
    expect(recover([record('{}'), record(paidBody())], { scheme: { verify: picky } })).toHaveLength(1);
    expect(() => recover([record('{}')], { scheme: { verify: picky } })).toThrow(/scheme\.verify threw/);
  });

  it.each<[string, unknown[], RegExp]>([
    ['no array', [{ secret }, { secret }], /takes an array/],
    ['a record of other columns', [[{ raw_body: '{}', headers: {} }], { secret }], /record 0 lacks rawBody/],
    ['no secret', [[], {}], /secret/],
    ['an unknown option', [[], { secret, schema: {} }], /schema is unknown. Did you mean scheme\?/],
  ])('refuses %s', (_what, given, message) => {
    expect(() => Reflect.apply(recover, undefined, given)).toThrow(
      expect.objectContaining({ name: 'WebhookConfigError', message: expect.stringMatching(message) }),
    );
  });
});

describe('a body that a platform encoded once more', () => {
  it.each([
    [
      'base64',
      base64(paidBody()),
      "The signature does not match. The body is base64, as AWS Lambda passes it: decode it, or pass `encoding: 'base64'`.",
    ],
    [
      'a JSON string',
      JSON.stringify(paidBody()),
      'The signature does not match. The body is a JSON string that holds the body: something encoded it once more. ' +
        'Pass `JSON.parse(rawBody)`.',
    ],
  ])('as %s is refused with a hint that says so', (_form, rawBody, message) => {
    const headers = sign({ rawBody: paidBody(), secret });
    expect(() => verify({ rawBody, headers, secret })).toThrow(
      expect.objectContaining({ code: 'signature_mismatch', message }),
    );
  });

  it.each([
    ['base64 of other text', base64('[1]')],
    ['a JSON string of other text', '"paid"'],
    ['half a JSON string', '"{'],
    ['the event itself', paidBody()],
    ['base64 without padding', base64(`${paidBody()} `.slice(0, paidBody().length)).slice(0, -1)],
  ])('is not seen in %s', (_form, rawBody) => {
    const headers = sign({ rawBody: 'x', secret });
    expect(() => verify({ rawBody, headers, secret })).toThrow(/Either the body was changed in transit/);
  });

  it('is verified as it is: base64 that was signed as base64 is authentic, and no event', () => {
    const rawBody = base64(paidBody());
    expect(() => verify({ rawBody, headers: sign({ rawBody, secret }), secret })).toThrow(
      expect.objectContaining({ code: 'invalid_json' }),
    );
    expect(
      verify({ rawBody, encoding: 'base64', headers: sign({ rawBody: paidBody(), secret }), secret }),
    ).toMatchObject({
      data: { order_id: 'ord_1001' },
    });
  });
});
