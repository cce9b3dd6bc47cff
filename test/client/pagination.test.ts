import { inspect } from 'node:util';
import { InvalidResponseError, type PaymentsClient, ServerError } from 'merchant-payments';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import list from '../fixtures/product-list.json' with { type: 'json' };
import {
  carriers,
  createClient,
  jsonResponse,
  mockService,
  type SeenRequest,
  success,
} from '../helpers/service.js';

const service = mockService();

/** A list of `total` products, as the service pages it. */
function pages(total: number, ids = (index: number) => `prod_${index}`) {
  return ({ query }: SeenRequest): Response => {
    const page = Number(query.page ?? 1);
    const size = Number(query.size ?? 20);
    const from = (page - 1) * size;
    const length = Math.max(0, Math.min(size, total - from));
    const items = Array.from({ length }, (_, index) => ({ ...list.data.items[0], id: ids(from + index) }));
    const pagination = { page, size, total, totalPages: Math.ceil(total / size) };
    return success({ items, pagination })();
  };
}

/** One page with these ids and these facts. */
function page(ids: string[], pagination: object) {
  const items = ids.map((id) => ({ ...list.data.items[0], id }));
  return success({ items, pagination: { page: 1, size: 2, total: 6, totalPages: 3, ...pagination } });
}

async function idsOf(products: AsyncIterable<{ id: string }>): Promise<string[]> {
  const ids = [];
  for await (const { id } of products) ids.push(id);
  return ids;
}

const requestedPages = () => service.requests.map(({ query }) => Number(query.page ?? 1));
const firstIds = (count: number) => Array.from({ length: count }, (_, index) => `prod_${index}`);

/** The rejections that the process would have reported as unhandled. */
const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => unhandled.push(reason);
beforeEach(() => {
  process.on('unhandledRejection', onUnhandled);
});
afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', onUnhandled);
  expect(unhandled.splice(0)).toEqual([]);
});

describe.each(carriers)('a list over %s', (_, options) => {
  let payments: PaymentsClient;
  beforeEach(() => {
    payments = createClient({ ...options, maxRetries: 0 });
  });

  test('is a promise of its first page', async () => {
    service.on('GET /v1/products', pages(45));
    const result = await payments.products.list();
    expect(inspect(result)).toMatch(/^Page \{/); // from dist/ too
    expect(result.items.map(({ id }) => id)).toEqual(firstIds(20));
    expect(result.pagination).toEqual({ page: 1, size: 20, total: 45, totalPages: 3 });
    expect(requestedPages()).toEqual([1]);
  });

  test('goes on with nextPage() until there is none', async () => {
    service.on('GET /v1/products', pages(5));
    const one = await payments.products.list({ size: 2, status: 'ACTIVE' });
    expect(one.hasNextPage).toBe(true);
    const two = await one.nextPage();
    const three = await two?.nextPage();
    expect(three?.items.map(({ id }) => id)).toEqual(['prod_4']);
    expect(three?.hasNextPage).toBe(false);
    expect(await three?.nextPage()).toBeNull();
    expect(service.requests.map(({ query }) => query)).toEqual([
      { size: '2', status: 'ACTIVE' },
      { size: '2', status: 'ACTIVE', page: '2' },
      { size: '2', status: 'ACTIVE', page: '3' },
    ]);
  });

  test('yields every product of many pages once, in order', async () => {
    service.on('GET /v1/products', pages(1234));
    expect(await idsOf(payments.products.list({ size: 100 }))).toEqual(firstIds(1234));
    expect(requestedPages()).toEqual(Array.from({ length: 13 }, (_, index) => index + 1));
  });

  test.each([2, 4, 8])('yields the same, in the same order, with prefetch %i', async (prefetch) => {
    service.on('GET /v1/products', pages(250));
    expect(await idsOf(payments.products.list({ size: 20 }, { prefetch }))).toEqual(firstIds(250));
    expect(requestedPages().toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 13 }, (_, index) => index + 1),
    );
  });

  test('starts at the requested page', async () => {
    service.on('GET /v1/products', pages(10));
    expect(await idsOf(payments.products.list({ size: 2, page: 4 }))).toEqual(firstIds(10).slice(6));
    expect(requestedPages()).toEqual([4, 5]);
  });

  test('can be iterated from the page that was awaited on', async () => {
    service.on('GET /v1/products', pages(10));
    const second = await payments.products.list({ size: 2, page: 2 });
    expect(await idsOf(second)).toEqual(firstIds(10).slice(2));
    expect(await idsOf((await second.nextPage()) ?? second)).toEqual(firstIds(10).slice(4));
  });

  test.each([
    [3, [1, 2]],
    [4, [1, 2]],
    [5, [1, 2, 3]],
    [1000, [1, 2, 3, 4, 5]],
  ])('toArray({ limit: %i }) holds so many at most, and asks for no page beyond', async (limit, expected) => {
    service.on('GET /v1/products', pages(10));
    expect((await payments.products.list({ size: 2 }).toArray({ limit })).map(({ id }) => id)).toEqual(
      firstIds(Math.min(limit, 10)),
    );
    expect(requestedPages()).toEqual(expected);
  });

  test('without products yields nothing', async () => {
    service.on('GET /v1/products', pages(0));
    expect(await idsOf(payments.products.list())).toEqual([]);
    const empty = await payments.products.list();
    expect(empty.hasNextPage).toBe(false);
    expect(await empty.nextPage()).toBeNull();
  });
});

