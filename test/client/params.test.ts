import { InvalidParamsError } from 'merchant-payments';
import { describe, expect, test } from 'vitest';
import checkoutCreated from '../fixtures/checkout-created.json' with { type: 'json' };
import retrieved from '../fixtures/checkout-retrieved.json' with { type: 'json' };
import created from '../fixtures/product-created.json' with { type: 'json' };
import list from '../fixtures/product-list.json' with { type: 'json' };
import updated from '../fixtures/product-updated.json' with { type: 'json' };
import { createClient, jsonResponse, mockService } from '../helpers/service.js';

const service = mockService();
const payments = createClient({ maxRetries: 0 });

// JavaScript callers can pass anything, so the tables hold anything.
const createProduct = (params: unknown) =>
  payments.products.create(Object.assign({ name: 'Mug', price: '5' }, params));
const updateProduct = (params: unknown) => payments.products.update('prod_1', Object.assign({}, params));
const listProducts = (params: unknown) => payments.products.list(Object.assign({}, params));
const createCheckout = (params: unknown) =>
  payments.checkouts.create(Object.assign({ productId: 'prod_1' }, params));

/** The problems with which a call is refused; nothing may have been sent. */
async function issuesOf(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof InvalidParamsError)) throw new Error(`expected InvalidParamsError, got ${error}`);
  expect(service.requests).toEqual([]);
  expect(error).toMatchObject({ code: 'invalid_params', outcome: 'not_sent', attempts: 0 });
  for (const { message } of error.issues) expect(error.message).toContain(message);
  return error.issues;
}

describe('name', () => {
  test.each([
    ['one character', 'a'],
    ['200 characters', 'a'.repeat(200)],
    ['200 emoji, which are 400 units of UTF-16', '😀'.repeat(200)],
    ['a blank', ' '],
  ])('of %s is sent', async (_, name) => {
    service.on('POST /v1/products', jsonResponse(created));
    await createProduct({ name });
    expect(service.requests[0]?.body).toMatchObject({ name });
  });

  test.each([
    ['no characters', '', 'is empty. Pass at least one character.'],
    ['201 characters', 'a'.repeat(201), 'has 201 characters. Pass at most 200.'],
    ['201 emoji', '😀'.repeat(201), 'has 201 characters. Pass at most 200.'],
    ['undefined', undefined, 'is missing. Pass a string of 1 to 200 characters.'],
    ['null', null, 'must be a string of 1 to 200 characters, got null.'],
    ['a number', 5, 'must be a string of 1 to 200 characters, got the number 5.'],
    ['an object', { text: 'Mug' }, 'must be a string of 1 to 200 characters, got an object.'],
    ['an array', ['Mug'], 'must be a string of 1 to 200 characters, got an array.'],
    ['a symbol', Symbol('Mug'), 'must be a string of 1 to 200 characters, got a symbol.'],
  ])('of %s is refused', async (_, name, message) => {
    expect(await issuesOf(createProduct({ name }))).toEqual([{ path: 'name', message }]);
  });
});

describe('description', () => {
  test.each([
    ['none', ''],
    ['1000', 'a'.repeat(1000)],
    ['1000 emoji', '😀'.repeat(1000)],
  ])('of %s characters is sent', async (_, description) => {
    service.on('POST /v1/products', jsonResponse(created));
    await createProduct({ description });
    expect(service.requests[0]?.body).toMatchObject({ description });
  });

  test.each([
    ['1001 characters', 'a'.repeat(1001), 'has 1001 characters. Pass at most 1000.'],
    ['1001 emoji', '😀'.repeat(1001), 'has 1001 characters. Pass at most 1000.'],
    ['a number', 5, 'must be a string of at most 1000 characters, got the number 5.'],
  ])('of %s is refused', async (_, description, message) => {
    expect(await issuesOf(createProduct({ description }))).toEqual([{ path: 'description', message }]);
  });
});

