import { describe, expect, it, vi } from 'vitest';
import { sign } from '../../../src/webhooks/index.js';
import { orderPaid, secret, withResolvers } from '../inboxes.js';
import { newPlace, openAt, waitForStates } from './places.js';

describe('lastError', () => {
  it.each([
    ['the webhook secret', `bad secret ${secret}!`, 'Error: bad secret [redacted]!'],
    [
      'what looks like an API key',
      'key service_live_4eC39HqLyjW and sk_test_abc123',
      'Error: key [redacted] and [redacted]',
    ],
    ['another webhook secret', 'got whsec_MfKQ9r8GKYqrTwjU/PD8+ILP=', 'Error: got [redacted]'],
    ['a bearer token', 'sent Bearer abc.def-ghi twice', 'Error: sent [redacted] twice'],
    [
      'a password in a URL',
      'postgres://shop:hunter2@db:5432/shop is down',
      'Error: postgres://[redacted]@db:5432/shop is down',
    ],
    ['the API key of the environment', 'refused the-key-of-the-shop', 'Error: refused [redacted]'],
  ])('does not hold %s', async (_what, message, text) => {
    vi.stubEnv('PAYMENTS_API_KEY', 'the-key-of-the-shop');
    const { inbox, post } = openAt({
      retries: [],
      on: { 'order.paid': () => Promise.reject(new Error(message)) },
    });
    await post(orderPaid('ord_1'));
    await inbox.idle();
    expect((await inbox.get('order.paid:ord_1'))?.lastError).toBe(text);
  });

  it.each<[string, () => unknown]>([
    ['a function', () => Promise.resolve(['whsec_next', 'secret-of-a-vault'])],
    ['bytes', () => Buffer.from('....secret-of-a-vault').subarray(4)],
  ])('does not hold a secret that was given as %s', async (_form, read) => {
    const given = read();
    const { inbox } = openAt({
      secret: given instanceof Uint8Array ? given : () => 'secret-of-a-vault',
      retries: [],
      on: { 'order.paid': () => Promise.reject(new TypeError('it is secret-of-a-vault')) },
    });
    const body = orderPaid('ord_1');
    const headers = sign({ rawBody: body, secret: 'secret-of-a-vault' });
    await inbox.handler(new Request('https://shop.example', { method: 'POST', body, headers }));
    await inbox.idle();
    expect((await inbox.get('order.paid:ord_1'))?.lastError).toBe('TypeError: it is [redacted]');
  });

  it('does not hold the secret of a function that no delivery has called yet, after a restart', async () => {
    const place = newPlace();
    const web = openAt({ place, work: false });
    await web.post(orderPaid('ord_1'));
    const { inbox } = openAt({
      place,
      secret: () => 'secret-of-a-vault',
      retries: [],
      on: { 'order.paid': () => Promise.reject(new Error('it is secret-of-a-vault')) },
    });
    await waitForStates(inbox, ['parked']);
    expect((await inbox.get('order.paid:ord_1'))?.lastError).toBe('Error: it is [redacted]');
  });

  it('that waits for a secret function when the inbox is closed leaves the delivery to the next start, and is quiet', async () => {
    const { promise, resolve } = withResolvers<string>();
    const place = newPlace();
    const web = openAt({ place, work: false });
    await web.post(orderPaid('ord_1'));
    const { inbox, errors, hookCalls } = openAt({
      place,
      secret: () => promise,
      on: { 'order.paid': () => Promise.reject(new Error('down')) },
    });
    await vi.waitFor(() => expect(hookCalls.map(([name]) => name)).toEqual(['started', 'failed']));
    await inbox.close();
    resolve(secret);
    await new Promise((done) => setTimeout(done, 20));
    expect(errors).toEqual([new Error('down')]);
    const entry = await web.inbox.get('order.paid:ord_1');
    expect(entry).toMatchObject({ state: 'pending', attempts: 1, lastError: null });
  });

  it('is at most 500 characters, whatever was thrown', async () => {
    const thrown: unknown[] = ['x'.repeat(600), 7, { toString: () => Promise.reject }, undefined, ''];
    const { inbox, post } = openAt({
      retries: [],
      on: { 'order.paid': () => Promise.reject(thrown.shift()) },
    });
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await post(orderPaid(id));
      await inbox.idle();
    }
    const texts = (await inbox.list()).map(({ lastError }) => lastError);
    expect(texts).toEqual(['', 'undefined', 'The error could not be read.', '7', 'x'.repeat(500)]);
  });
});
