import { NotFoundError } from 'merchant-payments';
import nock from 'nock';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import balance from '../fixtures/balance.json' with { type: 'json' };
import created from '../fixtures/product-created.json' with { type: 'json' };
import { apiKey, createClient } from '../helpers/service.js';

// Merchants who mock with nock patch node:http: the default transport has to travel through it.
const payments = createClient({ maxRetries: 0 });

beforeAll(() => {
  nock.disableNetConnect();
});
afterEach(() => {
  expect(nock.pendingMocks()).toEqual([]);
  nock.cleanAll();
});
afterAll(() => {
  nock.enableNetConnect();
  nock.restore();
});

test('nock intercepts a GET, and sees the key', async () => {
  nock('https://api.example', { reqheaders: { 'x-api-key': apiKey } })
    .get('/pay/v1/balance')
    .reply(200, balance);
  expect(await payments.balance.retrieve()).toMatchObject({ available: '1250.00' });
});

test('nock intercepts a POST, and sees its body', async () => {
  nock('https://api.example').post('/pay/v1/products', { name: 'Mug', price: '5.00' }).reply(200, created);
  expect(await payments.products.create({ name: 'Mug', price: '5.00' })).toMatchObject({ id: 'prod_8f2c1a' });
});

test('what nock refuses is an error like any other', async () => {
  nock('https://api.example').get('/pay/v1/checkouts/chk_1').reply(404, { code: 404, message: 'Not found' });
  await expect(payments.checkouts.retrieve('chk_1')).rejects.toBeInstanceOf(NotFoundError);
  await expect(payments.balance.retrieve()).rejects.toMatchObject({ name: 'ConnectionError' });
});