describe('price', () => {
  test.each(['0.01', '0.1', '1', '19.9', '19.90', '00.50', '9007199254740993.01'])(
    '%s is sent as it is',
    async (price) => {
      service.on('POST /v1/products', jsonResponse(created));
      await createProduct({ price });
      expect(service.requests[0]?.body).toMatchObject({ price });
    },
  );

  const such = 'Pass at most two decimals, such as "19.90".';
  test.each<[unknown, string]>([
    ['0.001', '"0.001" has more than two decimals. Pass at most two, such as "0.01".'],
    ['19.999', '"19.999" has more than two decimals. Pass at most two, such as "0.01".'],
    ['0', '"0" is below the least price, "0.01".'],
    ['0.00', '"0.00" is below the least price, "0.01".'],
    ...['１', ' 1', '1 ', '1\n', '1,00', '1.', '.5', '+1', '-1', '1e3', '0x10', '', 'NaN', '1_000'].map(
      (text): [string, string] => [
        text,
        `${JSON.stringify(text)} is not a decimal amount. Pass digits with at most two decimals, such as "19.90".`,
      ],
    ),
    // A number is refused with the text to write; where there is none, no other amount is proposed.
    [19.9, 'must be a string, got the number 19.9. Pass "19.90".'],
    [5, 'must be a string, got the number 5. Pass "5.00".'],
    [99, 'must be a string, got the number 99. Pass "99.00".'],
    // An integer may be a price in cents, as other services take it.
    [1990, 'must be a string, got the number 1990. Pass "1990.00", or "19.90" if it counts cents.'],
    [100, 'must be a string, got the number 100. Pass "100.00", or "1.00" if it counts cents.'],
    [
      1234567,
      'must be a string, got the number 1234567. Pass "1234567.00", or "12345.67" if it counts cents.',
    ],
    [100.5, 'must be a string, got the number 100.5. Pass "100.50".'],
    [0.01, 'must be a string, got the number 0.01. Pass "0.01".'],
    [19.999, `must be a string, got the number 19.999. ${such}`],
    [0.1 + 0.2, `must be a string, got the number 0.30000000000000004. ${such}`],
    [0.001, `must be a string, got the number 0.001. ${such}`],
    [0, `must be a string, got the number 0. ${such}`],
    [-1, `must be a string, got the number -1. ${such}`],
    [1e21, `must be a string, got the number 1e+21. ${such}`],
    [2 ** 53, `must be a string, got the number 9007199254740992. ${such}`],
    [Number.NaN, `must be a string, got the number NaN. ${such}`],
    [Number.POSITIVE_INFINITY, `must be a string, got the number Infinity. ${such}`],
    [5n, `must be a string, got a bigint. ${such}`],
    [true, `must be a string, got true. ${such}`],
    [null, `must be a string, got null. ${such}`],
    [['5'], `must be a string, got an array. ${such}`],
    [undefined, 'is missing. Pass a decimal string, such as "19.90".'],
  ])('%o is refused', async (price, message) => {
    expect(await issuesOf(createProduct({ price }))).toEqual([{ path: 'price', message }]);
  });
});

describe('image and description', () => {
  test('of a new product may be null, as those of another product: the same as absent', async () => {
    service.on('POST /v1/products', jsonResponse(created));
    await payments.products.create({ name: 'Mug', price: '5', image: null, description: null });
    expect(service.requests[0]?.body).toEqual({ name: 'Mug', price: '5' });
  });

  test('of an update may not: whether that clears them is not documented', async () => {
    expect(await issuesOf(updateProduct({ image: null, description: null }))).toEqual([
      { path: 'description', message: expect.stringContaining('got null') },
      { path: 'image', message: expect.stringContaining('got null') },
    ]);
  });
});

describe('currency', () => {
  test.each(['USD', 'EUR', 'XTS'])('%s is sent', async (currency) => {
    service.on('POST /v1/products', jsonResponse(created));
    await createProduct({ currency });
    expect(service.requests[0]?.body).toMatchObject({ currency });
  });

  test.each<[unknown, string]>([
    ['usd', '"usd" is not in upper case. Pass "USD".'],
    ['Usd', '"Usd" is not in upper case. Pass "USD".'],
    ...['US', 'USDT', 'U$D', 'ＵＳＤ', '', 'USD\n'].map((text): [string, string] => [
      text,
      `${JSON.stringify(text)} is not a three-letter ISO code, such as "USD".`,
    ]),
    [840, 'must be a three-letter ISO code, such as "USD", got the number 840.'],
    [null, 'must be a three-letter ISO code, such as "USD", got null.'],
  ])('%j is refused', async (currency, message) => {
    expect(await issuesOf(createProduct({ currency }))).toEqual([{ path: 'currency', message }]);
  });
});

