import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { caller, checkout, mug, open } from './open.js';

describe('what the spec limits', () => {
  test.each<[string, object, string]>([
    ['a name of 201 characters', { ...mug, name: 'x'.repeat(201) }, 'name has 201 characters'],
    ['an empty name', { ...mug, name: '' }, 'name is empty'],
    ['no name', { price: '1' }, 'name is missing'],
    ['a price of three decimals', { ...mug, price: '0.001' }, 'price "0.001" has more than two decimals'],
    ['a price of nothing', { ...mug, price: '0.00' }, 'price "0.00" is below the least price'],
    ['a price as a number', { ...mug, price: 19.9 }, 'price must be a string, got the number 19.9'],
    [
      'a description of 1001 characters',
      { ...mug, description: 'x'.repeat(1001) },
      'description has 1001 characters',
    ],
    ['a currency of two letters', { ...mug, currency: 'US' }, 'currency "US" is not a three-letter ISO code'],
    ['nested metadata', { ...mug, metadata: { a: { b: 1 } } }, 'metadata.a must be a string, got an object'],
    ['an image that is no URL', { ...mug, image: 'mug.png' }, 'image "mug.png" is not an absolute URL'],
    ['an image that runs', { ...mug, image: 'javascript:alert(1)' }, 'image has the scheme javascript:'],
    ['an image of an app', { ...mug, image: 'shop:mug' }, 'image is not an http: or https: URL'],
  ])('refuses %s, on create and on update', async (_, body, message) => {
    const { sandbox, call } = open();
    const refused = await call('POST', '/v1/products', body);
    expect([refused.status, refused.body.code]).toEqual([400, 400]);
    expect(refused.body.message).toContain(message);
    expect(refused.headers.get('x-sandbox-unspecified')).toContain('errors, errorStatus');
    expect(sandbox.products).toEqual([]);
    if ('name' in body) {
      const { data } = (await call('POST', '/v1/products', mug)).body;
      expect((await call('PATCH', `/v1/products/${data.id}`, body)).status).toBe(400);
      expect(sandbox.products[0]).toMatchObject({ name: 'Mug', price: '19.90' });
    }
  });

  test('takes what is just within', async () => {
    const { call } = open();
    const body = { name: '😀'.repeat(200), price: '0.01', description: 'x'.repeat(1000) };
    expect((await call('POST', '/v1/products', body)).status).toBe(200);
  });

  test.each([
    ['page=0', 'got the number 0'],
    ['page=1.5', 'got the number 1.5'],
    ['size=0', 'got the number 0'],
    ['size=101', 'got the number 101'],
    ['status=GONE', 'status '],
  ])('refuses a list of ?%s', async (query, message) => {
    const { status, body } = await open().call('GET', `/v1/products?${query}`);
    expect(status).toBe(400);
    expect(body.message).toContain(message);
  });

  test('filters the list by status and cuts it into pages', async () => {
    const { sandbox, call } = open();
    for (const name of ['a', 'b', 'c']) await call('POST', '/v1/products', { name, price: '1' });
    sandbox.archiveProduct(sandbox.products[1]?.id ?? '');
    const names = async (query: string) => {
      const { data } = (await call('GET', `/v1/products?${query}`)).body;
      return [data.items.map((item: { name: string }) => item.name).join(''), data.pagination.total];
    };
    expect(await names('status=ACTIVE')).toEqual(['ca', 2]);
    expect(await names('status=ARCHIVED')).toEqual(['b', 1]);
    expect(await names('page=2&size=2')).toEqual(['a', 3]);
    expect(await names('page=9')).toEqual(['', 3]);
  });
});

describe('what a URL may be', () => {
  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    '//evil.example',
    '/relative',
    'https://a\r\nb',
    'https://user:password@shop.example/',
    'https://user@shop.example/',
  ])('refuses successUrl and cancelUrl %j', async (url) => {
    const { sandbox, call } = open();
    const { productId } = await checkout(sandbox);
    for (const name of ['successUrl', 'cancelUrl']) {
      const { status, body } = await call('POST', '/v1/checkouts', { productId, [name]: url });
      expect(status).toBe(400);
      expect(body.message).toContain(name);
    }
  });

  test.each(['https://shop.example/ok?a=1&b=%20#x', 'http://localhost:3000', 'myshop://paid'])(
    'sends the customer to the very %s that was given',
    async (url) => {
      const { sandbox } = open();
      const first = await checkout(sandbox, { successUrl: url, cancelUrl: url });
      expect(await sandbox.cancelCheckout(first.url)).toEqual({ redirectUrl: url });
      expect((await sandbox.completeCheckout(first.url)).redirectUrl).toBe(url);
    },
  );
});

