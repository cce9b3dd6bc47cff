import fc from 'fast-check';
import { InvalidResponseError, PaymentsClient } from 'merchant-payments';
import { expect, test } from 'vitest';
import list from '../fixtures/product-list.json' with { type: 'json' };
import { check } from '../helpers/fuzz.js';

type Change = 'create' | number;

/** A service whose list changes before each response: the newest product first or last. */
class ChangingService {
  readonly products: { id: string; createdAt: string }[] = [];
  requests = 0;
  #created = 0;

  constructor(
    count: number,
    readonly newestFirst: boolean,
    readonly changes: (request: number) => readonly Change[],
  ) {
    const old = Date.parse('2026-01-01T00:00:00Z');
    for (let index = 0; index < count; index++) this.#create(new Date(old + index));
  }

  #create(createdAt: Date): void {
    const product = { id: `prod_${this.#created++}`, createdAt: createdAt.toISOString() };
    if (this.newestFirst) this.products.unshift(product);
    else this.products.push(product);
  }

  /** Creates a product, or archives the one at a place. */
  change(change: Change): void {
    if (change === 'create') this.#create(new Date());
    else if (this.products.length > 0) this.products.splice(change % this.products.length, 1);
  }

  readonly fetch = async (url: string): Promise<Response> => {
    for (const change of this.changes(this.requests++)) this.change(change);
    const { searchParams } = new URL(url);
    const page = Number(searchParams.get('page') ?? 1);
    const size = Number(searchParams.get('size') ?? 20);
    const total = this.products.length;
    const items = this.products
      .slice((page - 1) * size, page * size)
      .map((product) => ({ ...list.data.items[0], ...product }));
    const pagination = { page, size, total, totalPages: Math.ceil(total / size) };
    return Response.json({ code: 0, message: 'success', data: { items, pagination } });
  };

  client(): PaymentsClient {
    return new PaymentsClient({ apiKey: 'key', baseUrl: 'https://api.example', fetch: this.fetch });
  }
}

const change = fc.oneof(fc.constant('create' as const), fc.nat(80));

test('products that stay in the list are yielded exactly once, even if others are archived or created meanwhile', async () => {
  await check(
    fc.asyncProperty(
      fc.record({
        count: fc.nat(60),
        size: fc.integer({ min: 1, max: 12 }),
        prefetch: fc.integer({ min: 1, max: 8 }),
        newestFirst: fc.boolean(),
        whileReading: fc.array(fc.array(change, { maxLength: 12 }), { maxLength: 12 }),
        inTheLoop: fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 30 }),
      }),
      async ({ count, size, prefetch, newestFirst, whileReading, inTheLoop }) => {
        const service = new ChangingService(count, newestFirst, (request) => whileReading[request - 1] ?? []);
        const before = service.products.map(({ id }) => id);
        const seen: string[] = [];
        for await (const { id } of service.client().products.list({ size }, { prefetch })) {
          for (const each of inTheLoop[seen.length] ?? []) service.change(each);
          seen.push(id);
        }
        expect(seen).toEqual([...new Set(seen)]);
        const now = new Set(service.products.map(({ id }) => id));
        expect(before.filter((id) => now.has(id) && !seen.includes(id))).toEqual([]);
      },
    ),
    100,
  );
});

test.each([1, 4])('a loop that archives each product sees them all, with prefetch %i', async (prefetch) => {
  const service = new ChangingService(60, true, () => []);
  const seen: string[] = [];
  for await (const { id } of service.client().products.list({ size: 10 }, { prefetch })) {
    seen.push(id);
    service.change(service.products.findIndex((product) => product.id === id));
  }
  expect(seen).toHaveLength(60);
  expect(service.products).toEqual([]);
});

test('a list that is not changed is read once, in either order', async () => {
  for (const newestFirst of [true, false]) {
    const service = new ChangingService(60, newestFirst, () => []);
    expect(await service.client().products.list({ size: 10 }).toArray({ limit: 100 })).toHaveLength(60);
    expect(service.requests).toBe(6);
  }
});

test('a list that changes with every page ends with an error that says so', async () => {
  const service = new ChangingService(30, true, (request) => (request % 2 === 1 ? [25] : ['create']));
  const error: unknown = await service
    .client()
    .products.list({ size: 10 })
    .toArray({ limit: 100_000 })
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(InvalidResponseError);
  expect(error).toMatchObject({
    operation: 'products.list',
    reason: 'changed',
    message:
      'GET /v1/products: the list changed too much while it was read, so items may be missing. Read it again from its first page.',
  });
});

test('a loop from a later page says so if products may have moved before it', async () => {
  const service = new ChangingService(60, true, (request) => (request === 1 ? Array(25).fill(0) : []));
  const products = service.client().products.list({ page: 2, size: 10 });
  await expect(products.toArray({ limit: 100 })).rejects.toMatchObject({ reason: 'changed' });
});