const payments = createClient({ maxRetries: 0 });

describe('laziness', () => {
  test('no page is requested before the previous one is read to its end', async () => {
    service.on('GET /v1/products', pages(6));
    const products = payments.products.list({ size: 2 })[Symbol.asyncIterator]();
    await products.next();
    await products.next();
    expect(requestedPages()).toEqual([1]);
    await products.next();
    expect(requestedPages()).toEqual([1, 2]);
  });

  test('leaving the loop asks for nothing more', async () => {
    service.on('GET /v1/products', pages(100));
    for await (const product of payments.products.list({ size: 2 })) if (product.id === 'prod_2') break;
    expect(requestedPages()).toEqual([1, 2]);
  });

  test('with prefetch, so many pages are under way at once and no more', async () => {
    service.on('GET /v1/products', pages(100));
    const products = payments.products.list({ size: 2 }, { prefetch: 4 })[Symbol.asyncIterator]();
    await products.next();
    await vi.waitFor(() => expect(requestedPages().toSorted()).toEqual([1, 2, 3, 4]));
    await products.next();
    await products.next();
    await vi.waitFor(() => expect(requestedPages().toSorted()).toEqual([1, 2, 3, 4, 5]));
    await products.return(undefined);
    await new Promise((resolve) => setImmediate(resolve));
    expect(service.requests).toHaveLength(5);
  });

  test.each([
    ['the totals shrink', ['prod_2'], { totalPages: 2 }, ['prod_0', 'prod_1', 'prod_2']],
    ['a page is empty', [], {}, ['prod_0', 'prod_1']],
  ])('ends where %s, though later pages were prefetched', async (_what, second, facts, ids) => {
    service.on('GET /v1/products', ({ query }) => {
      if (Number(query.page ?? 1) === 1) return page(['prod_0', 'prod_1'], { total: 10, totalPages: 5 })();
      if (query.page === '2') return page(second, { page: 2, total: 10, totalPages: 5, ...facts })();
      return query.page === '3'
        ? new Response('', { status: 500 })
        : page(['prod_9'], { page: Number(query.page) })();
    });
    expect(await idsOf(payments.products.list({ size: 2 }, { prefetch: 4 }))).toEqual(ids);
  });

  test('prefetch asks for no page beyond the last', async () => {
    service.on('GET /v1/products', pages(5));
    expect(await idsOf(payments.products.list({ size: 2 }, { prefetch: 8 }))).toEqual(firstIds(5));
    expect(requestedPages().toSorted()).toEqual([1, 2, 3]);
  });

  test.each([0, 9, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'prefetch %d is refused',
    async (prefetch) => {
      const call = payments.products.list({}, { prefetch });
      await expect(call).rejects.toMatchObject({
        name: 'InvalidParamsError',
        issues: [
          {
            path: 'options.prefetch',
            message: `must be an integer from 1 to 8, got the number ${prefetch}.`,
          },
        ],
      });
      await expect(idsOf(call)).rejects.toThrow('prefetch');
    },
  );

  test('one list may be awaited and iterated, twice, and asks for its first page once', async () => {
    service.on('GET /v1/products', pages(4));
    const products = payments.products.list({ size: 2 });
    expect((await products).items).toHaveLength(2);
    expect(await idsOf(products)).toEqual(firstIds(4));
    expect(await idsOf(products)).toEqual(firstIds(4));
    expect(requestedPages()).toEqual([1, 2, 2]);
  });
});

test.each([undefined, {}, { limit: 0 }, { limit: -1 }, { limit: 1.5 }, { limit: '5' }, { limit: Infinity }])(
  'toArray(%j) is refused: a list may be longer than one wants to hold',
  async (options) => {
    service.on('GET /v1/products', jsonResponse({}, 500));
    // @ts-expect-error JavaScript callers can pass anything
    await expect(payments.products.list().toArray(options)).rejects.toMatchObject({
      code: 'invalid_params',
      operation: 'products.list',
      issues: [
        { path: 'limit', message: 'must be an integer of at least 1, as in toArray({ limit: 500 }).' },
      ],
    });
  },
);

describe('a list that changes while it is read', () => {
  test('yields no product twice when new ones push items over a page’s edge', async () => {
    service.on(
      'GET /v1/products',
      page(['a', 'b'], { page: 1 }),
      page(['b', 'c'], { page: 2 }),
      page(['c', 'd'], { page: 3 }),
    );
    expect(await idsOf(payments.products.list({ size: 2 }))).toEqual(['a', 'b', 'c', 'd']);
  });

  test('yields no product twice when a thousand new ones push items over ten pages', async () => {
    const idsBetween = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => `prod_${from + index}`);
    const starts = [0, 50, 150, 250, 350, 450, 550, 650, 750, 850, 950, 50];
    service.on('GET /v1/products', ({ query }) => {
      const number = Number(query.page ?? 1);
      const start = starts[number - 1] ?? 0;
      return page(idsBetween(start, start + 100), { page: number, totalPages: starts.length })();
    });
    expect(await idsOf(payments.products.list({ size: 100 }))).toEqual(idsBetween(0, 1050));
  });

  test('goes on when a page holds nothing new', async () => {
    service.on(
      'GET /v1/products',
      page(['a', 'b'], { page: 1 }),
      page(['a', 'b'], { page: 2 }),
      page(['c'], { page: 3 }),
    );
    expect(await idsOf(payments.products.list({ size: 2 }))).toEqual(['a', 'b', 'c']);
  });

  test('ends at an empty page, whatever the totals say', async () => {
    service.on(
      'GET /v1/products',
      page(['a', 'b'], { page: 1, totalPages: 1000 }),
      page([], { page: 2, totalPages: 1000 }),
    );
    expect(await idsOf(payments.products.list())).toEqual(['a', 'b']);
    expect(requestedPages()).toEqual([1, 2]);
  });

  test('ends at totalPages, though the pages stay full', async () => {
    service.on('GET /v1/products', page(['a', 'b'], { page: 1, totalPages: 1, total: 99 }));
    expect(await idsOf(payments.products.list())).toEqual(['a', 'b']);
    expect(requestedPages()).toEqual([1]);
  });

  test('follows totals that grow', async () => {
    service.on(
      'GET /v1/products',
      page(['a'], { page: 1, totalPages: 2 }),
      page(['b'], { page: 2, totalPages: 3 }),
      page(['c'], { page: 3, totalPages: 3 }),
    );
    expect(await idsOf(payments.products.list())).toEqual(['a', 'b', 'c']);
  });

  test('ends if the service calls every page page 1', async () => {
    service.on('GET /v1/products', page(['a'], {}), page(['b'], {}), page(['c'], {}));
    expect(await idsOf(payments.products.list())).toEqual(['a', 'b', 'c']);
    expect(requestedPages()).toEqual([1, 2, 3]);
  });
});

