import type { PaymentsClient } from 'merchant-payments';
import { describe, expect, test } from 'vitest';
import checkoutCreated from '../fixtures/checkout-created.json' with { type: 'json' };
import checkout from '../fixtures/checkout-retrieved.json' with { type: 'json' };
import product from '../fixtures/product-created.json' with { type: 'json' };
import list from '../fixtures/product-list.json' with { type: 'json' };
import updated from '../fixtures/product-updated.json' with { type: 'json' };
import { bodyCanary } from '../helpers/canary.js';
import { FaultyServer, respondWith } from '../helpers/faulty-server.js';
import { carriers, clientOf, expectNoTrace, settle, watch } from '../helpers/meeting.js';

watch();

/** Calls whose answer is one object, and that object as the spec shows it. */
const operations = {
  'products.create': {
    data: product.data,
    call: (client: PaymentsClient) => client.products.create({ name: 'Mug', price: '19.90' }),
  },
  'products.update': {
    data: updated.data,
    call: (client: PaymentsClient) => client.products.update('prod_1', { name: 'Mug' }),
  },
  'products.list': { data: list.data, call: (client: PaymentsClient) => client.products.list() },
  'checkouts.create': {
    data: checkoutCreated.data,
    call: (client: PaymentsClient) => client.checkouts.create({ productId: 'prod_1' }),
  },
  'checkouts.retrieve': {
    data: checkout.data,
    call: (client: PaymentsClient) => client.checkouts.retrieve('chk_1'),
  },
};
type Operation = keyof typeof operations;

/** Calls a server that answers with the spec's data, changed; `undefined` takes a field away. */
async function callWithAnswer(carrier: (typeof carriers)[number], name: Operation, change: object) {
  const { data, call } = operations[name];
  const body = JSON.stringify({ code: 0, message: 'success', data: { ...data, ...change } });
  // Numbers beyond JavaScript's own go over the wire as they are written here.
  const server = await FaultyServer.start(respondWith(200, body.replace(/"raw:([^"]*)"/g, '$1')));
  const ended = await settle(call(clientOf(carrier, server.url)));
  expect(server.requests).toHaveLength(1);
  await server.close();
  expectNoTrace(ended.error);
  return ended;
}

const [firstItem] = list.data.items;
const inList = (change: object) => ({ items: [{ ...firstItem, ...change }] });

const refused: [row: string, Operation, change: object, path: string][] = [
  ['a field is missing', 'products.create', { price: undefined }, 'price'],
  ['a field is null', 'checkouts.retrieve', { productId: null }, 'productId'],
  ['a field has another type', 'products.create', { name: 7 }, 'name'],
  [
    'a price with more decimals than a number holds',
    'products.list',
    inList({ price: 0.30000000000000004 }),
    'items.0.price',
  ],
  ['a price beyond decimals', 'products.list', inList({ price: 1e21 }), 'items.0.price'],
  ['a price beyond numbers', 'products.create', { price: 'raw:1e400' }, 'price'],
  ['a negative price', 'products.create', { price: -1 }, 'price'],
  ['a negative price in text', 'products.update', { price: '-1.00' }, 'price'],
  ['a price "NaN"', 'products.create', { price: 'NaN' }, 'price'],
  ['a price with an exponent', 'products.create', { price: '1e3' }, 'price'],
  ['an empty price', 'products.create', { price: '' }, 'price'],
  ['a negative amount', 'checkouts.retrieve', { amount: '-0.01' }, 'amount'],
  [
    'a price beyond safe integers',
    'products.list',
    inList({ price: 'raw:9007199254740993' }),
    'items.0.price',
  ],
  ['a moment without its zone', 'products.create', { createdAt: '2026-01-01T00:00:00' }, 'createdAt'],
  ['a day that does not exist', 'products.create', { createdAt: '2026-02-30T00:00:00Z' }, 'createdAt'],
  ['no pagination', 'products.list', { pagination: undefined }, 'pagination'],
  [
    'a page that is no integer',
    'products.list',
    { pagination: { ...list.data.pagination, page: 1.5 } },
    'pagination.page',
  ],
  [
    'a total in quotes',
    'products.list',
    { pagination: { ...list.data.pagination, total: '2' } },
    'pagination.total',
  ],
  ['items that are no list', 'products.list', { items: { length: 1 } }, 'items'],
  ...[
    'javascript:alert(1)',
    'https:/shop.example/pay',
    'data:text/html,x',
    'http://pay.example/x',
    '/relative',
    'https://pay.example/\n',
  ].map((url): [string, Operation, object, string] => [
    `a payment page at ${JSON.stringify(url)}`,
    'checkouts.create',
    { url },
    'url',
  ]),
  ['a page that is retrieved', 'checkouts.retrieve', { url: 'http://localhost.evil.example/' }, 'url'],
];

const accepted: [row: string, Operation, change: object, value: object][] = [
  [
    'fields that no list has, kept as they are',
    'products.create',
    { taxCode: { a: [1] } },
    { taxCode: { a: [1] } },
  ],
  ['a status that is not known yet', 'products.create', { status: 'DRAFT' }, { status: 'DRAFT' }],
  ['an update without status', 'products.update', { status: undefined }, { price: '24.50' }],
  ['a price as a number', 'products.list', inList({ price: 19.9 }), { items: [{ price: '19.90' }] }],
  ['a whole price', 'products.create', { price: 5 }, { price: '5.00' }],
  [
    'a timestamp in milliseconds',
    'products.create',
    { createdAt: 1767225600000 },
    { createdAt: new Date('2026-01-01') },
  ],
  [
    'the same in ISO 8601',
    'products.create',
    { createdAt: '2026-01-01T01:00:00+01:00' },
    { createdAt: new Date('2026-01-01') },
  ],
  [
    'the same in seconds',
    'checkouts.retrieve',
    { expiresAt: 1767225600 },
    { expiresAt: new Date('2026-01-01') },
  ],
  [
    'a payment page on the local machine',
    'checkouts.create',
    { url: 'http://127.0.0.1:3000/pay' },
    { url: 'http://127.0.0.1:3000/pay' },
  ],
];

describe.each(carriers)('over %s', (carrier) => {
  test.each(refused)('%s (%s): refused by its path, not its value', async (_row, operation, change, path) => {
    const { error } = await callWithAnswer(carrier, operation, { ...change, secretField: bodyCanary });
    const expected = {
      name: 'InvalidResponseError',
      reason: 'schema',
      outcome: 'done',
      attempts: 1,
      operation,
    };
    expect(error).toMatchObject({ ...expected, issues: [{ path, message: expect.any(String) }] });
    expect(String(error)).toContain(path);
  });

  test.each(accepted)('%s (%s)', async (_row, operation, change, value) => {
    expect((await callWithAnswer(carrier, operation, change)).value).toMatchObject(value);
  });
});

test('iteration ends on an empty page, and at the last page, whatever the totals say', async () => {
  for (const [pages, items] of [
    [9, []],
    [1, list.data.items],
  ] as const) {
    const pagination = { page: 1, size: 2, total: 99, totalPages: pages };
    const body = JSON.stringify({ code: 0, message: 'success', data: { items, pagination } });
    const server = await FaultyServer.start(respondWith(200, body));
    const ids: string[] = [];
    for await (const { id } of clientOf('http', server.url).products.list()) ids.push(id);
    expect(ids).toHaveLength(items.length);
    expect(server.requests).toHaveLength(1);
    await server.close();
  }
});
