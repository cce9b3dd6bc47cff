import { PaymentsClient } from 'merchant-payments';
import { createSandbox, type Fault, type SandboxOptions } from 'merchant-payments/sandbox';
import { describe, expect, test } from 'vitest';

const mug = { name: 'Mug', price: '19.90' };

async function open(way: 'in process' | 'over HTTP', options: SandboxOptions = {}) {
  const sandbox = createSandbox(options);
  if (way === 'over HTTP') await sandbox.listen();
  const client = new PaymentsClient({ ...sandbox.clientOptions, maxRetries: 0 });
  return { sandbox, client };
}

describe.each(['in process', 'over HTTP'] as const)('faults, %s', (way) => {
  test('a POST whose response is lost is done once; a client that retried would create two', async () => {
    const { sandbox, client } = await open(way);
    sandbox.failNext({ method: 'POST', path: '/v1/products', when: 'after', network: 'reset' });
    await expect(client.products.create(mug)).rejects.toMatchObject({
      code: 'connection_error',
      reason: 'ECONNRESET',
      outcome: 'unknown',
    });
    expect((await client.products.list()).pagination.total).toBe(1);
    expect(sandbox.requests).toMatchObject([
      { method: 'POST', status: undefined, fault: 'reset after' },
      { method: 'GET', status: 200, fault: undefined },
    ]);
    await sandbox.close();
  });

  test('a fault of one path happens to an id of any form', async () => {
    const { sandbox, client } = await open(way);
    sandbox.failNext({ path: '/v1/checkouts/order.7', status: 503 });
    await expect(client.checkouts.retrieve('order.7')).rejects.toMatchObject({ status: 503 });
    await sandbox.close();
  });

  test('a POST that is reset before the work leaves nothing', async () => {
    const { sandbox, client } = await open(way);
    sandbox.failNext({ network: 'reset' });
    await expect(client.products.create(mug)).rejects.toMatchObject({ outcome: 'unknown' });
    expect(sandbox.products).toEqual([]);
    await sandbox.close();
  });

  test('a request without a response ends with the time limit of the client', async () => {
    const { sandbox, client } = await open(way);
    sandbox.failNext({ network: 'timeout' });
    await expect(client.balance.retrieve({ timeoutMs: 500 })).rejects.toMatchObject({ code: 'timeout' });
    expect((await client.balance.retrieve()).pending).toBe('0.00');
    await sandbox.close();
  });

  test('twenty requests without a response make Node warn of no leak', async () => {
    const { sandbox, client } = await open(way);
    const warnings: string[] = [];
    const recordWarning = ({ message }: Error) => warnings.push(message);
    process.on('warning', recordWarning);
    sandbox.failNext({ network: 'timeout', times: 20 });
    const calls = Array.from({ length: 20 }, () => client.balance.retrieve({ timeoutMs: 500 }));
    for (const { status } of await Promise.allSettled(calls)) expect(status).toBe('rejected');
    await sandbox.close();
    process.off('warning', recordWarning);
    expect(warnings).toEqual([]);
  });

  test('closing the sandbox ends a request without a response', async () => {
    const { sandbox, client } = await open(way);
    sandbox.failNext({ network: 'timeout' });
    const call = client.balance.retrieve({ timeoutMs: 5_000 });
    const ended = expect(call).rejects.toMatchObject({ code: 'connection_error' });
    while (sandbox.requests.length === 0) await new Promise(setImmediate);
    await sandbox.close();
    await ended;
  });

  test.each<[Fault, object]>([
    [{ status: 503 }, { status: 503, outcome: 'unknown' }],
    [
      { status: 429, headers: { 'retry-after': '7' } },
      { status: 429, retryAfterMs: 7000, outcome: 'rejected' },
    ],
    [
      { status: 422, body: { code: 422, message: 'no' } },
      { status: 422, apiMessage: 'no' },
    ],
    [
      { status: 502, body: '<h1>Bad gateway</h1>' },
      { status: 502, bodySnippet: '<h1>Bad gateway</h1>' },
    ],
  ])('a status is answered instead of the work: %j', async (fault, error) => {
    const { sandbox, client } = await open(way);
    sandbox.failNext(fault);
    await expect(client.products.create(mug)).rejects.toMatchObject(error);
    expect(sandbox.products).toEqual([]);
    await sandbox.close();
  });

  test.each<[Fault, object]>([
    [{ malformed: 'html' }, { code: 'invalid_response', outcome: 'unknown' }],
    [{ malformed: 'truncated' }, { code: 'invalid_response', reason: 'json', outcome: 'unknown' }],
  ])('a malformed response comes after the work: %j', async (fault, error) => {
    const { sandbox, client } = await open(way);
    sandbox.failNext(fault);
    await expect(client.products.create(mug)).rejects.toMatchObject(error);
    expect(sandbox.products).toHaveLength(1);
    await sandbox.close();
  });

  test('a delay alone changes nothing else of the response', async () => {
    const { sandbox, client } = await open(way);
    sandbox.failNext({ delay: 40 });
    expect((await client.balance.retrieve()).available).toBe('0.00');
    expect(sandbox.requests[0]?.durationMs).toBeGreaterThanOrEqual(39);
    await sandbox.close();
  });
});

