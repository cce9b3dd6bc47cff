import { PaymentsClient, type PaymentsClientOptions } from 'merchant-payments';
import nodeFetch from 'node-fetch';
import { fetch as undiciFetch } from 'undici';
import { describe, expect, test } from 'vitest';
import created from '../fixtures/product-created.json' with { type: 'json' };
import { rightBody } from '../helpers/bodies.js';
import { type Behaviour, FaultyServer, resetSocket, respondWith, stall } from '../helpers/faulty-server.js';
import { settle } from '../helpers/meeting.js';

const fetches: [string, NonNullable<PaymentsClientOptions['fetch']>][] = [
  ['the platform', globalThis.fetch],
  ['undici', undiciFetch],
  ['node-fetch', nodeFetch],
];

describe.each(fetches)('the fetch of %s', (_name, fetch) => {
  async function runWithServer<T>(behave: Behaviour, run: (payments: PaymentsClient) => Promise<T>) {
    const server = await FaultyServer.start(behave);
    const options = { apiKey: 'service_test_8f2c1a', baseUrl: `${server.url}/pay`, fetch, maxRetries: 0 };
    const result = await settle(run(new PaymentsClient(options)));
    const { requests } = server;
    await server.close();
    return { ...result, requests };
  }
  const succeed: Behaviour = (socket, request) =>
    respondWith(200, rightBody(request.method))(socket, request);

  test('sends a GET with its headers and reads its response', async () => {
    const { value, requests } = await runWithServer(succeed, (payments) => payments.balance.retrieve());
    expect(value).toMatchObject({ available: '1250.00' });
    expect(requests).toMatchObject([{ method: 'GET', target: '/pay/v1/balance', body: '' }]);
    expect(requests[0]?.headers.join('\n')).toMatch(/^x-api-key: service_test_8f2c1a$/im);
  });

  test('sends a POST with its body and reads its response', async () => {
    const params = { name: 'Mug', price: '19.90' };
    const { value, requests } = await runWithServer(succeed, (payments) => payments.products.create(params));
    expect(value).toMatchObject({ id: created.data.id });
    expect(requests).toMatchObject([{ method: 'POST', body: JSON.stringify(params) }]);
    expect(requests[0]?.headers.join('\n')).toMatch(/^content-type: application\/json$/im);
  });

  test('reports a refusal, with headers and request id', async () => {
    const behave = respondWith(401, '{"code":401,"message":"Unauthorized"}', { 'x-request-id': 'req_1' });
    const { error } = await runWithServer(behave, (payments) => payments.balance.retrieve());
    expect(error).toMatchObject({ name: 'AuthenticationError', requestId: 'req_1', outcome: 'rejected' });
  });

  test('may leave a write in doubt when the connection breaks', async () => {
    const { error, requests } = await runWithServer(resetSocket, (payments) =>
      payments.checkouts.create({ productId: 'prod_1' }),
    );
    expect(error).toMatchObject({ name: 'ConnectionError', phase: 'exchange', outcome: 'unknown' });
    expect(requests).toHaveLength(1);
  });

  test('certainly did not send a write when nobody listens', async () => {
    const server = await FaultyServer.start(stall);
    const { url: baseUrl } = server;
    await server.close();
    const payments = new PaymentsClient({ apiKey: 'k', baseUrl, fetch, maxRetries: 0 });
    const { error } = await settle(payments.checkouts.create({ productId: 'prod_1' }));
    expect(error).toMatchObject({ phase: 'connect', reason: 'ECONNREFUSED', outcome: 'not_sent' });
  });

  test('is not followed by a redirect, and stops reading at 8 MiB', async () => {
    const redirect = respondWith(302, '', { location: 'https://evil.example/' });
    const { error } = await runWithServer(redirect, (payments) => payments.balance.retrieve());
    expect(error).toMatchObject({ name: 'InvalidResponseError', reason: 'redirect' });
    const large = respondWith(200, Buffer.alloc(9 * 1024 * 1024, 32));
    const { error: tooLarge } = await runWithServer(large, (payments) => payments.balance.retrieve());
    expect(tooLarge).toMatchObject({ reason: 'too_large' });
  });

  test('is stopped by the time limit and by the caller', async () => {
    const { error } = await runWithServer(stall, (payments) => payments.balance.retrieve({ timeoutMs: 50 }));
    expect(error).toMatchObject({ name: 'TimeoutError', scope: 'attempt' });
    const signal = AbortSignal.timeout(50);
    const { error: own } = await runWithServer(stall, (payments) => payments.balance.retrieve({ signal }));
    expect(own).toBe(signal.reason);
  });
});
