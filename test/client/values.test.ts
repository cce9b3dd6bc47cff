import { InvalidResponseError } from 'merchant-payments';
import { describe, expect, test } from 'vitest';
import balance from '../fixtures/balance.json' with { type: 'json' };
import retrieved from '../fixtures/checkout-retrieved.json' with { type: 'json' };
import created from '../fixtures/product-created.json' with { type: 'json' };
import list from '../fixtures/product-list.json' with { type: 'json' };
import { createClient, jsonResponse, mockService, success, text } from '../helpers/service.js';

const service = mockService();
const payments = createClient({ maxRetries: 0 });
const params = { name: 'Mug', price: '19.90' };

/** The product that the client makes of the documented one with these fields changed. */
async function productWith(fields: object) {
  service.on('POST /v1/products', success({ ...created.data, ...fields }));
  return payments.products.create(params);
}

/** The fields for which an answer is refused. */
async function fieldsOfError(call: Promise<unknown>): Promise<string[]> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof InvalidResponseError))
    throw new Error(`expected InvalidResponseError, got ${error}`);
  expect(error).toMatchObject({ reason: 'schema', status: 200, outcome: 'done' });
  return error.issues.map(({ path }) => path);
}

test('create and list return equal objects for the same product', async () => {
  service.on('POST /v1/products', jsonResponse(created));
  service.on('GET /v1/products', jsonResponse(list));
  const { items } = await payments.products.list();
  expect(items[0]).toStrictEqual(await payments.products.create(params));
});

describe('money', () => {
  test.each<[unknown, string]>([
    ['19.90', '19.90'],
    ['19.9', '19.90'],
    ['19', '19.00'],
    ['0', '0.00'],
    ['1.005', '1.005'],
    ['0.30000000000000004', '0.30000000000000004'],
    ['123456789012345678901234567890.12', '123456789012345678901234567890.12'],
    [19.9, '19.90'],
    [19, '19.00'],
    [0.01, '0.01'],
    [0.1, '0.10'],
    [1.1, '1.10'],
    [4.35, '4.35'],
    [8.41, '8.41'],
    [1234567.89, '1234567.89'],
    [9007199254740991, '9007199254740991.00'],
  ])('%j is read as %j', async (price, expected) => {
    expect((await productWith({ price })).price).toBe(expected);
    service.on('GET /v1/balance', success({ ...balance.data, frozen: price }));
    expect((await payments.balance.retrieve()).frozen).toBe(expected);
  });

  test.each<[unknown]>([[0.001], [19.999], [0.1 + 0.2], [1e21], [1e-7], [2 ** 53], ['1e3'], ['NaN'], ['']])(
    '%j is no amount',
    async (price) => {
      expect(await fieldsOfError(productWith({ price }))).toEqual(['price']);
    },
  );

  test.each<[unknown]>([
    ['1,00'],
    [' 1'],
    ['１'],
    ['.5'],
    ['1.'],
    ['+1'],
    ['0x1'],
    [true],
    [null],
    [[]],
    [{}],
    [undefined],
  ])('%j is no amount either', async (amount) => {
    service.on('GET /v1/checkouts/:id', success({ ...retrieved.data, amount }));
    expect(await fieldsOfError(payments.checkouts.retrieve('chk_1'))).toEqual(['amount']);
  });

  test('a number too large for JavaScript is refused where it stands in the JSON text', async () => {
    const body = JSON.stringify(created).replace('"19.90"', '1e400');
    service.on('POST /v1/products', text(body));
    expect(await fieldsOfError(payments.products.create(params))).toEqual(['price']);
  });

  test('a price below zero is refused, a balance below zero is not', async () => {
    expect(await fieldsOfError(productWith({ price: '-1.00' }))).toEqual(['price']);
    expect(await fieldsOfError(productWith({ price: -1 }))).toEqual(['price']);
    service.on('GET /v1/balance', success({ ...balance.data, pending: -5 }));
    expect((await payments.balance.retrieve()).pending).toBe('-5.00');
  });
});