describe('metadata', () => {
  test('of string values is sent, with any names', async () => {
    service.on('POST /v1/products', jsonResponse(created));
    const metadata = { sku: 'MUG-1', '': 'empty name', 'a.b': '', constructor: 'c', 日本: '語' };
    await createProduct({ metadata });
    expect(service.requests[0]?.body).toMatchObject({ metadata });
  });

  test.each<[string, unknown, string, string]>([
    ['a number', { sku: 1 }, 'metadata.sku', 'must be a string, got the number 1.'],
    ['true', { sku: true }, 'metadata.sku', 'must be a string, got true.'],
    ['null', { sku: null }, 'metadata.sku', 'must be a string, got null.'],
    ['undefined', { sku: undefined }, 'metadata.sku', 'must be a string, got undefined.'],
    ['a BigInt', { sku: 1n }, 'metadata.sku', 'must be a string, got a bigint.'],
    ['a function', { sku: () => 'x' }, 'metadata.sku', 'must be a string, got a function.'],
    ['a symbol', { sku: Symbol('x') }, 'metadata.sku', 'must be a string, got a symbol.'],
    ['an object', { sku: {} }, 'metadata.sku', 'must be a string, got an object.'],
    ['a cycle', cycle(), 'metadata.self', 'must be a string, got an object.'],
  ])('with %s among its values is refused, not dropped', async (_, metadata, path, message) => {
    expect(await issuesOf(createProduct({ metadata }))).toEqual([{ path, message }]);
  });

  test('with its own key __proto__ is refused, and pollutes nothing', async () => {
    const metadata: unknown = JSON.parse('{"__proto__": "x", "sku": "MUG-1"}');
    expect(await issuesOf(createProduct({ metadata }))).toEqual([
      { path: 'metadata.__proto__', message: 'is reserved by JavaScript. Choose another name.' },
    ]);
    expect({}.constructor).toBe(Object);
  });

  test.each([
    [null, 'null'],
    ['sku', 'the string "sku"'],
    [[], 'an array'],
    [new Map([['sku', 'MUG-1']]), 'an object'],
    [new Date(), 'an object'],
  ])('%o is refused', async (metadata, found) => {
    const message = `must be a plain object of string values, got ${found}.`;
    expect(await issuesOf(createProduct({ metadata }))).toEqual([{ path: 'metadata', message }]);
  });
});

function cycle(): object {
  const whole: Record<string, unknown> = {};
  whole.self = whole;
  return whole;
}

describe('page, size and status', () => {
  test.each([
    { page: 1 },
    { page: 1_000_000 },
    { size: 1 },
    { size: 100 },
    { status: 'ACTIVE' },
    { status: 'ARCHIVED' },
  ])('%j is sent', async (params) => {
    service.on('GET /v1/products', jsonResponse(list));
    await listProducts(params);
    expect(service.requests[0]?.query).toEqual(
      Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)])),
    );
  });

  const page = 'must be an integer of at least 1, got';
  const size = 'must be an integer from 1 to 100, got';
  const status = 'must be "ACTIVE" or "ARCHIVED", got';
  test.each([
    ['page', 0, `${page} the number 0.`],
    ['page', -1, `${page} the number -1.`],
    ['page', 1.5, `${page} the number 1.5.`],
    ['page', Number.NaN, `${page} the number NaN.`],
    ['page', Number.POSITIVE_INFINITY, `${page} the number Infinity.`],
    ['page', 2 ** 53, `${page} the number 9007199254740992.`],
    ['page', '1', `${page} the string "1".`],
    ['page', null, `${page} null.`],
    ['page', 1n, `${page} a bigint.`],
    ['size', 0, `${size} the number 0.`],
    ['size', 101, `${size} the number 101.`],
    ['size', 1.5, `${size} the number 1.5.`],
    ['size', '20', `${size} the string "20".`],
    ['status', 'active', `${status} the string "active".`],
    ['status', 'DRAFT', `${status} the string "DRAFT".`],
    ['status', '', `${status} the string "".`],
    ['status', null, `${status} null.`],
  ])('%s %o is refused', async (name, value, message) => {
    expect(await issuesOf(listProducts({ [name]: value }))).toEqual([{ path: name, message }]);
  });
});

