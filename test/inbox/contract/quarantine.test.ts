import { createHmac } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { identifyScheme } from '../../../src/doctor/identify.js';
import { sign } from '../../../src/webhooks/index.js';
import { orderPaid, received, secret } from '../inboxes.js';
import { newPlace, openAt } from './places.js';

/** Another way to sign than the default, which is a guess. */
const scheme = { content: '{timestamp}{body}', encoding: 'base64' } as const;
const signOtherwise = (rawBody: string | Uint8Array, timestamp?: Date) =>
  sign({ rawBody, secret, scheme, timestamp });

describe('a shop that goes live with the wrong scheme', () => {
  it('loses no order: what was refused is identified, recovered, and fulfilled once', async () => {
    const place = newPlace();
    const { inbox, post, calls } = openAt({ place });
    const ids = ['ord_1', 'ord_2', 'ord_3'];
    for (const id of ids) expect((await post(orderPaid(id), signOtherwise(orderPaid(id)))).status).toBe(400);
    expect(await inbox.stats()).toMatchObject({ refused: 3, pending: 0 });
    const [newest] = await inbox.refused();
    const found = identifyScheme({ rawBody: newest?.rawBody ?? '', headers: newest?.headers ?? {}, secret });
    expect(found).toMatchObject({ found: true, scheme });
    expect(await inbox.recover({ scheme: found.scheme })).toEqual({
      recovered: 3,
      duplicates: 0,
      refused: 0,
    });
    await inbox.idle();
    expect(calls).toEqual(ids.map((id) => [id, 1]));
    expect(await inbox.stats()).toMatchObject({ refused: 0, done: 3 });
    expect(await inbox.recover({ scheme })).toEqual({ recovered: 0, duplicates: 0, refused: 0 });
    // The shop restarts with the scheme, and the service delivers one of them again.
    await inbox.close();
    const fixed = openAt({ place, scheme });
    expect(await fixed.post(orderPaid('ord_1'), signOtherwise(orderPaid('ord_1')))).toEqual(received);
    await fixed.inbox.idle();
    expect(fixed.calls).toEqual([]);
  });

  it('or with the wrong secret, of which recover() without options takes the one of the inbox', async () => {
    const place = newPlace();
    const wrong = openAt({ place, secret: 'whsec_of_another_shop' });
    expect(await wrong.post(orderPaid('ord_1'))).toMatchObject({ status: 400 });
    expect(await wrong.inbox.recover()).toEqual({ recovered: 0, duplicates: 0, refused: 1 });
    expect(await wrong.inbox.recover({ secret })).toMatchObject({ recovered: 1 });
    await wrong.inbox.idle();
    await wrong.post(orderPaid('ord_2'));
    await wrong.inbox.close();
    const right = openAt({ place });
    expect(await right.inbox.recover()).toEqual({ recovered: 1, duplicates: 0, refused: 0 });
    await right.inbox.idle();
    expect(right.calls).toEqual([['ord_2', 1]]);
  });

  it.each<[string, string, Partial<Parameters<typeof openAt>[0]>]>([
    ['without the secret', 'invalid_secret', { secret: () => undefined }],
    ['while the secret cannot be read', 'internal_error', { secret: () => Promise.reject(new Error('x')) }],
    [
      'with a verifier that throws',
      'invalid_options',
      {
        scheme: {
          verify: () => {
            throw new Error('x');
          },
        },
      },
    ],
  ])('or %s: it gets 500, and is recovered once the shop is mended', async (_how, code, options) => {
    const place = newPlace();
    const wrong = openAt({ place, ...options });
    expect(await wrong.post(orderPaid('ord_1'))).toEqual({ status: 500, body: { error: code } });
    await wrong.post(orderPaid('no signature'), {});
    expect((await wrong.inbox.refused()).map((one) => one.code)).toEqual([code]);
    await wrong.inbox.close();
    const right = openAt({ place });
    expect(await right.inbox.recover()).toEqual({ recovered: 1, duplicates: 0, refused: 0 });
    await right.inbox.idle();
    expect(right.calls).toEqual([['ord_1', 1]]);
  });

  it('or with the wrong verifier: what another one reads is kept, but no cookie and no login', async () => {
    const place = newPlace();
    const wrong = openAt({ place, scheme: { verify: () => false } });
    const headers = {
      ...sign({ rawBody: orderPaid('ord_1'), secret }),
      ...{ 'webhook-id': 'msg_1', cookie: 'a=b', authorization: 'Basic eDp5' },
    };
    await wrong.post(orderPaid('ord_1'), headers);
    const [kept] = await wrong.inbox.refused();
    expect(kept?.headers).toMatchObject({ 'webhook-id': 'msg_1' });
    expect(Object.keys(kept?.headers ?? {})).not.toEqual(expect.arrayContaining(['cookie']));
    expect(JSON.stringify(kept)).not.toContain('Basic');
    const verify = ({ header }: { header(name: string): string | null }) => header('webhook-id') === 'msg_1';
    expect(await wrong.inbox.recover({ scheme: { verify } })).toMatchObject({ recovered: 1 });
  });

  it.each([
    ['x-service-signature', 'x-signature'],
    ['webhook-signature', 'x-service-signature'],
  ])('or signed in the header %s, although the options name %s', async (signatureHeader, named) => {
    const place = newPlace();
    const wrong = openAt({ place, scheme: { signatureHeader: named } });
    const names = { signatureHeader, timestampHeader: 'webhook-timestamp' };
    const headers = sign({ rawBody: orderPaid('ord_1'), secret, scheme: names });
    expect(await wrong.post(orderPaid('ord_1'), headers)).toMatchObject({
      body: { error: 'missing_signature' },
    });
    expect(await wrong.inbox.recover({ scheme: names })).toEqual({ recovered: 1, duplicates: 0, refused: 0 });
    await wrong.inbox.idle();
    expect(wrong.calls).toEqual([['ord_1', 1]]);
  });

  it('keeps no empty body of an event that was passed in place of its request', async () => {
    const { inbox } = openAt({});
    const req = new Request('https://shop.example', {
      method: 'POST',
      headers: signOtherwise('{}'),
      body: '{}',
    });
    const event = { req, method: req.method, headers: req.headers }; // as h3 2 has it
    expect((await Reflect.apply(inbox.handler, undefined, [event])).status).toBe(500);
    expect(await inbox.refused()).toEqual([]);
  });

  it('recovers what it can, although a verifier throws at something of a stranger', async () => {
    const { inbox, post, calls, errors } = openAt({ scheme: { verify: () => false } });
    await post('{}', { 'x-service-signature': 'short', 'x-service-timestamp': '1' });
    await post(orderPaid('ord_1'));
    const verify = ({ body }: { body: Uint8Array }) => {
      if (body.byteLength < 10) throw new RangeError('Input buffers must have the same byte length');
      return true;
    };
    expect(await inbox.recover({ scheme: { verify } })).toEqual({ recovered: 1, duplicates: 0, refused: 1 });
    await inbox.idle();
    expect(calls).toEqual([['ord_1', 1]]);
    expect(String(errors.at(-1))).toContain('invalid');
  });

  it('recovers what it can, although the signed time of another one is no date', async () => {
    const { inbox, post } = openAt();
    const body = orderPaid('far');
    const timestamp = '99999999999999';
    const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
    await post(body, { 'x-service-signature': signature, 'x-service-timestamp': timestamp });
    await post(
      orderPaid('ord_1'),
      sign({ rawBody: orderPaid('ord_1'), secret, timestamp: new Date('2020-01-01') }),
    );
    const ever = { toleranceSeconds: Number.POSITIVE_INFINITY, scheme: { timestamp: 'seconds' } } as const;
    expect(await inbox.recover(ever)).toEqual({ recovered: 1, duplicates: 0, refused: 1 });
  });

  it('keeps a body with a NUL whole', async () => {
    const { inbox, post } = openAt();
    const body = orderPaid('ord_1').replace('}', '\0}');
    await post(body, signOtherwise(body));
    const [kept] = await inbox.refused();
    expect(Buffer.from(kept?.rawBody ?? '', kept?.encoding).toString()).toBe(body);
    expect(await inbox.recover({ scheme })).toMatchObject({ recovered: 1 });
    expect(await inbox.list()).toMatchObject([{ state: 'parked', key: expect.stringContaining('invalid:') }]);
  });

  it('counts what was stored in the meantime as a duplicate', async () => {
    const { inbox, post, calls } = openAt();
    await post(orderPaid('ord_1'), signOtherwise(orderPaid('ord_1')));
    await post(orderPaid('ord_1'));
    expect(await inbox.recover({ scheme })).toEqual({ recovered: 0, duplicates: 1, refused: 0 });
    await inbox.idle();
    expect(calls).toEqual([['ord_1', 1]]);
  });
});

