import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import * as reading from '../../../src/schemas/event.js';
import { digestOf } from '../../../src/webhooks/delivery.js';
import { verify } from '../../../src/webhooks/index.js';
import { orderPaid, received, secret } from '../inboxes.js';
import { newPlace, openAt } from './places.js';

const paid = (amount: string, currency = 'USD') =>
  JSON.stringify({ type: 'order.paid', data: { order_id: 'ord_1', amount, currency } });
const comma = paid('19,90');
const deep = paid('19.90').replace('{', `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)},`);
const invalidKey = (body: string | Uint8Array) =>
  `invalid:${createHash('sha256').update(body).digest('hex')}`;

describe('another content under a known key', () => {
  it('is stored, parked, and its error names both amounts', async () => {
    const { inbox, post, calls, errors, hookCalls } = openAt();
    expect(await post(paid('10.00'))).toEqual(received);
    await inbox.idle();
    expect(await post(paid('90.00'))).toEqual(received);
    await inbox.idle();
    const [conflict, first] = await inbox.list();
    const lastError =
      '"order.paid:ord_1" arrived before with 10.00 USD, and now with 90.00 USD. ' +
      'Compare both with your order, then retry or discard this one.';
    expect(conflict).toMatchObject({
      key: expect.stringMatching(/^order\.paid:ord_1#[0-9a-f]{16}$/),
      state: 'parked',
      event: { data: { amount: '90.00' } },
      lastError,
    });
    expect(first).toMatchObject({ key: 'order.paid:ord_1', state: 'done' });
    expect(calls).toEqual([['ord_1', 1]]);
    expect(errors).toMatchObject([
      { code: 'conflicting_event', message: expect.stringContaining(`parked as "${conflict?.key}"`) },
    ]);
    expect(hookCalls.at(-1)).toEqual([
      'parked',
      { key: conflict?.key, type: 'order.paid', attempt: 0, lastError },
    ]);
  });

  it('is a duplicate when it arrives again, and each further content is parked by itself', async () => {
    const { inbox, post, hookCalls } = openAt({ work: false });
    for (const amount of ['10.00', '90.00', '90.00', '50.00', '10.00']) await post(paid(amount));
    expect((await inbox.list()).map(({ state }) => state)).toEqual(['parked', 'parked', 'pending']);
    expect(hookCalls.filter(([name]) => name === 'duplicate')).toHaveLength(2);
  });

  it('is not lost to an order whose id is the key under which it would be parked', async () => {
    for (const isKnownBefore of [true, false]) {
      const place = newPlace();
      const { inbox, post, hookCalls } = openAt({ place, work: false });
      const second = JSON.parse(paid('90.00'));
      const own = `ord_1#${digestOf({ ...second, type: 'order.paid' })}`;
      const bodies = [paid('10.00'), paid('90.00')];
      bodies.splice(isKnownBefore ? 0 : 2, 0, orderPaid(own));
      for (const body of [...bodies, ...bodies]) expect(await post(body)).toEqual(received);
      const entries = await inbox.list();
      expect(entries.map(({ event }) => event?.data)).toEqual(
        bodies.map((body) => JSON.parse(body).data).reverse(),
      );
      expect(hookCalls.filter(([name]) => name === 'duplicate')).toHaveLength(3);
      expect(await inbox.stats()).toMatchObject({ parked: isKnownBefore ? 1 : 2 });
      expect(await inbox.retryParked()).toBe(0);
    }
  });

  it('is not reported for an order whose id looks like the key of a parked delivery', async () => {
    const { inbox, post } = openAt();
    await post(paid('10.00'));
    await post(paid('90.00'));
    const [, id = ''] = /^order\.paid:(.*)/.exec((await inbox.list({ state: 'parked' }))[0]?.key ?? '') ?? [];
    await post(orderPaid(id));
    expect((await inbox.list())[0]).toMatchObject({
      event: { data: { order_id: id } },
      state: 'parked',
      lastError:
        `"order.paid:${id}" was taken: "ord_1" is stored under it, and this one is "${id}". ` +
        'Compare it with your order, then retry or discard this one.',
    });
  });

  it('is told apart although the amounts are equal, and after the first was purged', async () => {
    const { inbox, post } = openAt();
    await post(paid('10.00'));
    await inbox.idle();
    await post(paid('10.00').replace('"USD"', '"USD","tip":1'));
    expect((await inbox.list())[0]?.lastError).toContain('and now with 10.00 USD. Other fields differ.');
    await inbox.purge({ olderThan: new Date(Date.now() + 1000) });
    await post(paid('10.00'));
    expect(await inbox.stats()).toMatchObject({ parked: 1 });
    await post(paid('90.00'));
    expect((await inbox.list())[0]?.lastError).toContain(
      'before with a content that was purged, and now with 90.00 USD.',
    );
  });

  it('is fulfilled under its own key if a person decides so', async () => {
    const keys: string[] = [];
    const { inbox, post } = openAt({ on: { 'order.paid': (_event, { key }) => keys.push(key) } });
    await post(paid('10.00'));
    await post(paid('90.00'));
    const parked = (await inbox.list({ state: 'parked' }))[0]?.key ?? '';
    expect(await inbox.retry(parked)).toBe(true);
    await inbox.idle();
    expect(keys).toEqual(['order.paid:ord_1', parked]);
  });
});

describe('an authentic event that cannot be read', () => {
  it.each<[string, string, object]>([
    ['an amount with a comma', comma, { originalType: 'order.paid', data: { amount: '19,90' } }],
    ['no JSON', 'paid!', { originalType: '', data: null }],
    ['nested 100,000 levels deep', deep, { originalType: 'order.paid', data: null }],
  ])('is stored and parked: %s', async (_what, body, event) => {
    const onUnknown = vi.fn();
    const { inbox, post, errors, hookCalls } = openAt({ onUnknown });
    expect(await post(body)).toEqual(received);
    expect(await post(body)).toEqual(received);
    await inbox.idle();
    expect(await inbox.list()).toMatchObject([
      {
        key: invalidKey(body),
        state: 'parked',
        event,
        lastError: expect.stringContaining('this version cannot read it'),
      },
    ]);
    expect(errors).toMatchObject([{ code: 'invalid_event' }]);
    expect(hookCalls.map(([name]) => name)).toEqual(['received', 'parked', 'received', 'duplicate']);
    expect(onUnknown).not.toHaveBeenCalled();
  });

  it('is parked again by a retry that cannot read it either, and never reaches onUnknown', async () => {
    const onUnknown = vi.fn();
    const { inbox, post } = openAt({ onUnknown });
    await post(comma);
    expect(await inbox.retry(invalidKey(comma))).toBe(true);
    await inbox.idle();
    expect(await inbox.get(invalidKey(comma))).toMatchObject({ state: 'parked', attempts: 1 });
    expect(onUnknown).not.toHaveBeenCalled();
  });

  it('is kept byte for byte although it is not UTF-8', async () => {
    const body = new Uint8Array([0x7b, 0xff, 0x00]);
    const { inbox, post } = openAt();
    expect(await post(body)).toEqual(received);
    expect(await inbox.list()).toMatchObject([{ key: invalidKey(body), state: 'parked' }]);
  });

  /** Reads the delivery as a later version does. */
  function laterVersion() {
    const { readEvent } = reading;
    vi.spyOn(reading, 'readEvent').mockImplementation((body) =>
      readEvent(JSON.parse(JSON.stringify(body).replace('19,90', '19.90'))),
    );
  }

  it.each(['retry', 'retryParked'] as const)(
    'gets its real key once a version can read it: %s()',
    async (method) => {
      const place = newPlace();
      const before = openAt({ place });
      await before.post(comma);
      await before.inbox.close();
      laterVersion();
      const { inbox, calls } = openAt({ place });
      if (method === 'retry') expect(await inbox.retry(invalidKey(comma))).toBe(true);
      else expect(await inbox.retryParked()).toBe(1);
      await inbox.idle();
      expect(calls).toEqual([['ord_1', 1]]);
      expect(await inbox.list()).toMatchObject([
        { key: 'order.paid:ord_1', state: 'done', event: { data: { amount: '19.90' } } },
      ]);
    },
  );

  it('is not its own duplicate if it came under its real key: it stays parked', async () => {
    const place = newPlace();
    const before = openAt({ place });
    const data = { order_id: 'ord_1', amount: '19.90', currency: 'USD' };
    await before.inbox.accept({
      ...{ key: 'order.paid:ord_1', rawBody: comma, headers: {}, receivedAt: '2026-01-01T00:00:00.000Z' },
      event: { type: 'unknown', originalType: 'order.paid', data, problem: 'a comma' },
    });
    await before.inbox.close();
    laterVersion();
    const { inbox } = openAt({ place });
    expect(await inbox.retry('order.paid:ord_1')).toBe(true);
    await inbox.idle();
    expect(await inbox.list()).toMatchObject([{ key: 'order.paid:ord_1', state: 'parked', event: { data } }]);
  });

  it('is then a duplicate, or a conflict, like any delivery', async () => {
    const place = newPlace();
    const before = openAt({ place });
    await before.post(comma);
    await before.post(comma.replace('{', '{ '));
    await before.post(paid('10.00'));
    await before.inbox.idle();
    laterVersion();
    const { inbox, calls } = openAt({ place });
    expect(await inbox.retryParked()).toBe(2);
    await inbox.idle();
    expect((await inbox.list()).map(({ key, state }) => [key.replace(/#.*/, '#'), state])).toEqual([
      ['order.paid:ord_1#', 'parked'],
      ['order.paid:ord_1', 'done'],
    ]);
    expect(calls).toEqual([]);
    expect(before.calls).toEqual([['ord_1', 1]]);
  });

  it.each(['retry', 'retryParked'] as const)(
    'reaches its function once its type is known, under its real key: %s()',
    async (method) => {
      const place = newPlace();
      const body = orderPaid('ord_1');
      const earlier = vi
        .spyOn(reading, 'readEvent')
        .mockReturnValue({ type: 'unknown', originalType: 'order.paid', data: JSON.parse(body).data });
      const before = openAt({ place });
      await before.post(body);
      await before.inbox.idle();
      const [parked] = await before.inbox.list({ state: 'parked' });
      await before.inbox.close();
      earlier.mockRestore();
      const { inbox, calls } = openAt({ place });
      if (method === 'retry') expect(await inbox.retry(parked?.key ?? '')).toBe(true);
      else expect(await inbox.retryParked()).toBe(1);
      await inbox.idle();
      expect(calls).toEqual([['ord_1', 1]]);
      expect(await inbox.list()).toMatchObject([{ key: 'order.paid:ord_1', state: 'done' }]);
    },
  );

  it('is not read again once it was discarded', async () => {
    const { inbox, post, calls } = openAt();
    await post(comma);
    await inbox.discard(invalidKey(comma));
    laterVersion();
    expect(await inbox.retry(invalidKey(comma))).toBe(false);
    expect(calls).toEqual([]);
  });

  it('that comes from a queue is read again before it is stored', async () => {
    const { inbox, calls } = openAt();
    const rawBody = orderPaid('ord_1');
    await inbox.accept({
      ...{ key: invalidKey(rawBody), rawBody, headers: {}, receivedAt: '2026-01-01T00:00:00.000Z' },
      event: {
        type: 'unknown',
        originalType: 'order.paid',
        data: {},
        problem: 'an earlier version could not read it',
      },
    });
    await inbox.idle();
    expect(calls).toEqual([['ord_1', 1]]);
  });
});

it('a delivery that the function gets can be verified as it is', async () => {
  const seen = vi.fn();
  const { inbox, post } = openAt({
    on: { 'order.paid': (_event, delivery) => seen(verify({ ...delivery, secret })) },
  });
  await post(orderPaid('ord_1'));
  await inbox.idle();
  expect(seen).toHaveBeenCalledExactlyOnceWith(JSON.parse(orderPaid('ord_1')));
});

it('an order id that acts on a terminal is made visible in what is said of a conflict', async () => {
  const { post, errors, inbox } = openAt();
  const id = 'ord_\u202e1';
  await post(orderPaid(id));
  await inbox.idle();
  await post(orderPaid(id).replace('19.90', '29.90'));
  const [conflict] = await inbox.list({ state: 'parked' });
  for (const text of [String(errors), conflict?.lastError]) {
    expect(text).toContain('ord_\\u202e1');
    expect(text).not.toContain('\u202e');
  }
});

it('a delivery that the function gets can be verified again, whatever its body is', async () => {
  const seen = vi.fn();
  const { inbox, post } = openAt({
    on: {
      'order.paid': (_event, { attempt: _, commit: __, done: ___, signal: ____, ...delivery }) =>
        seen(delivery),
    },
  });
  await post(orderPaid('ord_1'));
  await inbox.idle();
  const [delivery] = seen.mock.calls[0] ?? [];
  expect(verify({ ...delivery, secret })).toEqual(delivery.event);
  expect(delivery.digest).toMatch(/^[0-9a-f]{16}$/);
});
