// The orders of the demo shops: two customers with the same product, in every order of events.
import { sign } from 'merchant-payments/webhooks';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { decide } from '../../examples/shop/counter.js';
import { type Order, openOrders } from '../../examples/shop/orders.js';

const secret = 'whsec_of_the_shop';
vi.stubEnv('SHOP_FILE', ':memory:');
const orders = openOrders(secret);
beforeEach(() => {
  vi.spyOn(console, 'warn').mockReturnValue();
});
afterAll(() => orders.inbox.close());

let products = 10;
/** A product of a price of its own, which no other test sells. */
const newPrice = () => `${products++}.00`;

async function open(price: string, amount?: string): Promise<Order> {
  const { id, token } = orders.add('candle');
  await orders.book.reserve({ id, price, currency: 'USD' });
  await orders.book.open(id, { expiresAt: new Date(Date.now() + 30 * 60_000), amount });
  return find({ id, token });
}

function find({ id }: { id: string; token: string }): Order {
  const order = orders.list().find((one) => one.id === id);
  if (!order) throw new Error(`There is no order ${id}.`);
  return order;
}

async function receive(order_id: string, amount: string): Promise<void> {
  const rawBody = JSON.stringify({ type: 'order.paid', data: { order_id, amount, currency: 'USD' } });
  const headers = sign({ rawBody, secret });
  const request = new Request('https://shop.example/webhooks', { method: 'POST', body: rawBody, headers });
  expect((await orders.inbox.handler(request)).status).toBe(200);
  await orders.inbox.idle();
}

const heldAt = async (price: string) =>
  (await orders.book.held())
    .filter(({ payment }) => payment.amount === price)
    .map(({ payment }) => payment.id);

const form = (fields: Record<string, string>) => decide(orders, new URLSearchParams(fields));

/**
 * Two customers, one product: `A:opens B:opens A:event A:returns`. Who `attacks` has read `successUrl` on his own
 * unpaid payment page and opens it; who `guesses` makes a token up.
 */
async function play(steps: string[], price: string, amounts: 'apart' | 'shared') {
  const opened = new Map<string, Order>();
  const orderNamed = (name: string) => {
    const order = opened.get(name);
    if (!order) throw new Error(`${name} has no order`);
    return order;
  };
  for (const step of steps) {
    const [name = '', what] = step.split(':');
    if (what === 'opens') opened.set(name, await open(price, amounts === 'shared' ? price : undefined));
    else if (what === 'event') await receive(`${name} at ${price}`, orderNamed(name).amount);
    else if (what === 'returns' || what === 'attacks')
      await orders.comeBack(orderNamed(name).id, orderNamed(name).token);
    else if (what === 'guesses')
      expect(await orders.comeBack(orderNamed(name).id, 'a guess')).toBeUndefined();
  }
  return (name: string) => find(orderNamed(name));
}

const whole = ['opens', 'event', 'returns'];

test.each([
  ['both pay and come back', whole, whole],
  ['both pay, one comes back', whole, ['opens', 'event']],
  ['one pays and comes back, one opens his successUrl unpaid', whole, ['opens', 'attacks']],
  [
    'one pays and does not come back, one opens his successUrl unpaid',
    ['opens', 'event'],
    ['opens', 'attacks'],
  ],
  ['one pays and comes back, one guesses', whole, ['opens', 'guesses']],
])('two customers, one product, every order of events: %s', async (_title, a, b) => {
  const all = interleavings([...a.map((what) => `A:${what}`), ...b.map((what) => `B:${what}`)]);
  expect(all.length).toBe(new Set(all.map(String)).size);
  for (const steps of all) {
    const text = steps.join(' ');
    const prices = { apart: newPrice(), shared: newPrice() };
    const apart = await play(steps, prices.apart, 'apart');
    for (const name of ['A', 'B'])
      expect(apart(name).paidAs, `${name} of ${text}`).toBe(
        steps.includes(`${name}:event`) ? `${name} at ${prices.apart}` : null,
      );
    const shared = await play(steps, prices.shared, 'shared');
    const paidAs = ['A', 'B'].map((name) => shared(name).paidAs);
    expect([null, `A at ${prices.shared}`], text).toContain(paidAs[0]);
    expect([null, `B at ${prices.shared}`], text).toContain(paidAs[1]);
    const events = steps.filter((step) => step.endsWith('event')).length;
    const credited = paidAs.filter((one) => one !== null).length;
    const held = await heldAt(prices.shared);
    expect(held, text).toHaveLength(events - credited);
    for (const payment of held) await orders.book.dismiss(payment);
  }
});

test('a person decides on a held payment once: for one of its orders, or for none', async () => {
  const price = newPrice();
  const [one, other] = [await open(price, price), await open(price, price)];
  await receive('shared', price);
  expect([find(one).paidAs, find(other).paidAs, await heldAt(price)]).toEqual([null, null, ['shared']]);
  expect(await form({ payment: 'shared', order: 'no such order' })).toBe(false);
  expect(await form({ payment: '', order: other.id })).toBe(false);
  expect(await form({ payment: 'shared', order: other.id })).toBe(true);
  expect(await form({ payment: 'shared', order: one.id })).toBe(false);
  expect([find(one).paidAs, find(other).paidAs, await heldAt(price)]).toEqual([null, 'shared', []]);

  await receive('stray', '1.00');
  expect(await form({ payment: 'stray', order: '' })).toBe(true);
  expect(await form({ payment: 'no such payment', order: '' })).toBe(false);
  expect(await heldAt('1.00')).toEqual([]);
});

test('closing one of two orders fulfils the other one, and an order that was closed too early can be credited', async () => {
  const price = newPrice();
  const [one, other] = [await open(price, price), await open(price, price)];
  await receive('for one', price);
  expect(await form({ close: other.id })).toBe(true);
  expect([find(one).paidAs, find(other).isClosed]).toEqual(['for one', true]);
  expect(await form({ close: one.id })).toBe(false);

  await receive('for the other', price);
  expect([find(other).paidAs, await heldAt(price)]).toEqual([null, ['for the other']]);
  expect(await form({ payment: 'for the other', order: other.id })).toBe(true);
  expect(find(other).paidAs).toBe('for the other');
});

test('one order id with two amounts is credited once, and the second delivery is parked', async () => {
  const [one, other] = [await open(newPrice()), await open(newPrice())];
  await receive('twice', one.amount);
  await receive('twice', other.amount);
  expect([find(one).paidAs, find(other).paidAs]).toEqual(['twice', null]);
  const [parked] = await orders.inbox.list({ state: 'parked' });
  expect(parked?.key).toMatch(/^order\.paid:twice#/);
});

test('an order of which nobody has seen the payment page leaves nothing behind', async () => {
  const price = newPrice();
  const { id } = orders.add('candle');
  await orders.book.reserve({ id, price, currency: 'USD' });
  await orders.drop(id);
  expect(orders.list().some((order) => order.id === id)).toBe(false);
  expect((await open(price)).amount).toBe(price);
});

/** Every order in which the steps can happen. */
function interleavings(steps: string[], done: string[] = []): string[][] {
  if (done.length === steps.length) return [done];
  const possible = steps.filter((step) => {
    const [name] = step.split(':');
    return !done.includes(step) && (step === `${name}:opens` || done.includes(`${name}:opens`));
  });
  return possible.flatMap((step) => interleavings(steps, [...done, step]));
}
