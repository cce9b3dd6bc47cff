import { describe, expect, it, vi } from 'vitest';
import { type HandlerOptions, handler, sign, type WebhookHooks } from '../../src/webhooks/index.js';

const secret = 'whsec_merchant_test_7Qm2xV9c';
const paid = '{"type":"order.paid","data":{"order_id":"ord_1001","amount":"19.90","currency":"USD"}}';
const key = 'order.paid:ord_1001';

/** Hooks that note what they are told. */
function recordHooks() {
  const hookCalls: [name: string, facts: object][] = [];
  const hooks: WebhookHooks = {
    received: (facts) => hookCalls.push(['received', facts]),
    duplicate: (facts) => hookCalls.push(['duplicate', facts]),
    refused: (facts) => hookCalls.push(['refused', facts]),
    done: (facts) => hookCalls.push(['done', facts]),
    failed: (facts) => hookCalls.push(['failed', facts]),
  };
  return { hooks, hookCalls };
}

async function post(
  options: HandlerOptions,
  body = paid,
  headers = sign({ rawBody: body, secret }),
): Promise<number> {
  const request = new Request('https://shop.example', { method: 'POST', body, headers });
  return (await handler({ onError: () => {}, ...options })(request)).status;
}

// No longer than the process has run.
const durationMs = expect.toSatisfy((ms: number) => ms >= 0 && ms <= performance.now());

describe('hooks of a handler', () => {
  it('receive a delivery that arrived and was handled', async () => {
    const { hooks, hookCalls } = recordHooks();
    await post({ secret, hooks, on: { 'order.paid': () => {} } });
    expect(hookCalls).toEqual([
      ['received', { key, type: 'order.paid', bytes: paid.length }],
      ['done', { key, type: 'order.paid', durationMs }],
    ]);
  });

  it('receive the same with accept, for events of any type', async () => {
    const { hooks, hookCalls } = recordHooks();
    await post({ secret, hooks, accept: async () => {} }, '{"type":"ping"}');
    expect(hookCalls).toMatchObject([
      ['received', { key: expect.stringMatching(/^ping:[0-9a-f]{64}$/), type: 'ping', bytes: 15 }],
      ['done', { type: 'ping' }],
    ]);
  });

  it('receive what a function threw', async () => {
    const { hooks, hookCalls } = recordHooks();
    const error = new Error('no stock');
    await post({ secret, hooks, on: { 'order.paid': () => Promise.reject(error) } });
    await post({ secret, hooks, accept: () => Promise.reject(error) });
    expect(hookCalls.filter(([name]) => name !== 'received')).toEqual([
      ['failed', { key, type: 'order.paid', durationMs, error }],
      ['failed', { key, type: 'order.paid', durationMs, error }],
    ]);
  });

  it('receive a duplicate, while the first is handled and afterwards', async () => {
    const { hooks, hookCalls } = recordHooks();
    let finish = () => {};
    const handled = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const receive = handler({ secret, hooks, on: { 'order.paid': () => handled } });
    const send = () =>
      receive(
        new Request('https://shop.example', {
          method: 'POST',
          body: paid,
          headers: sign({ rawBody: paid, secret }),
        }),
      );
    const first = send();
    expect((await send()).status).toBe(409);
    finish();
    await first;
    expect((await send()).status).toBe(200);
    expect(hookCalls.map(([name]) => name)).toEqual([
      'received',
      'received',
      'duplicate',
      'done',
      'received',
      'duplicate',
    ]);
    expect(hookCalls[2]?.[1]).toEqual({ key, type: 'order.paid' });
  });

  it.each<[string, string, Record<string, string> | undefined, object]>([
    ['without a signature', paid, {}, { status: 400, code: 'missing_signature' }],
    ['with another body', paid, sign({ rawBody: 'x', secret }), { status: 400, code: 'signature_mismatch' }],
    ['that cannot be read', '{', undefined, { status: 500, code: 'invalid_json' }],
    ['longer than 1 MiB', ' '.repeat(1024 * 1024 + 1), undefined, { status: 413, code: 'body_too_large' }],
  ])('are told of a delivery %s, once and without its content', async (_form, body, headers, facts) => {
    const { hooks, hookCalls } = recordHooks();
    await post({ secret, hooks, on: { 'order.paid': () => {} } }, body, headers);
    expect(hookCalls).toEqual([['refused', facts]]);
  });

  it('receive a request that could not be handled at all as an internal error', async () => {
    const { hooks, hookCalls } = recordHooks();
    await post({ secret: () => Promise.reject(new Error('vault')), hooks, accept: async () => {} });
    expect(hookCalls).toEqual([['refused', { status: 500, code: 'internal_error' }]]);
  });

  it.each<[string, () => unknown]>([
    [
      'throw',
      () => {
        throw new Error('log full');
      },
    ],
    ['reject', () => Promise.reject(new Error('log full'))],
  ])('that %s change nothing', async (_way, hook) => {
    const hooks = { received: hook, duplicate: hook, refused: hook, done: hook, failed: hook };
    const paidFor = vi.fn();
    expect(await post({ secret, hooks, on: { 'order.paid': paidFor } })).toBe(200);
    expect(await post({ secret, hooks, on: { 'order.paid': paidFor } }, paid, {})).toBe(400);
    expect(paidFor).toHaveBeenCalledOnce();
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('may be methods of an instance, which then is `this`', async () => {
    class Telemetry {
      readonly counts: Record<string, number> = {};
      received() {
        this.counts.received = (this.counts.received ?? 0) + 1;
      }
    }
    const hooks = new Telemetry();
    await post({ secret, hooks, accept: async () => {} });
    expect(hooks.counts).toEqual({ received: 1 });
  });

  it('never receive the secret, a header or the body', async () => {
    const { hooks, hookCalls } = recordHooks();
    const headers = sign({ rawBody: paid, secret });
    await post({ secret, hooks, on: { 'order.paid': () => {} } }, paid, headers);
    await post({ secret, hooks, on: { 'order.paid': () => {} } }, paid, {
      ...headers,
      'x-service-timestamp': '1',
    });
    const text = JSON.stringify(hookCalls);
    for (const hidden of [secret, headers['x-service-signature'] ?? '', '19.90', 'USD'])
      expect(text).not.toContain(hidden);
  });
});