describe('an error midway', () => {
  test.each([1, 4])('reaches the loop after the products before it, with prefetch %i', async (prefetch) => {
    service.on('GET /v1/products', (request) =>
      Number(request.query.page) >= 3 ? jsonResponse({}, 500)() : pages(10)(request),
    );
    const seen: string[] = [];
    const loop = async () => {
      for await (const { id } of payments.products.list({ size: 2 }, { prefetch })) seen.push(id);
    };
    await expect(loop()).rejects.toBeInstanceOf(ServerError);
    expect(seen).toEqual(firstIds(4));
  });

  test('of a prefetched page is ignored if the loop was left before', async () => {
    service.on('GET /v1/products', (request) =>
      request.query.page ? jsonResponse({}, 500)() : pages(10)(request),
    );
    for await (const _ of payments.products.list({ size: 2 }, { prefetch: 3 })) {
      await vi.waitFor(() => expect(service.requests).toHaveLength(3));
      break;
    }
  });

  test('of nextPage() rejects, and the page can be requested again', async () => {
    service.on('GET /v1/products', page(['a'], {}), jsonResponse({}, 503), page(['b'], { page: 2 }));
    const one = await payments.products.list();
    await expect(one.nextPage()).rejects.toBeInstanceOf(ServerError);
    expect((await one.nextPage())?.items.map(({ id }) => id)).toEqual(['b']);
  });

  test('of the contract names the field', async () => {
    service.on('GET /v1/products', page(['a'], {}), success({ items: [{}], pagination: { page: 2 } }));
    await expect(idsOf(payments.products.list())).rejects.toBeInstanceOf(InvalidResponseError);
  });

  test('an abort ends the loop with the signal’s reason', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    service.on('GET /v1/products', pages(10));
    const loop = async () => {
      for await (const { id } of payments.products.list({ size: 2 }, { signal: controller.signal })) {
        if (id === 'prod_1') controller.abort(reason);
      }
    };
    await expect(loop()).rejects.toBe(reason);
    expect(requestedPages()).toEqual([1]);
  });
});

test('toArray() that is refused sends nothing', async () => {
  service.on('GET /v1/products', pages(1));
  const client = createClient();
  await client.products.list().toArray({ limit: 1 });
  await expect(client.products.list().toArray({ limit: 0 })).rejects.toMatchObject({
    code: 'invalid_params',
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(service.requests).toHaveLength(1);
});

test('a page that was awaited comes, though toArray() is refused later', async () => {
  service.on('GET /v1/products', page(['a'], {}));
  const products = createClient().products.list();
  const first = await products;
  await expect(products.toArray({ limit: 0 })).rejects.toMatchObject({ code: 'invalid_params' });
  expect(first.items).toHaveLength(1);
  expect(await products).toBe(first);
});
