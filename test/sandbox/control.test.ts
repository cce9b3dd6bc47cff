import { readFileSync } from 'node:fs';
import { createSandbox, type Sandbox, type SandboxOptions } from 'merchant-payments/sandbox';
import { verify } from 'merchant-payments/webhooks';
import { describe, expect, test } from 'vitest';
import { createContext } from '../../src/sandbox/create.js';
import { controls } from '../../src/sandbox/http/control.js';
import { checkout } from './open.js';

function openWithControl(options: SandboxOptions = {}) {
  const sandbox: Sandbox = createSandbox({ now: new Date('2026-01-01T00:00:00Z'), ...options });
  return {
    sandbox,
    control: async (method: string, path: string, body?: unknown) => {
      const response = await sandbox.fetch(`/_sandbox${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    },
  };
}

describe('control over HTTP, for other languages', () => {
  test('says whether it is ready, and returns all its data', async () => {
    const { sandbox, control } = openWithControl();
    expect(await control('GET', '/health')).toMatchObject({ status: 200, body: { status: 'ok' } });
    const { order } = await sandbox.trigger('order.paid');
    const { body } = await control('GET', '/state');
    expect(body).toMatchObject({
      balance: { pending: '19.90' },
      orders: [{ id: order.id }],
      events: [{ state: 'no_url' }],
    });
    expect(JSON.stringify(body)).not.toContain(sandbox.apiKey);
  });

  test('plays the customer', async () => {
    const { sandbox, control } = openWithControl();
    const { id } = await checkout(sandbox, {
      successUrl: 'https://shop.example/ok',
      cancelUrl: 'https://shop.example/no',
    });
    expect((await control('POST', `/checkouts/${id}/fail`, { reason: 'insufficient_funds' })).status).toBe(
      200,
    );
    expect(sandbox.checkouts[0]).toMatchObject({ state: 'open', declined: 'insufficient_funds' });
    expect((await control('POST', `/checkouts/${id}/cancel`, {})).body).toEqual({
      redirectUrl: 'https://shop.example/no',
    });
    const { body } = await control('POST', `/checkouts/${id}/complete`, { method: 'walletA' });
    expect(body).toMatchObject({
      order: { amount: '19.90', method: 'walletA' },
      redirectUrl: 'https://shop.example/ok',
    });
    expect(await control('POST', `/checkouts/${id}/complete`, {})).toMatchObject({
      status: 409,
      body: {
        error: { code: 'not_payable', message: `Checkout ${id} is paid already. Create another one.` },
      },
    });
    expect(await control('POST', '/checkouts/chk_none/complete', {})).toMatchObject({ status: 404 });
    expect((await control('POST', `/checkouts/${id}/fail`, { reason: 'poor' })).body.error.message).toBe(
      'The body is invalid: reason must be "card_declined", "insufficient_funds" or "wallet_declined", got a string. ' +
        'Send {"reason": "card_declined"}.',
    );
    const other = await checkout(sandbox);
    expect((await control('POST', `/checkouts/${other.id}/expire`, {})).body).toEqual({ state: 'expired' });
    expect((await control('POST', `/products/${other.productId}/archive`, {})).body).toEqual({
      status: 'ARCHIVED',
    });
    expect((await control('POST', `/products/${other.productId}/restore`, {})).body).toEqual({
      status: 'ACTIVE',
    });
  });

  test('moves the clock', async () => {
    const { control } = openWithControl();
    expect((await control('POST', '/clock', { advance: '1d' })).body).toEqual({
      now: '2026-01-02T00:00:00.000Z',
    });
    const to = '2026-03-01T00:00:00.000Z';
    expect((await control('POST', '/clock', { to })).body).toEqual({ now: to });
    expect((await control('POST', '/clock', { advance: 'soon' })).status).toBe(400);
    expect((await control('POST', '/clock', { to: 'tomorrow' })).body.error.message).toContain(
      'The body is invalid: to "tomorrow" is not a date with time and zone in ISO 8601. Send {"advance": "2h"}',
    );
    expect((await control('POST', '/clock', {})).body.error.message).toContain('Send {"advance": "2h"}');
  });

  test('sets, lists and clears faults', async () => {
    const { sandbox, control } = openWithControl();
    const balance = () => sandbox.fetch('/v1/balance', { headers: { 'x-api-key': sandbox.apiKey } });
    expect(
      (await control('POST', '/faults', { path: '/v1/balance', status: 503, delay: '1ms' })).status,
    ).toBe(200);
    expect((await balance()).status).toBe(503);
    await control('POST', '/faults', { network: 'reset' });
    await control('POST', '/faults', { clear: true });
    expect((await balance()).status).toBe(200);
    for (const fault of [{}, { status: 'x' }, { status: 5 }, { webhook: true, tamper: 'x' }])
      expect((await control('POST', '/faults', fault)).status).toBe(400);
  });

  test('makes a payment with its webhook, and sends it again', async () => {
    const { control } = openWithControl({ webhook: () => new Response() });
    const { body } = await control('POST', '/trigger', { amount: '5', currency: 'EUR' });
    expect(body).toMatchObject({
      order: { amount: '5.00', currency: 'EUR' },
      delivery: { ok: true, number: 1 },
    });
    const again = await control('POST', `/events/${body.event.id}/redeliver`, {});
    expect(again).toMatchObject({ status: 200, body: { ok: true, number: 2 } });
    expect((await control('POST', '/events/evt_none/redeliver', {})).status).toBe(404);
    expect((await control('POST', '/trigger', { amount: '0' })).body.error.message).toContain(
      'amount "0" is below',
    );
    expect((await control('POST', '/trigger', { type: 'order.refunded' })).status).toBe(400);
  });

  test('waits for events without sleeping', async () => {
    const { sandbox, control } = openWithControl();
    expect((await control('GET', '/events')).body).toEqual({ events: [] });
    const coming = control('GET', '/events?wait=5s');
    const first = await sandbox.trigger('order.paid');
    expect((await coming).body.events).toMatchObject([{ id: first.event.id }]);
    const next = control('GET', `/events?after=${first.event.id}&wait=5s`);
    const second = await sandbox.trigger('order.paid');
    expect((await next).body.events).toMatchObject([
      { id: second.event.id, data: { order_id: second.order.id } },
    ]);
    expect((await control('GET', `/events?after=${second.event.id}&wait=5ms`)).body).toEqual({ events: [] });
    expect((await control('GET', '/events?after=evt_none')).status).toBe(404);
  });

  test('holds back and delivers', async () => {
    const { sandbox, control } = openWithControl({ webhook: () => new Response(), webhooks: 'manual' });
    await sandbox.trigger('order.paid');
    expect((await control('POST', '/events/deliver', {})).body).toMatchObject({ attempts: [{ ok: true }] });
  });

  test('renews the key, gives a snapshot, and forgets everything', async () => {
    const { sandbox, control } = openWithControl();
    await sandbox.trigger('order.paid');
    expect((await control('POST', '/key', {})).body).toEqual({ apiKey: sandbox.apiKey });
    const { body } = await control('POST', '/snapshot', {});
    expect(createSandbox({ from: body }).orders).toEqual(sandbox.orders);
    expect((await control('DELETE', '/state', {})).status).toBe(200);
    expect([sandbox.orders, sandbox.balance.pending]).toEqual([[], '0.00']);
    expect((await control('GET', '/nothing')).status).toBe(404);
  });

  test('has a route for everything that createSandbox() can do to a running sandbox, and docs/sandbox.md names each', async () => {
    const context = createContext({});
    const members = Object.keys(Object.getPrototypeOf(context.sandbox));
    // These belong to the process that made the sandbox: its socket, its keys, calls without a socket.
    const own = ['fetch', 'listen', 'close', 'apiKey', 'webhookSecret', 'clientOptions', 'dashboardUrl'];
    const listed = readFileSync('docs/sandbox.md', 'utf8').matchAll(
      /^- (.*`.*?): (`(?:GET|POST|DELETE) .*)$/gm,
    );
    const rows = [...listed].map(([, left = '', right = '']) => {
      const [route = ''] = /(?:GET|POST|DELETE) [^`?]+/.exec(right) ?? [];
      // `/expire` after `POST /checkouts/$ID/cancel` stands for another last part.
      const others = [...right.matchAll(/, `(\/\w+)`/g)].map(([, last = '']) =>
        route.replace(/\/\w+$/, last),
      );
      const names = [...left.matchAll(/`(\w+)/g)].map(([, name = '']) => name);
      return { names, routes: [route, ...others].map((one) => one.replace('$ID', ':id')) };
    });
    const named = rows.flatMap(({ names }) => names);
    expect([...new Set(named)].sort()).toEqual(members.filter((name) => !own.includes(name)).sort());
    const routes = Object.keys(controls(context));
    expect(rows.flatMap((row) => row.routes).sort()).toEqual([...routes].sort());
    for (const route of routes) {
      const { status } = await context.sandbox.fetch(`/_sandbox${route.split(' ')[1]}`, { method: 'PUT' });
      expect([route, status]).toEqual([route, 405]);
    }
  });

  test('a method that a route does not have gets 405 and those that it has', async () => {
    const response = await createSandbox().fetch('/_sandbox/faults', { method: 'DELETE' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST']);
    expect(await response.json()).toMatchObject({ error: { code: 'wrong_method' } });
  });

  test('an empty POST needs neither a body nor a content type', async () => {
    const { sandbox } = openWithControl({ webhook: () => new Response(), webhooks: 'manual' });
    const { id, productId } = await checkout(sandbox);
    for (const path of [
      '/trigger',
      '/snapshot',
      '/key',
      `/checkouts/${id}/fail`,
      `/checkouts/${id}/cancel`,
      `/checkouts/${id}/complete`,
      `/products/${productId}/archive`,
      '/events/deliver',
    ])
      expect([path, (await sandbox.fetch(`/_sandbox${path}`, { method: 'POST' })).status]).toEqual([
        path,
        200,
      ]);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await sandbox.fetch('/_sandbox/key', { method: 'POST', headers: form })).status).toBe(415);
  });

  test('sets and takes away the webhook, its secret and its scheme', async () => {
    const { sandbox, control } = openWithControl();
    const url = 'http://127.0.0.1:9/hook';
    const scheme = { encoding: 'base64' };
    expect((await control('POST', '/webhook', { url, secret: 'whsec_new', scheme })).body).toEqual({ url });
    expect(sandbox.webhookSecret).toBe('whsec_new');
    const { event } = await sandbox.trigger('order.paid');
    const signed = await control('POST', '/signed-request', { eventId: event.id });
    expect(signed.body).toMatchObject({ method: 'POST', url, body: event.body });
    const options = { rawBody: signed.body.body, headers: signed.body.headers, secret: 'whsec_new' };
    expect(verify({ ...options, scheme: { encoding: 'base64' } }).type).toBe('order.paid');
    const forged = await control('POST', '/signed-request', { eventId: event.id, tamper: 'body' });
    expect(() => verify({ ...options, rawBody: forged.body.body, scheme: { encoding: 'base64' } })).toThrow();
    expect((await control('POST', '/webhook', { secret: 'whsec_other' })).body).toEqual({ url });
    expect((await control('POST', '/webhook', { url: null })).body).toEqual({ url: null });
    expect((await sandbox.trigger('order.paid')).event.state).toBe('no_url');
  });

  test('settles what is pending', async () => {
    const { sandbox, control } = openWithControl();
    await sandbox.trigger('order.paid');
    expect((await control('POST', '/balance', { settle: true })).body).toMatchObject({ available: '19.90' });
  });

  test('forgets everything, with ids that repeat if a seed is given', async () => {
    const { sandbox, control } = openWithControl();
    const nextOrderId = async () => (await sandbox.trigger('order.paid')).order.id;
    await control('DELETE', '/state?seed=7');
    const first = await nextOrderId();
    await control('DELETE', '/state?seed=7');
    expect(await nextOrderId()).toBe(first);
    for (const seed of ['x', '', '1.5'])
      expect((await control('DELETE', `/state?seed=${seed}`)).status).toBe(400);
  });
});
