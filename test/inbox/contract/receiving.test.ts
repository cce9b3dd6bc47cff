import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { sign, verify } from '../../../src/webhooks/index.js';
import { deferCleanup, orderPaid, received, secret, withResolvers } from '../inboxes.js';
import { type ContractDelivery, isPostgres, newPlace, openAt } from './places.js';

const refund = '{"type":"refund.created","data":{"refund_id":"re_1"}}';

describe('a delivery', () => {
  it('is stored, gets 200, and reaches the function with its attempt', async () => {
    const { inbox, post, calls, hookCalls } = openAt();
    const begun = performance.now();
    expect(await post(orderPaid('ord_1'))).toEqual(received);
    await inbox.idle();
    expect(calls).toEqual([['ord_1', 1]]);
    expect(await inbox.get('order.paid:ord_1')).toEqual({
      key: 'order.paid:ord_1',
      state: 'done',
      event: { type: 'order.paid', data: { order_id: 'ord_1', amount: '19.90', currency: 'USD' } },
      receivedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      attempts: 1,
      lastError: null,
      nextAttemptAt: null,
    });
    const facts = { key: 'order.paid:ord_1', type: 'order.paid' };
    expect(hookCalls).toEqual([
      ['received', { ...facts, bytes: orderPaid('ord_1').length }],
      ['started', { ...facts, attempt: 1 }],
      ['done', { ...facts, attempt: 1, durationMs: expect.any(Number) }],
    ]);
    const durationMs: unknown = Reflect.get(hookCalls[2]?.[1] ?? {}, 'durationMs');
    expect(durationMs).toBeLessThanOrEqual(performance.now() - begun);
  });

  it('reaches the function as it was received: it can be verified again', async () => {
    const rawBody = `\ufeff ${orderPaid('ord_é😀')}\n`;
    const seen = vi.fn();
    const { inbox, post } = openAt({
      on: {
        'order.paid': (event, delivery) =>
          seen(delivery, verify({ ...plainHandler(delivery), secret }), event),
      },
    });
    const headers = sign({ rawBody, secret });
    await post(rawBody, { ...headers, cookie: 'session=1' });
    await inbox.idle();
    const [delivery, event, given] = seen.mock.calls[0] ?? [];
    expect(delivery).toMatchObject({ key: 'order.paid:ord_é😀', rawBody, headers, attempt: 1 });
    expect(delivery.signal).toBeInstanceOf(AbortSignal);
    expect(Object.keys(delivery.headers).sort()).toEqual(Object.keys(headers).sort());
    expect(event).toEqual(given);
  });

  it.skipIf(isPostgres())('waits while another connection writes, and then gets 200', async () => {
    const place = newPlace();
    const { inbox, post, calls } = openAt({ place });
    await inbox.stats();
    await place.run('BEGIN IMMEDIATE');
    const response = post(orderPaid('ord_1'));
    await sleep(300);
    await place.run('COMMIT');
    expect(await response).toEqual(received);
    await inbox.idle();
    expect(calls).toEqual([['ord_1', 1]]);
  });

  it('that arrives again gets 200, and nothing is done again: at once, later, and after a restart', async () => {
    const place = newPlace();
    const first = openAt({ place });
    const all = await Promise.all([1, 2, 3].map(() => first.post(orderPaid('ord_1'))));
    expect(all).toEqual([received, received, received]);
    await first.inbox.idle();
    expect(await first.post(orderPaid('ord_1'))).toEqual(received);
    expect(first.hookCalls.filter(([name]) => name === 'duplicate')).toEqual(
      Array.from({ length: 3 }, () => ['duplicate', { key: 'order.paid:ord_1', type: 'order.paid' }]),
    );
    await first.inbox.close();
    const second = openAt({ place });
    expect(await second.post(orderPaid('ord_1'))).toEqual(received);
    await second.inbox.idle();
    expect([first.calls, second.calls]).toEqual([[['ord_1', 1]], []]);
  });

  it('of an order whose id has a NUL is another one than those whose ids begin alike', async () => {
    const { inbox, post, calls } = openAt();
    const ids = ['a', 'a\0b', 'a\0c'];
    const body = (order_id: string) =>
      JSON.stringify({ type: 'order.paid', data: { order_id, amount: '19.90', currency: 'USD' } });
    for (const id of [...ids, ...ids]) expect(await post(body(id))).toEqual(received);
    await inbox.idle();
    expect(calls).toEqual(ids.map((id) => [id, 1]));
    const keys = ['order.paid:a', 'order.paid:a\\u0000b', 'order.paid:a\\u0000c'];
    expect((await inbox.list()).map(({ key }) => key).reverse()).toEqual(keys);
    expect(await inbox.get('order.paid:a\0c')).toMatchObject({ event: { data: { order_id: 'a\0c' } } });
  });

  it('is stored although the row before it was deleted by hand, without its content', async () => {
    const place = newPlace();
    const { inbox, post, calls } = openAt({ place });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    await place.run('DELETE FROM $inbox');
    const body = orderPaid('ord_2');
    expect(await post(body)).toEqual(received);
    await inbox.idle();
    expect(calls).toEqual([
      ['ord_1', 1],
      ['ord_2', 1],
    ]);
    expect(await inbox.get('order.paid:ord_2')).toMatchObject({ event: { data: { order_id: 'ord_2' } } });
  });

  it('gets 500 if the database takes no row, and says where to look', async () => {
    const place = newPlace();
    const { post, errors } = openAt({ place });
    await post(orderPaid('ord_1'));
    if (isPostgres())
      await place.run(
        "CREATE OR REPLACE FUNCTION no_row() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
      );
    const then = isPostgres() ? 'FOR EACH ROW EXECUTE FUNCTION no_row()' : 'BEGIN SELECT RAISE(IGNORE); END';
    await place.run(`CREATE TRIGGER no_row BEFORE INSERT ON $inbox ${then}`);
    expect(await post(orderPaid('ord_2'))).toMatchObject({ status: 500 });
    expect(String(errors)).toContain('Look for a trigger');
  });

  it('does not wait for the function', async () => {
    const { promise, resolve } = withResolvers();
    const { inbox, post } = openAt({ on: { 'order.paid': () => promise } });
    expect(await post(orderPaid('ord_1'))).toEqual(received);
    await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ running: 1, done: 0 }));
    resolve();
    await inbox.idle();
    expect(await inbox.stats()).toMatchObject({ running: 0, done: 1 });
  });

  it.each<[string, string, Record<string, string> | undefined, number, object]>([
    ['without a signature', orderPaid('o'), {}, 400, { error: 'missing_signature' }],
    [
      'with another body',
      orderPaid('o'),
      sign({ rawBody: 'x', secret }),
      400,
      expect.objectContaining({ error: 'signature_mismatch' }),
    ],
    ['longer than 1 MiB', ' '.repeat(1024 * 1024 + 1), undefined, 413, { error: 'body_too_large' }],
  ])('%s is refused and not stored', async (_form, body, headers, status, response) => {
    const { inbox, post, hookCalls } = openAt();
    expect(await post(body, headers)).toEqual({ status, body: response });
    expect(await inbox.list()).toEqual([]);
    expect(hookCalls).toEqual([['refused', { status, code: expect.any(String) }]]);
  });

  it('arrives over node:http with a handler that needs no `this`', async () => {
    const { inbox, calls } = openAt();
    const { nodeHandler } = inbox;
    const server = createServer(nodeHandler).listen(0);
    deferCleanup(() => server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const body = orderPaid('ord_1');
    const headers = sign({ rawBody: body, secret });
    const response = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body, headers });
    expect([response.status, await response.json()]).toEqual([200, { received: true }]);
    await inbox.idle();
    expect(calls).toEqual([['ord_1', 1]]);
  });
});