describe('timestamps', () => {
  test.each<[string, unknown, string]>([
    ['milliseconds', 1767225600000, '2026-01-01T00:00:00.000Z'],
    ['milliseconds with a fraction of a second', 1767225600123, '2026-01-01T00:00:00.123Z'],
    ['the first milliseconds', 1e11, '1973-03-03T09:46:40.000Z'],
    ['seconds', 1767225600, '2026-01-01T00:00:00.000Z'],
    ['the last seconds', 99_999_999_999, '5138-11-16T09:46:39.000Z'],
    ['ISO 8601 in UTC', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
    ['ISO 8601 without milliseconds', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z'],
    ['ISO 8601 with an offset', '2026-01-01T02:30:00+02:30', '2026-01-01T00:00:00.000Z'],
    ['ISO 8601 with microseconds', '2026-01-01T00:00:00.123456Z', '2026-01-01T00:00:00.123Z'],
    ['a leap day', '2028-02-29T12:00:00Z', '2028-02-29T12:00:00.000Z'],
  ])('in %s are Dates', async (_, wire, expected) => {
    const { createdAt } = await productWith({ createdAt: wire });
    expect(createdAt).toBeInstanceOf(Date);
    expect(createdAt.toISOString()).toBe(expected);
    service.on('GET /v1/checkouts/:id', success({ ...retrieved.data, expiresAt: wire }));
    expect((await payments.checkouts.retrieve('chk_1')).expiresAt.toISOString()).toBe(expected);
  });

  test.each<[string, unknown]>([
    ['without a zone', '2026-01-01T00:00:00'],
    ['without a time', '2026-01-01'],
    ['on a day that does not exist', '2026-02-30T00:00:00Z'],
    ['in a month that does not exist', '2026-13-01T00:00:00Z'],
    ['at an hour that does not exist', '2026-01-01T25:00:00Z'],
    ['in words', 'Thu, 01 Jan 2026 00:00:00 GMT'],
    ['as a number in text', '1767225600000'],
    ['before 1970', -1],
    ['beyond all Dates', 1e17],
    ['empty', ''],
    ['null', null],
    ['absent', undefined],
    ['true', true],
  ])('%s are refused', async (_, updatedAt) => {
    expect(await fieldsOfError(productWith({ updatedAt }))).toEqual(['updatedAt']);
  });
});

describe('absent fields', () => {
  test.each([
    ['null', null],
    ['absent', undefined],
  ])('a description or image that is %s is null', async (_, value) => {
    expect(await productWith({ description: value, image: value })).toMatchObject({
      description: null,
      image: null,
    });
  });

  test('an empty description is kept', async () => {
    expect((await productWith({ description: '' })).description).toBe('');
  });

  test.each([
    ['null', null],
    ['absent', undefined],
    ['empty', {}],
  ])('metadata that is %s is {}', async (_, metadata) => {
    expect((await productWith({ metadata })).metadata).toEqual({});
  });

  test('metadata values are strings: others as JSON writes them, and null is left out', async () => {
    const metadata = { sku: 'MUG-1', count: 3, gift: true, tags: ['a', 1], size: { cm: 9 }, none: null };
    expect((await productWith({ metadata })).metadata).toEqual({
      sku: 'MUG-1',
      count: '3',
      gift: 'true',
      tags: '["a",1]',
      size: '{"cm":9}',
    });
  });

  test('metadata that is a number too large for a double is not called null', async () => {
    const body = JSON.stringify(created).replace('"MUG-1"', '1e400');
    service.on('POST /v1/products', text(body));
    const product = await payments.products.create({ name: 'Mug', price: '5' });
    expect(product.metadata).toEqual({ sku: 'Infinity' });
  });

  test('metadata that is an empty array, as PHP writes an empty object, is {}', async () => {
    expect((await productWith({ metadata: [] })).metadata).toEqual({});
  });

  test.each<[unknown]>([['sku'], [5], [true]])('metadata %j is refused', async (metadata) => {
    expect(await fieldsOfError(productWith({ metadata }))).toEqual(['metadata']);
  });

  test('one product with odd metadata does not fail its list', async () => {
    const [item] = list.data.items;
    const items = [item, { ...item, id: 'prod_2', metadata: { deep: { er: [null] }, none: null } }];
    service.on('GET /v1/products', success({ ...list.data, items }));
    expect((await payments.products.list()).items[1]?.metadata).toEqual({ deep: '{"er":[null]}' });
  });

  test('an optional field that is null is absent', async () => {
    const url = 'https://pay.example/checkout/chk_1';
    service.on('POST /v1/checkouts', success({ url, id: null, amount: null, expiresAt: null, note: null }));
    expect(await payments.checkouts.create({ productId: 'p' })).toStrictEqual({ url, note: null });
    service.on('PATCH /v1/products/:id', success({ ...created.data, status: null }));
    expect(await payments.products.update('prod_1', { name: 'Mug' })).not.toHaveProperty('status');
  });

  test('an optional field that is null is no problem among those of a response that is refused', async () => {
    service.on('POST /v1/checkouts', success({ url: 'javascript:', expiresAt: null, amount: 'free' }));
    expect(await fieldsOfError(payments.checkouts.create({ productId: 'p' }))).toEqual(['amount', 'url']);
  });

  test.each(['id', 'name', 'price', 'currency', 'status', 'createdAt', 'updatedAt'])(
    'a product without %s is refused',
    async (field) => {
      expect(await fieldsOfError(productWith({ [field]: undefined }))).toEqual([field]);
    },
  );

  test('all fields that break the contract are named at once', async () => {
    expect(
      await fieldsOfError(productWith({ name: 5, price: '1,00', status: null, createdAt: 'now' })),
    ).toEqual(['name', 'price', 'status', 'createdAt']);
  });
});

describe('what the spec does not list', () => {
  test('a status and a currency that are new are kept', async () => {
    expect(await productWith({ status: 'DRAFT', currency: 'XTS' })).toMatchObject({
      status: 'DRAFT',
      currency: 'XTS',
    });
  });

  test('unlisted fields are kept, untouched', async () => {
    const extra = { taxRate: 0.19, tags: ['a'], nested: { at: 1767225600000, price: 5 }, none: null };
    expect(await productWith(extra)).toMatchObject(extra);
    service.on('GET /v1/products', success({ ...list.data, items: [{ ...list.data.items[0], ...extra }] }));
    expect((await payments.products.list()).items[0]).toMatchObject(extra);
    service.on('GET /v1/checkouts/:id', success({ ...retrieved.data, ...extra }));
    expect(await payments.checkouts.retrieve('chk_1')).toMatchObject(extra);
    service.on('GET /v1/balance', success({ ...balance.data, ...extra }));
    expect(await payments.balance.retrieve()).toMatchObject(extra);
  });

  test('a field __proto__ on the wire pollutes nothing', async () => {
    const body = JSON.stringify(created).replace('"id"', '"__proto__":{"polluted":true},"id"');
    service.on('POST /v1/products', text(body));
    const product = await payments.products.create(params);
    expect(product.id).toBe('prod_8f2c1a');
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect(Reflect.get(product, 'polluted')).toBeUndefined();
  });
});

describe('pagination facts', () => {
  test.each([
    ['page', '1'],
    ['size', 1.5],
    ['total', null],
    ['totalPages', undefined],
    ['total', -1],
  ])('%s as %j is refused', async (field, value) => {
    const pagination = { ...list.data.pagination, [field]: value };
    service.on('GET /v1/products', success({ ...list.data, pagination }));
    expect(await fieldsOfError(payments.products.list())).toEqual([`pagination.${field}`]);
  });

  test.each<[string, unknown, string[]]>([
    ['no list', { pagination: list.data.pagination }, ['items']],
    ['no pagination', { items: [] }, ['pagination']],
    ['an item that is no object', { items: [5], pagination: list.data.pagination }, ['items.0']],
    ['text instead of data', 'none', ['']],
  ])('%s is refused', async (_, data, paths) => {
    service.on('GET /v1/products', success(data));
    expect(await fieldsOfError(payments.products.list())).toEqual(paths);
  });
});

test('a message names five fields, and whether there are more', async () => {
  const items = Array.from({ length: 100 }, () => ({ ...list.data.items[0], price: 'none' }));
  service.on('GET /v1/products', success({ ...list.data, items }));
  const call = payments.products.list();
  expect(await fieldsOfError(call)).toHaveLength(100);
  await expect(call).rejects.toThrow(/items\.0\.price: expected .*items\.4\.price: .*; and more\.$/);
});

test('a list of two million wrong items is refused as a whole', async () => {
  const items = Array.from({ length: 2_000_000 }, () => 1);
  service.on('GET /v1/products', success({ ...list.data, items }));
  const call = payments.products.list();
  expect(await fieldsOfError(call)).toEqual(['items']);
  await expect(call).rejects.toThrow('items: expected at most 1000.');
});

test('one odd product of a list is named by its page and its id, and its limit in words', async () => {
  const items = [list.data.items[0], { ...list.data.items[1], id: 'prod_odd', price: 19.999 }];
  const pagination = { ...list.data.pagination, page: 3 };
  service.on('GET /v1/products', success({ items, pagination }));
  await expect(payments.products.list({ page: 3 })).rejects.toThrow(
    'items.1.price: expected a decimal amount, not negative, with at most two decimal places (page 3, id "prod_odd").',
  );
});
