import fc from 'fast-check';
import { createSandbox, type Sandbox } from 'merchant-payments/sandbox';
import { describe, expect, test } from 'vitest';
import { caller, checkout, open } from './open.js';

const cents = (amount: string) => BigInt(amount.replace('.', ''));

/** Actions of customers, merchants, the clock and faults, in any order. */
const action = fc.oneof(
  fc.record({
    kind: fc.constant('checkout' as const),
    price: fc.integer({ min: 1, max: 100_000 }),
    currency: fc.constantFrom('USD', 'USD', 'EUR'),
  }),
  fc.record({
    kind: fc.constantFrom(
      'complete' as const,
      'fail' as const,
      'cancel' as const,
      'expire' as const,
      'archive' as const,
    ),
    which: fc.nat(5),
  }),
  fc.record({ kind: fc.constant('advance' as const), minutes: fc.integer({ min: 0, max: 1_500 }) }),
  fc.record({ kind: fc.constantFrom('settle' as const, 'fault' as const, 'restart' as const) }),
);

test('no order of actions, clock moves and faults makes money appear or vanish', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
      let sandbox = createSandbox({
        now: new Date(0),
        seed: 1,
        webhook: () => new Response(null, { status: 500 }),
      });
      const refs: string[] = [];
      const paid: string[] = [];
      for (const step of actions) {
        const ref = 'which' in step ? (refs[step.which % Math.max(1, refs.length)] ?? 'chk_none') : '';
        const done = (async () => {
          if (step.kind === 'checkout') {
            const price = (step.price / 100).toFixed(2);
            refs.push((await checkout(sandbox, {}, { name: 'x', price, currency: step.currency })).id);
          } else if (step.kind === 'complete')
            paid.push((await sandbox.completeCheckout(ref)).order.checkoutId);
          else if (step.kind === 'fail') await sandbox.failCheckout(ref);
          else if (step.kind === 'cancel') await sandbox.cancelCheckout(ref);
          else if (step.kind === 'expire') await sandbox.expireCheckout(ref);
          else if (step.kind === 'archive') {
            const product = sandbox.checkouts.find(({ id }) => id === ref)?.productId ?? 'prod_none';
            sandbox.archiveProduct(product);
          } else if (step.kind === 'advance') await sandbox.advanceTime(step.minutes * 60_000);
          else if (step.kind === 'settle') sandbox.settle();
          else if (step.kind === 'restart')
            sandbox = createSandbox({ from: JSON.parse(JSON.stringify(sandbox.snapshot())) });
          else {
            sandbox.failNext({ network: 'reset', when: 'after', path: '/v1/balance' });
            await caller(sandbox)('GET', '/v1/balance');
          }
        })();
        await done.catch((error: unknown) => {
          if (!(error instanceof TypeError)) expect(error).toMatchObject({ name: 'SandboxError' });
        });

        const { available, pending } = sandbox.balance;
        const own = sandbox.orders.filter(({ currency }) => currency === 'USD');
        const total = own.reduce((sum, order) => sum + cents(order.amount), 0n);
        expect(cents(available) + cents(pending)).toBe(total);
        expect([available, pending].join()).not.toContain('-');
        expect(sandbox.orders.map(({ checkoutId }) => checkoutId).sort()).toEqual([...paid].sort());
        expect(new Set(paid).size).toBe(paid.length);
        expect(sandbox.events).toHaveLength(sandbox.orders.length);
        for (const { state, id } of sandbox.checkouts) expect(state === 'paid').toBe(paid.includes(id));
      }
    }),
    { numRuns: 60 },
  );
}, 20_000);