describe('an event of another type', () => {
  it('is kept and parked, with its reason', async () => {
    const { inbox, post, hookCalls, errors } = openAt();
    expect(await post(refund)).toEqual(received);
    await inbox.idle();
    const lastError = 'There is no function for events of type "refund.created".';
    expect(await inbox.list()).toMatchObject([
      { key: expect.stringMatching(/^refund\.created:[0-9a-f]{64}$/), state: 'parked', lastError },
    ]);
    expect(hookCalls.at(-1)).toEqual([
      'parked',
      expect.objectContaining({ type: 'refund.created', lastError }),
    ]);
    expect(hookCalls.map(([name]) => name)).not.toContain('started');
    expect(errors).toMatchObject([{ code: 'inbox_parked' }]);
  });

  it('reaches onUnknown, also when it was parked before there was one', async () => {
    const place = newPlace();
    const before = openAt({ place });
    await before.post(refund);
    await before.inbox.idle();
    await before.inbox.close();
    const onUnknown = vi.fn();
    const { inbox, post } = openAt({ place, onUnknown });
    expect(await inbox.retryParked()).toBe(1);
    await post('{"type":"ping"}');
    await inbox.idle();
    expect(onUnknown.mock.calls.map(([event]) => event.originalType).sort()).toEqual([
      'ping',
      'refund.created',
    ]);
    expect(await inbox.stats()).toMatchObject({ parked: 0, done: 2 });
  });
});

