import { describe, expect, it, vi } from 'vitest';
import { diagnose } from '../../../src/doctor/doctor.js';
import { InvalidParamsError } from '../../../src/errors.js';
import { sign } from '../../../src/webhooks/index.js';
import { orderPaid, received, secret } from '../inboxes.js';
import { newPlace, openAt } from './places.js';

const other = 'whsec_of_another_shop';

describe('the quarantine', () => {
  it('keeps the same bytes once, with the signature and the time of the first and of the last attempt', async () => {
    const { inbox, post } = openAt();
    const body = orderPaid('ord_1');
    const attempts = [1, 2, 3].map((minutes) => {
      const timestamp = new Date(Date.now() - minutes * 1000);
      return sign({ rawBody: body, secret: other, timestamp });
    });
    for (const headers of attempts) await post(body, headers);
    await post(orderPaid('ord_2'), sign({ rawBody: orderPaid('ord_2'), secret: other }));
    expect(await inbox.stats()).toMatchObject({ refused: 2 });
    const [second, first] = await inbox.refused();
    expect(first).toMatchObject({ times: 3, headers: attempts[0], lastHeaders: attempts[2], rawBody: body });
    expect(Date.parse(first?.lastAt ?? '')).toBeGreaterThanOrEqual(Date.parse(first?.receivedAt ?? ''));
    expect(second).toMatchObject({ times: 1, lastAt: second?.receivedAt, lastHeaders: second?.headers });
  });

  it('keeps twenty payments of a night with five attempts each, where keepRefused is 20', async () => {
    const { inbox, post } = openAt({ keepRefused: 20 });
    const ids = Array.from({ length: 20 }, (_, number) => `ord_${number}`);
    for (let attempt = 0; attempt < 5; attempt++)
      for (const id of ids) await post(orderPaid(id), sign({ rawBody: orderPaid(id), secret: other }));
    expect(await inbox.recover({ secret: other })).toMatchObject({ recovered: 20 });
  });

  it.each([
    ['first', [other, 'whsec_third']],
    ['last', ['whsec_third', other]],
  ])('recovers what the %s attempt proves', async (_which, secrets) => {
    const { inbox, post, calls } = openAt();
    for (const each of secrets)
      await post(orderPaid('ord_1'), sign({ rawBody: orderPaid('ord_1'), secret: each }));
    expect(await inbox.recover({ secret: other })).toEqual({ recovered: 1, duplicates: 0, refused: 0 });
    await inbox.idle();
    expect([calls, (await inbox.stats()).refused]).toEqual([[['ord_1', 1]], 0]);
  });

  it('can be emptied of one entry, of old entries and of all', async () => {
    const place = newPlace();
    const { inbox, post } = openAt({ place });
    for (const id of ['ord_1', 'ord_2', 'ord_3', 'ord_4'])
      await post(orderPaid(id), sign({ rawBody: orderPaid(id), secret: other }));
    const [newest, , old] = await inbox.refused();
    expect(await inbox.discardRefused({ id: newest?.id ?? 0 })).toBe(1);
    expect(await inbox.discardRefused({ id: newest?.id ?? 0 })).toBe(0);
    await place.run(`UPDATE $inbox_refused SET last_at = 1000 WHERE id = ${old?.id}`);
    expect(await inbox.discardRefused({ olderThan: '1h' })).toBe(1);
    expect((await inbox.refused()).map(({ rawBody }) => rawBody)).toEqual([
      orderPaid('ord_3'),
      orderPaid('ord_1'),
    ]);
    expect(await inbox.discardRefused({ all: true })).toBe(2);
    expect(await inbox.stats()).toMatchObject({ refused: 0 });
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['none of them', {}],
    ['two of them', { id: 1, all: true }],
    ['all: false', { all: false }],
    ['no id', { id: 'x' }],
    ['no time', { olderThan: 'x' }],
    ['an unknown option', { older: '1h' }],
  ])('is not emptied by %s', async (_what, params) => {
    const { inbox } = openAt();
    await expect(Reflect.apply(inbox.discardRefused, undefined, [params])).rejects.toBeInstanceOf(
      InvalidParamsError,
    );
  });

  it('keeps nothing of the doctor, however wrong the secret, and not one of its orders is fulfilled', async () => {
    const { inbox, post, calls } = openAt();
    const target = (request: Request) => inbox.handler(request);
    const wrong = await diagnose({ target, secret: other });
    expect(wrong.ok).toBe(false);
    expect(await inbox.stats()).toMatchObject({ refused: 0 });
    const right = await diagnose({ target, secret });
    expect(right.findings).toEqual([]);
    await post(orderPaid('ord_1'), sign({ rawBody: orderPaid('ord_1'), secret: other }));
    expect(await inbox.recover({ secret: other })).toMatchObject({ recovered: 1 });
    await inbox.idle();
    expect(calls).toEqual([['ord_1', 1]]);
  });

  it('gives no order of the doctor to recover(), which an earlier version may have kept', async () => {
    const { inbox, post, calls } = openAt();
    const probe = orderPaid(`ord_doctor${'0123456789abcdef0123'}_7`);
    await post(probe, sign({ rawBody: probe, secret: other }));
    expect(await inbox.stats()).toMatchObject({ refused: 1 });
    expect(await inbox.recover({ secret: other })).toEqual({ recovered: 0, duplicates: 0, refused: 0 });
    expect(await inbox.stats()).toMatchObject({ refused: 0, pending: 0, done: 0 });
    expect(calls).toEqual([]);
  });
});

describe('what waits for its next attempt', () => {
  it('is listed with why it failed, and tried now', async () => {
    const mail = { isDown: true };
    const { inbox, post } = openAt({
      retries: ['2h', '2h'],
      on: {
        'order.paid': () => {
          if (mail.isDown) throw new Error('the mail server is down');
        },
      },
    });
    for (const id of ['ord_1', 'ord_2']) expect(await post(orderPaid(id))).toEqual(received);
    await vi.waitFor(async () =>
      expect(await inbox.list({ state: 'pending' })).toMatchObject(
        ['ord_2', 'ord_1'].map((id) => ({
          key: `order.paid:${id}`,
          attempts: 1,
          lastError: 'Error: the mail server is down',
          nextAttemptAt: expect.any(String),
        })),
      ),
    );
    mail.isDown = false;
    expect(await inbox.retryPending()).toBe(2);
    await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ pending: 0, done: 2 }));
    expect(await inbox.retryPending()).toBe(0);
  });
});