describe.each([
  ['image', (url: unknown) => createProduct({ image: url }), 'POST /v1/products', created],
  [
    'successUrl',
    (url: unknown) => createCheckout({ successUrl: url }),
    'POST /v1/checkouts',
    checkoutCreated,
  ],
  ['cancelUrl', (url: unknown) => createCheckout({ cancelUrl: url }), 'POST /v1/checkouts', checkoutCreated],
] as const)('%s', (field, call, operation, body) => {
  test.each([
    'https://shop.example/thanks',
    'https://shop.example/thanks?order={id}&x=1#top',
    'http://localhost:3000/thanks',
    'https://bücher.example/täglich',
    'shop-app://cart',
  ])('%s is sent as it is', async (url) => {
    service.on(operation, jsonResponse(body));
    await call(url);
    expect(service.requests[0]?.body).toMatchObject({ [field]: url });
  });

  test.each(['javascript:', 'JavaScript:', 'data:', 'vbscript:', 'file:'])(
    'with the scheme %s is refused',
    async (scheme) => {
      expect(await issuesOf(call(`${scheme}//x`))).toEqual([
        {
          path: field,
          message: `has the scheme ${scheme.toLowerCase()}, which is not safe. Pass an https: URL.`,
        },
      ]);
    },
  );

  const one = 'Pass one such as "https://shop.example/thanks".';
  test.each([
    ['/thanks', '"/thanks" is not an absolute URL.'],
    ['thanks.html', '"thanks.html" is not an absolute URL.'],
    ['//shop.example/thanks', '"//shop.example/thanks" is not an absolute URL.'],
    ['shop.example', '"shop.example" is not an absolute URL.'],
    ['localhost:3000/thanks', '"localhost:3000/thanks" is not an absolute URL.'],
    ['', '"" is not an absolute URL.'],
    [' https://shop.example', '" https://shop.example" is not an absolute URL.'],
    ['https://shop.example/\r\nx: 1', '"https://shop.example/\\r\\nx: 1" is not an absolute URL.'],
    ['https:/shop.example', '"https:/shop.example" is not an absolute URL.'],
    ['https:shop.example', '"https:shop.example" is not an absolute URL.'],
    ['https://shop.example/\0', '"https://shop.example/\\u0000" is not an absolute URL.'],
    ['java\tscript:alert(1)', '"java\\tscript:alert(1)" is not an absolute URL.'],
  ])('%j is refused', async (url, found) => {
    const message = `${found} ${one}`;
    expect(await issuesOf(call(url))).toEqual([{ path: field, message }]);
  });

  test.each([
    [5, 'the number 5'],
    [true, 'true'],
    [['https://shop.example'], 'an array'],
    [{ href: 'https://shop.example' }, 'an object'],
  ])('%j is refused', async (url, found) => {
    const message = `must be an absolute URL, such as "https://shop.example/thanks", got ${found}.`;
    expect(await issuesOf(call(url))).toEqual([{ path: field, message }]);
  });

  test('may be a URL object, held to the same rules', async () => {
    service.on(operation, jsonResponse(body));
    await call(new URL('https://shop.example/thanks?a=b'));
    expect(service.requests.splice(0)[0]?.body).toMatchObject({ [field]: 'https://shop.example/thanks?a=b' });
    expect(await issuesOf(call(new URL('file:///etc/passwd')))).toMatchObject([{ path: field }]);
  });
});