describe('paying', () => {
  test('two payments at once make one order and one event', async () => {
    const { sandbox } = open();
    const { url } = await checkout(sandbox);
    const both = await Promise.allSettled([sandbox.completeCheckout(url), sandbox.completeCheckout(url)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect([sandbox.orders.length, sandbox.events.length]).toEqual([1, 1]);
  });

  test('an order in another currency is paid and notified, and not added', async () => {
    const { sandbox } = open({ webhook: () => new Response() });
    const { order, delivery } = await sandbox.trigger('order.paid', { currency: 'EUR', amount: '5' });
    expect([order.credited, delivery?.ok]).toEqual([undefined, true]);
    expect(sandbox.balance).toMatchObject({ available: '0.00', pending: '0.00', currency: 'USD' });
  });

  test('money waits a day until it is available', async () => {
    const { sandbox } = open({ now: new Date(0) });
    await sandbox.trigger('order.paid', { amount: '10.00' });
    expect(sandbox.balance).toMatchObject({ available: '0.00', pending: '10.00' });
    await sandbox.advanceTime('1d');
    expect(sandbox.balance).toMatchObject({
      available: '10.00',
      frozen: '0.00',
      updatedAt: new Date(86_400_000),
    });
  });

  test('amounts beyond what a number can hold stay exact', async () => {
    const { sandbox } = open();
    for (const amount of ['9007199254740993.01', '0.02']) await sandbox.trigger('order.paid', { amount });
    expect(sandbox.balance.pending).toBe('9007199254740993.03');
  });

  test('a declined payment leaves the checkout open, with the reason', async () => {
    const { sandbox } = open();
    const { url } = await checkout(sandbox);
    await sandbox.failCheckout(url, 'insufficient_funds');
    expect(sandbox.checkouts[0]).toMatchObject({ state: 'open', declined: 'insufficient_funds' });
    await sandbox.completeCheckout(url, { method: 'walletB' });
    expect(sandbox.checkouts[0]).toMatchObject({ state: 'paid', declined: undefined, method: 'walletB' });
  });
});

test.each([
  ['trigger()', (sandbox: Sandbox) => sandbox.trigger('order.paid')],
  ['"Send test event"', sendTestEvent],
])('%s leaves no product on sale', async (_, cause) => {
  const sandbox = createSandbox({ products: [{ name: 'Mug', price: '19.90' }] });
  await cause(sandbox);
  expect(sandbox.orders).toHaveLength(1);
  const onSale = sandbox.products.filter(({ status }) => status === 'ACTIVE');
  expect(onSale.map(({ name }) => name)).toEqual(['Mug']);
});

/** Clicks the button of the page Developer. */
async function sendTestEvent(sandbox: Sandbox) {
  const page = await (await sandbox.fetch('/developer')).text();
  const token = /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const body = new URLSearchParams({ token, type: 'order.paid' });
  await sandbox.fetch('/developer/test-event', { method: 'POST', body });
}

describe('time', () => {
  test('a checkout is payable until it expires', async () => {
    const { sandbox } = open({ now: new Date(0) });
    const [first, second] = [await checkout(sandbox), await checkout(sandbox)];
    await sandbox.advanceTime(30 * 60_000 - 1);
    await sandbox.completeCheckout(first.url);
    await sandbox.advanceTime(1);
    expect(sandbox.checkouts.map(({ state }) => state)).toEqual(['paid', 'expired']);
    for (const act of ['completeCheckout', 'failCheckout', 'cancelCheckout'] as const)
      await expect(sandbox[act](second.url)).rejects.toThrow('has expired. Create another one.');
  });

  test('tasks that become due while the clock moves run in order of time', async () => {
    const seen: string[] = [];
    const { sandbox } = open({
      now: new Date(0),
      webhook: () => {
        seen.push(sandbox.now().toISOString().slice(11, 19));
        return new Response(null, { status: 503 });
      },
    });
    await sandbox.trigger('order.paid');
    await sandbox.advanceTime('2s');
    await sandbox.trigger('order.paid');
    await sandbox.advanceTime('1h');
    expect(seen).toEqual([
      '00:00:00',
      '00:00:02',
      '00:00:05',
      '00:00:07',
      '00:00:35',
      '00:00:37',
      '00:02:35',
      '00:02:37',
      '00:12:35',
      '00:12:37',
    ]);
    expect(sandbox.now()).toEqual(new Date(3_602_000));
  });

  test('the real clock runs on from where it was moved, forward or back', async () => {
    const { sandbox } = open();
    await sandbox.advanceTime('1d');
    const ahead = sandbox.now().getTime() - Date.now();
    expect(Math.abs(ahead - 86_400_000)).toBeLessThan(1000);
    await sandbox.setTime(new Date('2031-05-01T00:00:00Z'));
    expect(sandbox.now().getFullYear()).toBe(2031);
    await sandbox.setTime(new Date('2030-05-01T00:00:00Z'));
    expect(sandbox.now().getFullYear()).toBe(2030);
    await expect(sandbox.setTime(new Date('x'))).rejects.toThrow('setTime: to must be a valid Date');
    await expect(sandbox.advanceTime(-1)).rejects.toThrow('is not a duration');
  });

  test('a sandbox that listens does by itself what falls due', async () => {
    const { sandbox } = open({
      webhook: () => new Response(null, { status: 500 }),
      unspecified: { retries: [1] },
    });
    await sandbox.listen();
    await sandbox.trigger('order.paid');
    expect((await sandbox.waitForEvent(({ state }) => state === 'failed')).attempts).toHaveLength(2);
    await sandbox.close();
  });
});

test('a snapshot goes on where it was taken: data, clock, ids, key, secret and what is still to come', async () => {
  const { sandbox } = open({ now: new Date(0), seed: 3, webhook: () => new Response(null, { status: 500 }) });
  const { url } = await checkout(sandbox);
  await sandbox.trigger('order.paid');
  await sandbox.advanceTime('5s');
  const copy = JSON.parse(JSON.stringify(sandbox.snapshot()));
  let got = 0;
  const again = createSandbox({
    from: copy,
    webhook: () => {
      got++;
      return new Response();
    },
  });
  expect([again.apiKey, again.webhookSecret, again.now()]).toEqual([
    sandbox.apiKey,
    sandbox.webhookSecret,
    sandbox.now(),
  ]);
  expect(again.products).toEqual(sandbox.products);
  expect(again.checkouts).toEqual(sandbox.checkouts);
  expect(again.orders).toEqual(sandbox.orders);
  expect(again.events).toEqual(sandbox.events);
  expect(again.balance).toEqual(sandbox.balance);
  await again.advanceTime('30s');
  expect([got, again.events[0]?.state]).toEqual([1, 'delivered']);
  await again.advanceTime('1d');
  expect(again.balance.available).toBe('19.90');
  expect(again.checkouts.find((one) => one.url === url)?.state).toBe('expired');
  expect((await again.trigger('order.paid')).order.id).toBe((await sandbox.trigger('order.paid')).order.id);
});

test.each([
  ['products.0.id', { products: [{}] }],
  ['products.0.price', { products: [{ id: 'prod_1', name: 'Mug', createdAt: 0, updatedAt: 0 }] }],
  [
    'checkouts.0.expiresAt',
    { checkouts: [{ id: 'chk_1', productId: 'prod_1', amount: '1.00', createdAt: 0 }] },
  ],
  ['products.0.price', { products: [{ id: 'prod_1', name: 'Mug', price: 'x', createdAt: 0, updatedAt: 0 }] }],
  [
    'checkouts.0.amount',
    { checkouts: [{ id: 'chk_1', productId: 'prod_1', amount: '1,00', createdAt: 0, expiresAt: 0 }] },
  ],
  ['orders.0.amount', { orders: [{ id: 'ord_1', amount: '', paidAt: 0, settlesAt: 0 }] }],
  ['orders.0.paidAt', { orders: [{ id: 'ord_1', amount: '1.00', paidAt: 'once' }] }],
  ['events.0.attempts', { events: [{ id: 'evt_1', data: { order_id: 'ord_1' }, body: '{}', createdAt: 0 }] }],
  ['ledger.pending', { ledger: { available: '0', pending: 'much', frozen: '0', updatedAt: 0 } }],
])('a snapshot with a broken part, %s, is refused by its name', (path, part) => {
  const from = { ...createSandbox().snapshot(), ...part };
  expect(() => createSandbox({ from })).toThrow(
    `This is not a snapshot that this version can read (${path})`,
  );
});

test('reset forgets data, log, faults and clock, and keeps key, secret and webhook', async () => {
  const { sandbox, call } = open({ now: new Date(0), seed: 1, webhook: () => new Response() });
  const { apiKey, webhookSecret } = sandbox;
  const before = (await sandbox.trigger('order.paid')).order.id;
  await call('GET', '/v1/balance');
  await sandbox.advanceTime('1h');
  sandbox.failNext({ status: 500 });
  sandbox.reset();
  expect([sandbox.products, sandbox.checkouts, sandbox.orders, sandbox.events, sandbox.requests]).toEqual([
    [],
    [],
    [],
    [],
    [],
  ]);
  expect([sandbox.now(), sandbox.balance.pending]).toEqual([new Date(0), '0.00']);
  expect([sandbox.apiKey, sandbox.webhookSecret]).toEqual([apiKey, webhookSecret]);
  expect((await call('GET', '/v1/balance')).status).toBe(200);
  const after = await sandbox.trigger('order.paid');
  expect([after.order.id, after.delivery?.ok]).toEqual([before, true]);
});