describe('a delivery that is authentic, but not by the clock', () => {
  const signLate = (order: string, minutes: number) => {
    const timestamp = new Date(Date.now() - minutes * 60_000);
    return [orderPaid(order), sign({ rawBody: orderPaid(order), secret, timestamp })] as const;
  };

  it.each([
    ['timestamp_too_old', 6],
    ['timestamp_in_future', -6],
  ])('is refused with %s and kept, and recovered with another tolerance', async (code, minutes) => {
    const { inbox, post, calls } = openAt();
    expect(await post(...signLate('ord_1', minutes))).toEqual({ status: 400, body: { error: code } });
    expect(await inbox.refused()).toMatchObject([{ code, rawBody: orderPaid('ord_1') }]);
    expect(await inbox.recover()).toEqual({ recovered: 0, duplicates: 0, refused: 1 });
    expect(await inbox.recover({ toleranceSeconds: 330 })).toEqual({
      recovered: 0,
      duplicates: 0,
      refused: 1,
    });
    expect(await inbox.recover({ toleranceSeconds: 400 })).toEqual({
      recovered: 1,
      duplicates: 0,
      refused: 0,
    });
    await inbox.idle();
    expect(await inbox.recover({ toleranceSeconds: Number.POSITIVE_INFINITY })).toEqual({
      recovered: 0,
      duplicates: 0,
      refused: 0,
    });
    expect(calls).toEqual([['ord_1', 1]]);
    expect(await inbox.stats()).toMatchObject({ done: 1, refused: 0 });
    // One of the clocks is wrong. Only the sender's is signed, and says which orders came before the payment.
    const entry = await inbox.get('order.paid:ord_1');
    const minutesAgo = (Date.now() - Date.parse(entry?.receivedAt ?? '')) / 60_000;
    expect(Math.round(minutesAgo)).toBe(minutes);
  });

  it('is measured against when it was received, however long ago that is', async () => {
    const place = newPlace();
    const { inbox, post, calls } = openAt({ place });
    const yearAgo = Date.now() - 365 * 86_400_000;
    for (const [id, earlierMs] of Object.entries({ ord_1: 250_000, ord_2: 350_000 })) {
      await post(orderPaid(id), signOtherwise(orderPaid(id), new Date(yearAgo - earlierMs)));
    }
    await place.run(`UPDATE $inbox_refused SET received_at = ${yearAgo}`);
    expect(await inbox.recover({ scheme })).toEqual({ recovered: 1, duplicates: 0, refused: 1 });
    expect(await inbox.recover({ scheme, toleranceSeconds: 340 })).toMatchObject({ recovered: 0 });
    expect(await inbox.recover({ scheme, toleranceSeconds: 360 })).toMatchObject({ recovered: 1 });
    await inbox.idle();
    expect(calls.map(([id]) => id)).toEqual(['ord_1', 'ord_2']);
    const entries = (await inbox.list()).map(({ receivedAt }) => yearAgo - Date.parse(receivedAt));
    expect(entries.map((ms) => Math.round(ms / 10_000))).toEqual([35, 0]);
  });

  it('is a duplicate if its order is known: a replay fulfils nothing', async () => {
    const { inbox, post, calls } = openAt();
    await post(orderPaid('ord_1'));
    expect(await post(...signLate('ord_1', 60))).toMatchObject({ status: 400 });
    await inbox.idle();
    expect(await inbox.recover({ toleranceSeconds: Number.POSITIVE_INFINITY })).toEqual({
      recovered: 0,
      duplicates: 1,
      refused: 0,
    });
    await inbox.idle();
    expect(calls).toEqual([['ord_1', 1]]);
  });

  it('is recovered by an inbox with a wider tolerance of its own', async () => {
    const place = newPlace();
    const strict = openAt({ place });
    await strict.post(...signLate('ord_1', 6));
    await strict.inbox.close();
    const wide = openAt({ place, toleranceSeconds: 3600 });
    expect(await wide.inbox.recover({ toleranceSeconds: undefined })).toMatchObject({ recovered: 1 });
  });

  it.each([0, -1, Number.NaN, '2h', null])(
    'is not recovered with the tolerance %j',
    async (toleranceSeconds) => {
      const { inbox } = openAt();
      // @ts-expect-error It may be anything in JavaScript.
      await expect(inbox.recover({ toleranceSeconds })).rejects.toMatchObject({
        name: 'WebhookConfigError',
        message: expect.stringContaining('toleranceSeconds must be a number above 0'),
      });
    },
  );
});