describe('accept(delivery)', () => {
  const delivery = {
    key: 'order.paid:ord_1',
    event: verify({
      rawBody: orderPaid('ord_1'),
      headers: sign({ rawBody: orderPaid('ord_1'), secret }),
      secret,
    }),
    rawBody: orderPaid('ord_1'),
    headers: { 'x-service-timestamp': '1' },
    receivedAt: '2026-01-01T00:00:00.000Z',
  };

  it('stores without HTTP, once for each key', async () => {
    const { inbox, calls, hookCalls } = openAt();
    const { accept } = inbox;
    await accept(delivery);
    await accept(delivery);
    await inbox.idle();
    expect(calls).toEqual([['ord_1', 1]]);
    expect(hookCalls.map(([name]) => name).sort()).toEqual([
      'done',
      'duplicate',
      'received',
      'received',
      'started',
    ]);
    expect(hookCalls[0]).toEqual([
      'received',
      { key: delivery.key, type: 'order.paid', bytes: delivery.rawBody.length },
    ]);
    expect(await inbox.get(delivery.key)).toMatchObject({ receivedAt: '2026-01-01T00:00:00.000Z' });
  });

  it.each<[string, object | null, string]>([
    ['nothing', null, 'must be a delivery'],
    ['no key', { ...delivery, key: '' }, 'key must be the key of a delivery'],
    ['no event', { ...delivery, event: undefined }, 'event must be an event of verify()'],
    ['an event without a type', { ...delivery, event: { type: 'unknown' } }, 'event must be'],
    ['bytes as body', { ...delivery, rawBody: Buffer.from('x') }, 'rawBody must be a string'],
    ['no headers', { ...delivery, headers: null }, 'headers must be an object'],
    ['a Date', { ...delivery, receivedAt: new Date() }, 'receivedAt must be ISO 8601'],
    ['no time', { ...delivery, receivedAt: 'today' }, 'receivedAt must be ISO 8601'],
  ])('rejects %s', async (_form, given, message) => {
    const { inbox } = openAt();
    const accepting: Promise<void> = Reflect.apply(inbox.accept, undefined, [given]);
    await expect(accepting).rejects.toMatchObject({
      name: 'InvalidParamsError',
      message: expect.stringContaining(
        `inbox.accept: ${message.startsWith('must') ? 'params ' : ''}${message}`,
      ),
    });
    expect(await inbox.list()).toEqual([]);
  });
});

describe('a closed inbox', () => {
  it('responds with 503, rejects accept() and throws from its methods', async () => {
    const { inbox, post, hookCalls, calls } = openAt();
    await inbox.close();
    expect(await post(orderPaid('ord_1'))).toEqual({ status: 503, body: { error: 'closed' } });
    expect(hookCalls).toEqual([['refused', { status: 503, code: 'closed' }]]);
    await expect(inbox.stats()).rejects.toThrow('The inbox is closed.');
    await expect(inbox.retryParked()).rejects.toThrow('The inbox is closed.');
    await inbox.idle();
    await expect(inbox.close()).resolves.toBeUndefined();
    expect(calls).toEqual([]);
  });

  it('responds with 503 to a delivery that was being read when it closed', async () => {
    const { inbox, errors } = openAt();
    const body = orderPaid('ord_1');
    const { promise, resolve } = withResolvers();
    const stream = new ReadableStream({
      async pull(controller) {
        await promise;
        controller.enqueue(Buffer.from(body));
        controller.close();
      },
    });
    const request = new Request('https://shop.example', {
      method: 'POST',
      body: stream,
      headers: sign({ rawBody: body, secret }),
      ...{ duplex: 'half' },
    });
    const response = inbox.handler(request);
    const closing = inbox.close();
    resolve();
    expect((await response).status).toBe(503);
    await closing;
    expect(errors).toEqual([]);
  });

  it('is closed by `await using`', async () => {
    const { inbox } = openAt();
    await inbox[Symbol.asyncDispose]();
    await expect(inbox.stats()).rejects.toThrow('closed');
  });
});

describe('work: false', () => {
  it('only stores; another process on the same place does the work', async () => {
    const place = newPlace();
    const web = openAt({ place, work: false });
    await web.post(orderPaid('ord_1'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await web.inbox.stats()).toMatchObject({ pending: 1 });
    const worker = openAt({ place });
    await web.inbox.idle();
    expect([web.calls, worker.calls]).toEqual([[], [['ord_1', 1]]]);
    await web.post(orderPaid('ord_2'));
    await web.inbox.idle();
    expect(worker.calls.at(-1)).toEqual(['ord_2', 1]);
  });
});

/** Without what an attempt adds. */
function plainHandler({
  attempt: _attempt,
  commit: _commit,
  done: _done,
  signal: _signal,
  ...rest
}: ContractDelivery) {
  return rest;
}