describe('ids', () => {
  const strange = [
    'a/b',
    'a?b',
    'a#b',
    'a%2Fb',
    '%2e%2e',
    'é',
    '日本',
    'a+b',
    "a'b",
    'a:b',
    'a;b=c',
    '...',
    '~',
    '😀',
  ];

  test.each(strange)('%j is one encoded segment of the path', async (id) => {
    service.on('GET /v1/checkouts/:id', jsonResponse(retrieved));
    await payments.checkouts.retrieve(id);
    const [, version, collection, segment, ...more] = service.requests[0]?.path.split('/') ?? [];
    expect([version, collection, more]).toEqual(['v1', 'checkouts', []]);
    expect(decodeURIComponent(segment ?? '')).toBe(id);
  });

  test('of an update are encoded in the same way', async () => {
    service.on('PATCH /v1/products/:id', jsonResponse(updated));
    await payments.products.update('a/../b', { name: 'Mug' });
    expect(service.requests[0]?.path).toBe('/v1/products/a%2F..%2Fb');
  });

  test('of a product travel in the body of a checkout as they are', async () => {
    service.on('POST /v1/checkouts', jsonResponse(checkoutCreated));
    await createCheckout({ productId: 'a/b?c' });
    expect(service.requests[0]?.body).toEqual({ productId: 'a/b?c' });
  });

  const assigned = 'Pass the id that the service assigned.';
  const refused: [unknown, string][] = [
    ['', `is empty. ${assigned}`],
    ['.', `"." would change the path. ${assigned}`],
    ['..', `".." would change the path. ${assigned}`],
    [' ', `contains white space or control characters. ${assigned}`],
    ['prod_1 ', `contains white space or control characters. ${assigned}`],
    ['prod_1\n', `contains white space or control characters. ${assigned}`],
    ['prod\0', `contains white space or control characters. ${assigned}`],
    ['\u00a0', `contains white space or control characters. ${assigned}`],
    ['\ud800', `contains a lone surrogate, which cannot be sent. ${assigned}`],
    ['a\udc00b', `contains a lone surrogate, which cannot be sent. ${assigned}`],
    [undefined, `is missing. ${assigned}`],
    [null, 'must be a string, got null.'],
    [5, 'must be a string, got the number 5.'],
    [{ id: 'prod_1' }, 'must be a string, got an object. Pass its id, such as product.id.'],
    [{ id: 5 }, 'must be a string, got an object.'],
    [Promise.resolve({ id: 'prod_1' }), 'must be a string, got a promise: await it.'],
    [['prod_1'], 'must be a string, got an array.'],
  ];
  /** An id of whatever type, in the place of one. */
  const toWrongId = (id: unknown): string => Object.assign({ id: '' }, { id }).id;

  test.each(refused)('%o is refused by checkouts.retrieve', async (id, message) => {
    expect(await issuesOf(payments.checkouts.retrieve(toWrongId(id)))).toEqual([{ path: 'id', message }]);
  });
  test.each(refused)('%o is refused by products.update', async (id, message) => {
    expect(await issuesOf(payments.products.update(toWrongId(id), { name: 'Mug' }))).toEqual([
      { path: 'id', message },
    ]);
  });
  test.each(refused)('%o is refused as the product of a checkout', async (productId, message) => {
    expect(await issuesOf(createCheckout({ productId }))).toEqual([{ path: 'productId', message }]);
  });
});

test('an id of 1024 characters is sent, and one of 1025 is refused', async () => {
  service.on('GET /v1/checkouts/:id', jsonResponse(retrieved));
  await payments.checkouts.retrieve('a'.repeat(1024));
  service.requests.length = 0;
  expect(await issuesOf(payments.checkouts.retrieve('a'.repeat(1025)))).toEqual([
    {
      path: 'id',
      message: 'has 1025 characters, and at most 1024 are sent. Pass the id that the service assigned.',
    },
  ]);
});

describe('unknown parameters', () => {
  test.each([
    ['nmae', 'Did you mean name?'],
    ['Price', 'Did you mean price?'],
    ['desciption', 'Did you mean description?'],
    ['metaData', 'Did you mean metadata?'],
    ['imageUrl', 'Did you mean image?'],
    ['quantity', 'Known are name, price, description, image, currency, metadata.'],
    ['id', 'Known are name, price, description, image, currency, metadata.'],
  ])('%s is refused with the likely name', async (name, hint) => {
    const issue = { path: name, message: `is unknown. ${hint}` };
    expect(await issuesOf(createProduct({ [name]: 'x' }))).toEqual([issue]);
    expect(await issuesOf(updateProduct({ [name]: 'x' }))).toEqual([issue]);
  });

  test.each([
    ['product_id', 'Did you mean productId?'],
    ['productID', 'Did you mean productId?'],
    ['success_url', 'Did you mean successUrl?'],
    ['canceUrl', 'Did you mean cancelUrl?'],
    // Two are as likely.
    ['url', 'Known are productId, successUrl, cancelUrl, displayMerchantName.'],
    ['amount', 'Known are productId, successUrl, cancelUrl, displayMerchantName.'],
  ])('%s is refused by a checkout', async (name, hint) => {
    expect(await issuesOf(createCheckout({ [name]: 'x' }))).toEqual([
      { path: name, message: `is unknown. ${hint}` },
    ]);
  });

  test('are refused by a list', async () => {
    expect(await issuesOf(listProducts({ limit: 10, Page: 2 }))).toEqual([
      { path: 'limit', message: 'is unknown. Known are status, page, size.' },
      { path: 'Page', message: 'is unknown. Did you mean page?' },
    ]);
  });
});