describe('requests that are invalid', () => {
  test.each<[string, string, string, string | undefined, Record<string, string>, number]>([
    ['bad JSON', 'POST', '/v1/products', '{"name":', {}, 400],
    ['no body', 'POST', '/v1/products', '', {}, 400],
    ['an array', 'POST', '/v1/products', '[]', {}, 400],
    ['null', 'POST', '/v1/products', 'null', {}, 400],
    ['another content type', 'POST', '/v1/products', '{}', { 'content-type': 'text/plain' }, 415],
    ['too large a body', 'POST', '/v1/products', 'x'.repeat(1024 * 1024 + 1), {}, 413],
    ['an unknown product', 'PATCH', '/v1/products/prod_none', '{}', {}, 404],
    ['an unknown checkout', 'GET', '/v1/checkouts/chk_none', undefined, {}, 404],
    ['a checkout of an unknown product', 'POST', '/v1/checkouts', '{"productId":"prod_none"}', {}, 404],
    ['an unknown path', 'GET', '/v1/refunds', undefined, {}, 404],
    ['a wrong method', 'DELETE', '/v1/products', undefined, {}, 405],
  ])('%s', async (_, method, path, body, headers, status) => {
    const { sandbox, call } = open();
    const answered = await call(method, path, body, headers);
    expect(answered).toMatchObject({ status, body: { code: status, message: expect.any(String) } });
    expect(sandbox.products).toEqual([]);
  });

  test('a session is retrieved by its id alone, as the refusal of its url says', async () => {
    const { sandbox, call } = open();
    const { url } = await checkout(sandbox);
    const answered = await call('GET', `/v1/checkouts/${encodeURIComponent(url)}`);
    expect(answered).toMatchObject({
      status: 404,
      body: { message: expect.stringMatching(/Pass the id of one\.$/) },
    });
  });

  test('a product that is archived is sold no longer, and again once it is restored', async () => {
    const { sandbox, call } = open();
    const { productId, url } = await checkout(sandbox);
    sandbox.archiveProduct(productId);
    expect((await call('POST', '/v1/checkouts', { productId })).status).toBe(409);
    await expect(sandbox.completeCheckout(url)).rejects.toThrow(
      'sells a product that is archived. Restore the product.',
    );
    sandbox.restoreProduct(productId);
    expect((await call('POST', '/v1/checkouts', { productId })).status).toBe(200);
    expect((await sandbox.completeCheckout(url)).order.amount).toBe('19.90');
  });

  test('whatever is sent, an envelope or an error body comes back, never a trace', async () => {
    const { sandbox } = open();
    const { id, productId } = await checkout(sandbox);
    const call = caller(sandbox);
    const paths = [
      '/v1/products',
      `/v1/products/${productId}`,
      '/v1/checkouts',
      `/v1/checkouts/${id}`,
      '/v1/balance',
    ];
    const field = fc.constantFrom(
      'name',
      'price',
      'metadata',
      'image',
      'productId',
      'successUrl',
      '__proto__',
      'constructor',
    );
    const anyBody = fc.oneof(
      fc.string(),
      fc.jsonValue().map((value) => JSON.stringify(value)),
      fc
        .array(fc.tuple(field, fc.jsonValue()), { maxLength: 4 })
        .map((pairs) => `{${pairs.map(([name, value]) => `"${name}":${JSON.stringify(value)}`).join(',')}}`),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths),
        fc.constantFrom('POST', 'PATCH', 'DELETE'),
        anyBody,
        async (path, method, body) => {
          const answered = await call(method, path, body);
          expect(answered.status).not.toBe(500);
          expect(answered.body).toMatchObject({ code: answered.status === 200 ? 0 : answered.status });
          expect(answered.text).not.toMatch(/ at .*\.[jt]s:/);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('choices where the spec is silent', () => {
  const tags = (answered: { headers: Headers }) =>
    answered.headers.get('x-sandbox-unspecified')?.split(', ') ?? [];

  test('a response that depends on none has no tag', async () => {
    const { sandbox, call } = open();
    expect(tags(await call('POST', '/v1/products', mug))).toEqual([]);
    expect(tags(await call('GET', '/v1/products'))).toEqual([]);
    expect(tags(await call('GET', '/v1/balance'))).toEqual([]);
    expect(tags(await call('GET', '/v1/balance', undefined, { 'x-api-key': 'other' }))).toEqual([]);
    expect(sandbox.requests.flatMap(({ unspecified }) => unspecified)).toEqual([]);
  });

  test('a misspelt field is ignored with a warning, or refused as chosen', async () => {
    const lenient = open();
    const taken = await lenient.call('POST', '/v1/products', { ...mug, nmae: 1 });
    expect([taken.status, tags(taken)]).toEqual([200, ['unknownFields']]);
    expect(lenient.sandbox.requests[0]?.warnings).toEqual(['nmae is unknown. Did you mean name?']);
    const strict = open({ unspecified: { unknownFields: 'reject' } });
    const refused = await strict.call('POST', '/v1/products', { ...mug, nmae: 1 });
    expect([refused.status, tags(refused)]).toEqual([400, ['unknownFields', 'errors', 'errorStatus']]);
  });

  test('numbers and booleans in metadata become strings', async () => {
    const metadata = { size: 300, glazed: true, sku: 'M1' };
    const taken = await open().call('POST', '/v1/products', { ...mug, metadata });
    expect(taken.body.data.metadata).toEqual({ size: '300', glazed: 'true', sku: 'M1' });
    expect(tags(taken)).toEqual(['metadata']);
  });

  test('the string of a price is returned as it was sent', async () => {
    const sent = await open().call('POST', '/v1/products', { ...mug, price: '19.9' });
    expect([sent.body.data.price, tags(sent)]).toEqual(['19.9', ['priceText']]);
  });

  test('an emoji in a name counts as one character', async () => {
    const taken = await open().call('POST', '/v1/products', { ...mug, name: '😀'.repeat(101) });
    expect([taken.status, tags(taken)]).toEqual([200, ['nameLength']]);
  });

  test('checkouts last 30 minutes in milliseconds, or as chosen', async () => {
    const now = new Date('2026-01-01T00:00:00Z');
    const first = open({ now });
    const { id } = await checkout(first.sandbox);
    const retrieved = await first.call('GET', `/v1/checkouts/${id}`);
    expect(retrieved.body.data.expiresAt).toBe(1767227400000);
    expect(tags(retrieved)).toEqual(['expiresIn']);
    const second = open({ now, unspecified: { expiresIn: { after: '1h', unit: 's' } } });
    const other = await checkout(second.sandbox);
    expect((await second.call('GET', `/v1/checkouts/${other.id}`)).body.data.expiresAt).toBe(1767229200);
  });

  test('the key is checked before the path', async () => {
    const first = await open().call('GET', '/v1/nothing', undefined, { 'x-api-key': 'no' });
    expect([first.status, tags(first)]).toEqual([401, ['authOrder']]);
    for (const path of ['/v1/balance', '/v1/checkouts/order.7']) {
      const known = await open().call('GET', path, undefined, { 'x-api-key': 'no' });
      expect([path, known.status, tags(known)]).toEqual([path, 401, []]);
    }
  });

  test('cancelling leaves the checkout open, or closes it as chosen', async () => {
    const first = open();
    const { url } = await checkout(first.sandbox);
    await first.sandbox.cancelCheckout(url);
    expect((await first.sandbox.completeCheckout(url)).order.amount).toBe('19.90');
    const closing = open({ unspecified: { cancel: 'close' } });
    const other = await checkout(closing.sandbox);
    await closing.sandbox.cancelCheckout(other.url);
    await expect(closing.sandbox.completeCheckout(other.url)).rejects.toThrow('is cancelled');
  });

  test('order ids and the amount of an event are what is chosen, and the customer goes to the very URL given', async () => {
    const { sandbox } = open({ unspecified: { eventLink: 'order_id', webhookBody: 'number' } });
    const { id, url } = await checkout(sandbox, { successUrl: 'https://shop.example/?a=1' });
    const { order, event, redirectUrl } = await sandbox.completeCheckout(url);
    expect(order.id).toBe(id);
    expect(JSON.parse(event.body).data.amount).toBe(19.9);
    expect(redirectUrl).toBe('https://shop.example/?a=1');
  });

  test('settlement takes as long as chosen', async () => {
    const { sandbox, call } = open({ unspecified: { settlement: '1h' } });
    await sandbox.trigger('order.paid', { amount: '19.90' });
    const balance = await call('GET', '/v1/balance');
    expect(balance.body.data).toMatchObject({ pending: '19.90', available: '0.00' });
    expect(tags(balance)).toEqual(['settlement']);
    await sandbox.advanceTime('1h');
    expect(sandbox.balance).toMatchObject({ pending: '0.00', available: '19.90' });
    const atOnce = open({ unspecified: { settlement: 0 } });
    await atOnce.sandbox.trigger('order.paid');
    expect(atOnce.sandbox.balance).toMatchObject({ pending: '0.00', available: '19.90' });
  });

  test.each([
    ['currencyForm', { currency: 'usd' }, 400],
    ['currencyForm', { currency: 'QQQ' }, 200],
    ['imageScheme', { image: 'http://a.example/i.png' }, 200],
    ['imageScheme', { image: 'ipfs://i' }, 400],
    ['urlCredentials', { image: 'https://u:p@a.example/i' }, 400],
  ])('a response to what the spec is silent about names %s: %j', async (name, field, status) => {
    const made = await open().call('POST', '/v1/products', { name: 'Mug', price: '1', ...field });
    expect([made.status, tags(made)]).toEqual([status, expect.arrayContaining([name])]);
  });

  test('an update without a field is rejected, as the client does', async () => {
    const { call } = open();
    const { data } = (await call('POST', '/v1/products', { name: 'Mug', price: '1' })).body;
    const updated = await call('PATCH', `/v1/products/${data.id}`, {});
    expect([updated.status, tags(updated)]).toEqual([400, expect.arrayContaining(['emptyUpdate'])]);
  });

  test.each(['authOrder', 'emptyUpdate', 'priceText', 'nameLength', 'imageScheme', 'urlCredentials'])(
    '%s is named in responses and is no choice',
    (name) => {
      expect(() => open({ unspecified: { [name]: 'accept' } })).toThrow(`unspecified.${name} is unknown`);
    },
  );

  test('a receiver that takes longer than deliveryTimeout has not responded', async () => {
    const { sandbox } = open({
      webhook: () => new Promise<Response>(() => {}),
      unspecified: { deliveryTimeout: 20, retries: [] },
    });
    const { delivery, event } = await sandbox.trigger('order.paid');
    expect([delivery?.error, event.state]).toEqual(['No response within 0.02 s.', 'failed']);
  });

  test.each<[object, string]>([
    [{ setlement: 1 }, 'setlement is unknown. Did you mean settlement?'],
    [{ cancel: 'maybe' }, 'cancel must be "stay-open" or "close"'],
    [{ settlement: 'soon' }, '"soon" is not a duration'],
    [{ signature: { encoding: 'base32' } }, 'signature.encoding must be "hex"'],
    [{ signature: { encodng: 'hex' } }, 'signature.encodng is unknown.'],
    [{ signature: { verify: () => true } }, 'signature.verify cannot sign'],
  ])('a choice that does not exist is refused: %j', (unspecified, message) => {
    expect(() => open({ unspecified })).toThrow(message);
  });
});

test.each<[object, string]>([
  [{ apikey: 'x' }, 'apikey is unknown. Did you mean apiKey?'],
  [{ webhookUrl: 'http://localhost/' }, 'webhookUrl is unknown. Did you mean webhook?'],
  [{ apiKey: 'service_live_x' }, 'a live key moves real money'],
  [{ apiKey: 'a b' }, 'apiKey must be a string without white space'],
  [{ webhookSecret: '' }, 'webhookSecret must be a string'],
  [{ webhookSecret: 'undefined' }, 'webhookSecret must be the secret itself'],
  [{ webhookSecret: '"whsec_x"' }, 'webhookSecret must be the secret itself'],
  [{ webhookSecret: 'whsec_' }, 'webhookSecret must be the secret itself'],
  [
    { webhookSecret: 'whsec_-', unspecified: { signature: { secretEncoding: 'hex' } } },
    'webhookSecret must be hex,',
  ],
  [{ webhook: 'ftp://x' }, 'webhook must be an absolute http: or https: URL'],
  [{ webhook: 'http://u:p@localhost/' }, 'webhook must be an absolute'],
  [{ publicUrl: 'http://localhost:1/path' }, 'publicUrl must be an origin'],
  [{ now: new Date('x') }, 'now must be "real" or a valid Date'],
  [{ currency: 'usd' }, 'currency must be a three-letter ISO code'],
  [{ seed: 1.5 }, 'seed must be an integer'],
  [{ from: { version: 2 } }, 'This is not a snapshot'],
])('an invalid option is refused: %j', (options, message) => {
  expect(() => open(options)).toThrow(message);
});