test('in process a fault is what the fetch of the platform rejects with', async () => {
  const { sandbox } = await open('in process');
  sandbox.failNext({ network: 'reset' });
  const error = await sandbox.fetch('/v1/balance').catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(TypeError);
  expect(error).toMatchObject({ message: 'fetch failed', cause: { code: 'ECONNRESET' } });
});

test('a fault waits for the request that it fits, happens as often as set, and can be removed', async () => {
  const { sandbox, client } = await open('in process');
  sandbox.failNext({ method: 'get', path: /^\/v1\/checkouts\//, status: 500 });
  sandbox.failNext({ path: '/v1/balance', status: 500, times: 2 });
  await client.products.list();
  await expect(client.balance.retrieve()).rejects.toMatchObject({ status: 500 });
  await expect(client.balance.retrieve()).rejects.toMatchObject({ status: 500 });
  await client.balance.retrieve();
  await expect(client.checkouts.retrieve('chk_1')).rejects.toMatchObject({ status: 500 });
  await expect(client.checkouts.retrieve('chk_1')).rejects.toMatchObject({ status: 404 });
  sandbox.failNext({ status: 500 });
  sandbox.clearFaults();
  await client.balance.retrieve();
});

test('the client tries a GET again until the service is back', async () => {
  const sandbox = createSandbox();
  const client = new PaymentsClient(sandbox.clientOptions);
  sandbox.failNext({ status: 503, headers: { 'retry-after': '0' } });
  const { response } = await client.balance.retrieve().withResponse();
  expect(response.attempts).toBe(2);
});

test.each<[object, string]>([
  [{}, 'failNext: options must have one of webhook, status, network, malformed, delay.'],
  [{ status: 99 }, 'status must be an integer from 200 to 599, got the number 99.'],
  [{ status: 500, times: 0 }, 'times must be an integer from 1 to 1000000, got the number 0.'],
  [{ network: 'gone' }, 'network must be "reset" or "timeout"'],
  [{ malformed: 'xml' }, 'malformed must be "html" or "truncated"'],
  [{ status: 500, tmes: 2 }, 'tmes is unknown. Did you mean times?'],
  [{ webhook: true, tamper: 'all' }, 'tamper must be "body"'],
  [{ webhook: true }, 'failNext: options must have duplicate, hold, drop, tamper or delay'],
  [
    { webhook: true, times: 2, drop: false },
    'failNext: options must have duplicate, hold, drop, tamper or delay',
  ],
  [{ webhook: true, duplicate: 0 }, 'duplicate must be an integer from 1 to 100, got the number 0.'],
  [{ status: 503, headers: { 'bad name': '1' } }, 'headers must be names and values that a header can have.'],
  [{ status: 503, headers: { name: 'a\nb' } }, 'headers must be names and values that a header can have.'],
  [{ status: 503, body: () => 1 }, 'body must be data that JSON can hold.'],
  [{ status: 500, delay: 'soon' }, 'is not a duration'],
])('an invalid fault is refused: %j', (fault, message) => {
  const sandbox = createSandbox();
  expect(() => Reflect.apply(sandbox.failNext, sandbox, [fault])).toThrow(message);
});