const withoutParams = (call: (...args: never[]) => Promise<unknown>): Promise<unknown> =>
  Reflect.apply(call, undefined, []);

test.each<[string, (given: never) => Promise<unknown>, string]>([
  ['products.create', (given) => payments.products.create(given), '{ name: "Mug", price: "19.90" }'],
  ['products.update', (given) => payments.products.update('p', given), 'product.id, { price: "19.90" }'],
  ['checkouts.create', (given) => payments.checkouts.create(given), '{ productId: product.id }'],
])('%s without parameters is shown a call of it', async (name, call, args) => {
  expect(await issuesOf(withoutParams(call))).toEqual([
    { path: '', message: `must be an object, as in ${name}(${args}).` },
  ]);
});

test('a list with null as parameters is refused with an example of a call', async () => {
  expect(await issuesOf(Reflect.apply(payments.products.list, payments.products, [null]))).toEqual([
    { path: '', message: 'must be an object, as in products.list({ page: 2 }).' },
  ]);
});

describe('an update', () => {
  test('may set any one field', async () => {
    for (const params of [
      { name: 'Mug' },
      { description: '' },
      { image: 'https://shop.example/a.png' },
      { price: '1' },
      { currency: 'EUR' },
      { metadata: {} },
    ]) {
      service.on('PATCH /v1/products/:id', jsonResponse(updated));
      await updateProduct(params);
      expect(service.requests.pop()?.body).toEqual(params);
    }
  });

  test('checks the fields as create does', async () => {
    expect(await issuesOf(updateProduct({ name: '', price: 5 }))).toEqual([
      { path: 'name', message: 'is empty. Pass at least one character.' },
      { path: 'price', message: 'must be a string, got the number 5. Pass "5.00".' },
    ]);
  });
});

test('all problems are reported at once, and the message has each of them', async () => {
  const params: unknown = { name: '', price: '1,00', currency: 'usd', metadata: { sku: 1 }, colour: 'red' };
  const call = payments.products.create(
    Object.assign({ name: 'Mug', price: '5' }, params),
    Object.assign({ maxRetries: -1 }, { timeout: 5 }),
  );
  const issues = await issuesOf(call);
  expect(issues.map(({ path }) => path)).toEqual([
    'name',
    'price',
    'currency',
    'metadata.sku',
    'colour',
    'options.maxRetries',
    'options.timeout',
  ]);
  await expect(call).rejects.toThrow(
    /^products\.create: name is empty\. Pass at least one character\. price "1,00" /,
  );
});

test('an update with a bad id, a bad field and an unknown one reports all three', async () => {
  const call = payments.products.update('', Object.assign({ price: '0' }, { colour: 'red' }));
  expect((await issuesOf(call)).map(({ path }) => path)).toEqual(['id', 'price', 'colour']);
});

