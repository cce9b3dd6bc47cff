import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { type EndFacts, InvalidParamsError, InvalidRequestError, PaymentsClient } from 'merchant-payments';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import list from '../fixtures/product-list.json' with { type: 'json' };
import { FaultyServer, rawResponse } from '../helpers/faulty-server.js';
import { apiKey } from '../helpers/service.js';

const [item] = list.data.items;

/** The first of twenty pages, of two products each. */
function page(number: number): Buffer {
  const items = [0, 1].map((index) => ({ ...item, id: `prod_${number}_${index}` }));
  const pagination = { page: number, size: 2, total: 40, totalPages: 20 };
  return rawResponse(200, JSON.stringify({ code: 0, message: 'success', data: { items, pagination } }));
}

const pageOf = (target: string) => Number(/page=(\d+)/.exec(target)?.[1] ?? 1);

const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => unhandled.push(reason);
let server: FaultyServer;
let payments: PaymentsClient;
const ends: EndFacts[] = [];
/** The response to the second page, if it differs from the others. */
let second: Buffer | undefined;
/** The service does not respond to the pages in flight until the loop was left. */
let left: Promise<void>;
let respond: () => void;

beforeEach(async () => {
  // No wait before a retry, so that a retry after the loop would show at once.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  process.on('unhandledRejection', onUnhandled);
  left = new Promise((resolve) => {
    respond = resolve;
  });
  server = await FaultyServer.start((socket, { target }) => {
    if (pageOf(target) === 1) socket.write(page(1));
    else if (pageOf(target) === 2 && second) socket.write(second);
    else left.then(() => socket.write(rawResponse(503)));
  });
  const end = (facts: EndFacts) => ends.push(facts);
  payments = new PaymentsClient({ apiKey, baseUrl: server.url, hooks: { end } });
});
afterEach(async () => {
  await server.close();
  process.off('unhandledRejection', onUnhandled);
  ends.length = 0;
  second = undefined;
  expect(unhandled.splice(0)).toEqual([]);
});

/** Leaves the loop in one way, at the first product, once all that is asked for ahead has arrived at the service. */
const ways: [
  string,
  (products: AsyncIterable<unknown>, inFlight: number, controller: AbortController) => Promise<void>,
][] = [
  [
    'break',
    async (products, inFlight) => {
      for await (const _ of products) {
        await waitForRequests(inFlight);
        break;
      }
    },
  ],
  [
    'return',
    async (products, inFlight) => {
      for await (const _ of products) {
        await waitForRequests(inFlight);
        return;
      }
    },
  ],
  [
    'a thrown error',
    async (products, inFlight) => {
      const thrown = new Error('mine');
      const loop = async () => {
        for await (const _ of products) {
          await waitForRequests(inFlight);
          throw thrown;
        }
      };
      await expect(loop()).rejects.toBe(thrown);
    },
  ],
  [
    'an abort',
    async (products, inFlight, controller) => {
      const reason = new Error('enough');
      const loop = async () => {
        for await (const _ of products) {
          await waitForRequests(inFlight);
          controller.abort(reason);
        }
      };
      await expect(loop()).rejects.toBe(reason);
    },
  ],
];

const waitForRequests = (count: number) =>
  vi.waitFor(() => expect(server.requests).toHaveLength(count), { interval: 2 });

describe.each(ways)('leaving a loop by %s', (_, leave) => {
  test.each([
    [8, 8],
    [2, 2],
    [1, 1],
  ])(
    'with prefetch %i ends its work: %i requests then, and no more afterwards',
    async (prefetch, inFlight) => {
      const controller = new AbortController();
      const options = { prefetch, signal: controller.signal };
      await leave(payments.products.list({ size: 2 }, options), inFlight, controller);
      respond();
      await setTimeout(200);
      expect(server.requests).toHaveLength(inFlight);
      // Each request in flight was aborted in its first attempt, and its connection closed.
      const aborted = ends.filter(({ ok, attempts }) => !ok && attempts === 1);
      expect(aborted).toHaveLength(inFlight - 1);
      expect(server.sockets.size).toBeLessThanOrEqual(1);
    },
  );

  test('of a page ends its work, too', async () => {
    const controller = new AbortController();
    const first = await payments.products.list({ size: 2 }, { prefetch: 4, signal: controller.signal });
    await leave(first, 4, controller);
    respond();
    await setTimeout(200);
    expect(server.requests).toHaveLength(4);
  });
});

describe.each([1, 4])('leaving a list while it waits for a page, with prefetch %i', (prefetch) => {
  const inFlight = prefetch + 1;
  const products = () => payments.products.list({ size: 2 }, { prefetch });

  /** Expects that each request in flight was aborted in its first attempt, and that nothing is sent afterwards. */
  async function expectLeft() {
    await vi.waitFor(() => expect(ends.filter(({ ok }) => !ok)).toHaveLength(server.requests.length - 1));
    expect(ends.every(({ attempts }) => attempts === 1)).toBe(true);
    const sent = server.requests.length;
    respond();
    await setTimeout(100);
    expect(server.requests).toHaveLength(sent);
  }

  test('by return() aborts the pages in flight, and the list has ended', async () => {
    const iterator = products()[Symbol.asyncIterator]();
    await iterator.next();
    await iterator.next();
    const next = iterator.next();
    await waitForRequests(inFlight);
    expect(await iterator.return()).toEqual({ done: true, value: undefined });
    expect(await next).toEqual({ done: true, value: undefined });
    await expectLeft();
  });

  test('by throw() does so, too, and passes the error on', async () => {
    const iterator = products()[Symbol.asyncIterator]();
    await iterator.next();
    await iterator.next();
    const next = iterator.next();
    await waitForRequests(inFlight);
    const thrown = new Error('mine');
    await expect(iterator.throw(thrown)).rejects.toBe(thrown);
    expect(await next).toEqual({ done: true, value: undefined });
    await expectLeft();
  });

  test.each([undefined, new Error('mine')])('by destroy(%o) of a stream does so, too', async (error) => {
    const stream = Readable.from(products());
    const emitted: unknown[] = [];
    stream.on('error', (each) => emitted.push(each)).resume();
    await waitForRequests(inFlight);
    stream.destroy(error);
    await expectLeft();
    expect(stream.closed).toBe(true);
    expect(emitted).toEqual(error ? [error] : []);
  });
});