describe('the quarantine', () => {
  it('is recovered whole, however many deliveries it holds', async () => {
    const place = newPlace();
    const { inbox, post } = openAt({ place, keepRefused: 2000, work: false });
    const first = orderPaid('the first');
    await post(first, signOtherwise(first));
    await place.run(`INSERT INTO $inbox_refused (code, received_at, bytes, headers, raw_body)
      WITH RECURSIVE counted (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM counted WHERE number < 1100)
      SELECT 'malformed_signature', 1767225600000, 2, '{"x-service-signature":"a","x-service-timestamp":"1"}', '{}'
      FROM counted`);
    expect(await inbox.recover({ scheme })).toEqual({ recovered: 1, duplicates: 0, refused: 1100 });
    expect(await inbox.get('order.paid:the first')).toMatchObject({ state: 'pending' });
  });

  it('keeps body, code, time and length, and of the headers those that begin with x- alone', async () => {
    const { inbox, post } = openAt();
    const body = orderPaid('ord_é');
    const headers = {
      ...signOtherwise(body),
      cookie: 'session=1',
      authorization: 'Bearer x',
      'x-request-id': 'r1',
      'x-cookie': 'c',
    };
    await post(body, headers);
    expect(await inbox.refused()).toEqual([
      expect.objectContaining({
        id: expect.any(Number),
        code: 'malformed_signature',
        receivedAt: expect.stringMatching(/Z$/),
        bytes: Buffer.byteLength(body),
        headers: { ...signOtherwise(body), 'x-request-id': 'r1', ...timeOf(headers) },
        rawBody: body,
      }),
    ]);
  });

  it('keeps bytes that are not UTF-8 as base64, which can be recovered', async () => {
    const { inbox, post } = openAt({ work: false });
    const body = new Uint8Array([0xff, 0x00]);
    await post(body, signOtherwise(body));
    expect(await inbox.refused()).toMatchObject([{ rawBody: '/wA=', encoding: 'base64', bytes: 2 }]);
    expect(await inbox.recover({ scheme })).toMatchObject({ recovered: 1 });
    expect(await inbox.stats()).toMatchObject({ parked: 1 });
  });

  it.each<[string, string, Record<string, string>]>([
    ['has no signature', orderPaid('o'), {}],
    [
      'is longer than 64 KiB',
      'x'.repeat(64 * 1024 + 1),
      { 'x-service-signature': 'a', 'x-service-timestamp': '1' },
    ],
  ])('does not keep what %s', async (_what, body, headers) => {
    const { inbox, post } = openAt();
    expect(await post(body, headers)).toMatchObject({ status: 400 });
    expect(await inbox.refused()).toEqual([]);
  });

  it('keeps what has no timestamp, or one of another form', async () => {
    const { inbox, post } = openAt();
    const { 'x-service-signature': signature = '' } = sign({ rawBody: orderPaid('o'), secret });
    await post(orderPaid('o'), { 'x-service-signature': signature });
    await post(orderPaid('p'), { 'x-service-signature': signature, 'x-service-timestamp': 'today' });
    expect((await inbox.refused()).map(({ code }) => code)).toEqual([
      'malformed_timestamp',
      'missing_timestamp',
    ]);
  });

  it('keeps what another unit of the timestamp would prove fresh', async () => {
    const { inbox, post } = openAt({ scheme: { timestamp: 'seconds' } });
    const rawBody = orderPaid('o');
    const headers = sign({ rawBody, secret, scheme: { timestamp: 'milliseconds' } });
    expect(await post(rawBody, headers)).toMatchObject({ body: { error: 'timestamp_in_future' } });
    expect(await inbox.refused()).toMatchObject([{ code: 'timestamp_in_future' }]);
    expect(await inbox.recover({ scheme: { timestamp: 'auto' } })).toMatchObject({
      recovered: 1,
      refused: 0,
    });
  });

  it('keeps a delivery before onError is told, which may never return', async () => {
    const { inbox, post } = openAt({ onError: () => new Promise(() => {}) });
    void post(orderPaid('o'), signOtherwise(orderPaid('o')));
    await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ refused: 1 }));
  });

  it('holds the last keepRefused, of which a flood never pushes out the first tenth', async () => {
    const { inbox, post } = openAt({ keepRefused: 100 });
    for (let number = 1; number <= 130; number++)
      await post(`${number}`, { 'x-service-signature': 'a', 'x-service-timestamp': '1' });
    const bodies = (await inbox.refused()).map(({ rawBody }) => Number(rawBody));
    const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => to - at);
    expect(bodies).toEqual([...range(41, 130), ...range(1, 10)]);
    expect((await inbox.refused({ limit: 2 })).map(({ rawBody }) => rawBody)).toEqual(['130', '129']);
  });

  it('counts those that made room, until all are discarded', async () => {
    const { inbox, post } = openAt({ keepRefused: 2 });
    for (const id of ['ord_1', 'ord_2', 'ord_3', 'ord_4'])
      await post(orderPaid(id), signOtherwise(orderPaid(id)));
    expect(await inbox.stats()).toMatchObject({ refused: 2, dropped: 2 });
    expect(await inbox.recover({ scheme })).toEqual({ recovered: 2, duplicates: 0, refused: 0 });
    expect(await inbox.stats()).toMatchObject({ refused: 0, dropped: 2 });
    expect([await inbox.refused(), await inbox.discardRefused({ all: true })]).toEqual([[], 0]);
    expect(await inbox.stats()).toMatchObject({ refused: 0, dropped: 0 });
  });

  it('keeps every payment of a day on which 130 were refused', async () => {
    const { inbox, post } = openAt({ work: false });
    for (let number = 1; number <= 130; number++)
      await post(orderPaid(`ord_${number}`), signOtherwise(orderPaid(`ord_${number}`)));
    expect(await inbox.recover({ scheme })).toEqual({ recovered: 130, duplicates: 0, refused: 0 });
  });

  it.each([
    [0, []],
    [1, ['1']],
    [3, ['4', '3', '1']],
  ])('holds %i with keepRefused', async (keepRefused, bodies) => {
    const { inbox, post } = openAt({ keepRefused });
    for (const body of ['1', '2', '3', '4'])
      await post(body, { 'x-service-signature': 'a', 'x-service-timestamp': '1' });
    expect((await inbox.refused()).map(({ rawBody }) => rawBody)).toEqual(bodies);
  });

  it('verifies a delivery as of when it was received: a replay does not become fresh', async () => {
    const { inbox, post, calls } = openAt();
    await post(orderPaid('ord_1'), signOtherwise(orderPaid('ord_1'), new Date(Date.now() - 3_600_000)));
    expect(await inbox.recover({ scheme })).toEqual({ recovered: 0, duplicates: 0, refused: 1 });
    expect(calls).toEqual([]);
  });
});

function timeOf(headers: Record<string, string>) {
  return {
    'x-service-signature': headers['x-service-signature'],
    'x-service-timestamp': headers['x-service-timestamp'],
  };
}