describe('parameters are read once', () => {
  test('changing them after the call changes nothing', async () => {
    service.on('POST /v1/products', jsonResponse(created));
    const params = { name: 'Mug', price: '5.00', metadata: { sku: 'MUG-1' } };
    const options = { headers: { 'x-tenant': 'one' } };
    const call = payments.products.create(params, options);
    Object.assign(params, { name: 'Changed', currency: 'EUR' });
    params.metadata.sku = 'changed';
    options.headers['x-tenant'] = 'changed';
    await call;
    expect(service.requests[0]?.body).toEqual({ name: 'Mug', price: '5.00', metadata: { sku: 'MUG-1' } });
    expect(service.requests[0]?.headers.get('x-tenant')).toBe('one');
  });

  test('the body and query of request() too', async () => {
    service.on('POST /v1/orders', jsonResponse({ code: 0, data: {} }));
    const request = {
      method: 'POST',
      path: '/v1/orders',
      query: { a: 1 },
      body: { deep: [{ b: 2 }] },
    } as const;
    const copy = structuredClone({ query: request.query, body: request.body });
    const call = payments.request(request);
    Object.assign(request.query, { a: 9 });
    Object.assign(request.body.deep[0], { b: 9 });
    await call;
    expect(service.requests[0]).toMatchObject({ query: { a: '1' }, body: copy.body });
  });

  test('a list requests its later pages like the first', async () => {
    const page = (number: number) => ({
      code: 0,
      data: {
        items: [{ ...list.data.items[0], id: `p${number}` }],
        pagination: { page: number, size: 1, total: 2, totalPages: 2 },
      },
    });
    service.on('GET /v1/products', jsonResponse(page(1)), jsonResponse(page(2)));
    const params = { size: 1 };
    const options = { headers: { 'x-tenant': 'one' } };
    const products = payments.products.list(params, options);
    params.size = 50;
    options.headers['x-tenant'] = 'changed';
    for await (const _ of products);
    expect(service.requests.map(({ query, headers }) => [query.size, headers.get('x-tenant')])).toEqual([
      ['1', 'one'],
      ['1', 'one'],
    ]);
  });
});

test.each<[string, string]>([
  ['price', '\u001b[31m1\u009b'],
  ['currency', 'US\u202eD'],
  ['image', 'mug\u2066.png'],
])(
  'a %s of control, escape or bidirectional characters is quoted with them visible',
  async (field, value) => {
    const [issue] = await issuesOf(
      payments.products.create(Object.assign({ name: 'Mug', price: '5' }, { [field]: value })),
    );
    expect(issue?.path).toBe(field);
    expect(issue?.message).toMatch(/^".*\\u[0-9a-f]{4}/);
    expect(issue?.message).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
  },
);

test('names that are no parameter, option or header are shown so, too', async () => {
  const named: object = { 'col\u202eour': 1, metadata: { '\u001b': 1 } };
  const call = payments.products.create(
    Object.assign({ name: 'Mug', price: '5' }, named),
    Object.assign({ headers: { 'a\u0007': 'x' } }, { '\u2066': 1 }),
  );
  expect((await issuesOf(call)).map(({ path }) => path)).toEqual([
    'metadata.\\u001b',
    'col\\u202eour',
    'options.headers.a\\u0007',
    'options.\\u2066',
  ]);
});

test('the path of a request is quoted so, too', async () => {
  const call = payments.request({ method: 'GET', path: '\u202e/v1' });
  await expect(call).rejects.toThrow('path "\\u202e/v1" does not begin with a slash.');
});

test('accessors of a class are sent like fields', async () => {
  service.on('PATCH /v1/products/prod_1', jsonResponse({ code: 0, data: {} }));
  class Edit {
    name = 'Mug';
    get price() {
      return '21.00';
    }
    get label() {
      return 'not a parameter';
    }
  }
  await payments.products.update('prod_1', new Edit()).catch(() => {});
  expect(service.requests[0]?.body).toEqual({ name: 'Mug', price: '21.00' });
});

test('accessors of a class are sent by create() and request(), too', async () => {
  service.on('POST /v1/products', jsonResponse({ code: 0, data: {} }));
  class Product {
    readonly name = 'Mug';
    get price() {
      return '21.00';
    }
    get description() {
      return null;
    }
  }
  await payments.products.create(new Product()).catch(() => {});
  class Raw {
    readonly path = '/v1/products';
    get method() {
      return 'POST' as const;
    }
    get body() {
      return { name: 'Mug' };
    }
  }
  await payments.request(new Raw());
  expect(service.requests.map(({ body }) => body)).toEqual([
    { name: 'Mug', price: '21.00' },
    { name: 'Mug' },
  ]);
});

test('an API key in the place of a value is not quoted', async () => {
  const key = 'service_live_4f9c2a7be1';
  for (const [call, path] of [
    [createProduct({ price: key }), 'price'],
    [createProduct({ currency: key }), 'currency'],
    [createCheckout({ successUrl: key }), 'successUrl'],
    [listProducts({ page: key }), 'page'],
  ] as const) {
    const [issue] = await issuesOf(Promise.resolve(call));
    expect(issue).toMatchObject({ path, message: expect.stringContaining('[redacted]') });
    expect(issue?.message).not.toContain('4f9c2a7be1');
  }
});