describe('leaving a list while it waits for its first page', () => {
  // A page that the service responds to with 503 once the list was left.
  const products = (signal?: AbortSignal) =>
    payments.products.list({ page: 3, size: 2 }, { prefetch: 4, signal });

  /** The first page was aborted in its first attempt, and nothing is sent afterwards. */
  async function expectLeft() {
    await vi.waitFor(() => expect(ends).toMatchObject([{ ok: false, outcome: 'unknown', attempts: 1 }]));
    await vi.waitFor(() => expect(server.sockets.size).toBe(0));
    respond();
    await setTimeout(100);
    expect(server.requests).toHaveLength(1);
  }

  test.each([undefined, new AbortController().signal])(
    'by return() aborts it, and the list has ended (signal: %o)',
    async (signal) => {
      const iterator = products(signal)[Symbol.asyncIterator]();
      const next = iterator.next();
      await waitForRequests(1);
      expect(await iterator.return()).toEqual({ done: true, value: undefined });
      expect(await next).toEqual({ done: true, value: undefined });
      await expectLeft();
    },
  );

  test('by return() aborts it, too, where the loop began after the list was asked for', async () => {
    const list = products();
    await waitForRequests(1);
    const iterator = list[Symbol.asyncIterator]();
    const next = iterator.next();
    expect(await iterator.return()).toEqual({ done: true, value: undefined });
    expect(await next).toEqual({ done: true, value: undefined });
    await expectLeft();
  });

  test('by throw() does so, too, and passes the error on', async () => {
    const iterator = products()[Symbol.asyncIterator]();
    const next = iterator.next();
    await waitForRequests(1);
    const thrown = new Error('mine');
    await expect(iterator.throw(thrown)).rejects.toBe(thrown);
    expect(await next).toEqual({ done: true, value: undefined });
    await expectLeft();
  });

  test('by destroy() of a stream does so, too', async () => {
    const stream = Readable.from(products()).resume();
    await waitForRequests(1);
    stream.destroy();
    await expectLeft();
  });

  test('before the loop has begun does so, too, and who awaits the list gets an AbortError', async () => {
    const list = products();
    const iterator = list[Symbol.asyncIterator]();
    await waitForRequests(1);
    await iterator.return();
    await expectLeft();
    await expect(list).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('before its request goes out sends nothing', async () => {
    const iterator = products()[Symbol.asyncIterator]();
    const next = iterator.next();
    await iterator.return();
    expect(await next).toEqual({ done: true, value: undefined });
    await setTimeout(50);
    expect(server.requests).toHaveLength(0);
  });

  test('in a second loop over it leaves the page to the first', async () => {
    const list = payments.products.list({ size: 2 });
    const first = list[Symbol.asyncIterator]();
    await list[Symbol.asyncIterator]().return();
    expect(await first.next()).toMatchObject({ done: false, value: { id: 'prod_1_0' } });
  });
});

test("the caller's own reason stays as it is, even if it is an error of another call", async () => {
  const controller = new AbortController();
  const reason: unknown = await payments.products.list({ page: 0 }).catch((error: unknown) => error);
  if (!(reason instanceof InvalidParamsError)) throw reason;
  const { stack } = reason;
  const loop = async () => {
    for await (const _ of payments.products.list({ size: 2 }, { signal: controller.signal }))
      setTimeout(5).then(() => controller.abort(reason));
  };
  await expect(loop()).rejects.toBe(reason);
  expect(reason.stack).toBe(stack);
});

test('a page that fails ends the work on the pages after it', async () => {
  second = rawResponse(400);
  const loop = async () => {
    for await (const _ of payments.products.list({ size: 2 }, { prefetch: 8 }));
  };
  await expect(loop()).rejects.toBeInstanceOf(InvalidRequestError);
  respond();
  await setTimeout(200);
  expect(server.requests.length).toBeLessThanOrEqual(9);
});

test('an abort before the loop asks for its second page sends nothing more', async () => {
  const controller = new AbortController();
  const products = payments.products.list({ size: 2 }, { prefetch: 8, signal: controller.signal });
  await products;
  controller.abort('before');
  const iterator = products[Symbol.asyncIterator]();
  await expect(
    (async () => {
      for await (const _ of iterator);
    })(),
  ).rejects.toBe('before');
  expect(server.requests).toHaveLength(1);
});

test('loops that share a signal leave no listener on it', async () => {
  const { signal } = new AbortController();
  const add = vi.spyOn(signal, 'addEventListener');
  const remove = vi.spyOn(signal, 'removeEventListener');
  for (let round = 0; round < 3; round++) {
    for await (const _ of payments.products.list({ size: 2 }, { prefetch: 8, signal })) break;
  }
  await vi.waitFor(() => expect(remove.mock.calls.length).toBe(add.mock.calls.length));
});
