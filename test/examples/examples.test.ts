import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { payInBrowser } from '../../examples/quickstart-customer.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/index.js';
import { sign } from '../../src/webhooks/index.js';
import { filesIn } from '../helpers/files.js';
import { freePort } from '../helpers/ports.js';
import { type RunningProgram, startProcess } from '../helpers/processes.js';
import { statusBeforeEnd, statusOf, strangeTargets } from '../helpers/strange-requests.js';

const tsx = import.meta.resolve('tsx');
let sandbox: Sandbox;
let running: RunningProgram[] = [];

beforeAll(async () => {
  sandbox = await createSandbox().listen();
});
beforeEach(() => sandbox.reset());
afterEach(stop);
afterAll(() => sandbox.close());

async function stop(): Promise<void> {
  for (const { child, ended } of running) {
    child.kill();
    await ended;
  }
  running = [];
}

/** Starts an example as a reader would, with the sandbox in its environment. */
function start(
  example: string,
  environment: Record<string, string> = {},
  args: string[] = [],
  cwd = 'examples',
) {
  const started = startProcess(process.execPath, ['--import', tsx, resolve('examples', example), ...args], {
    cwd,
    env: {
      ...process.env,
      TSX_TSCONFIG_PATH: resolve('tsconfig.json'),
      PAYMENTS_API_KEY: sandbox.apiKey,
      PAYMENTS_BASE_URL: sandbox.url,
      SHOP_FILE: ':memory:',
      ...environment,
    },
  });
  running.push(started);
  const { child, ended } = started;
  const output = () => started.output.stdout + started.output.stderr;
  const ready = Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data')]);
  const done = ended.then(({ status }) => ({ code: status, output: output() }));
  return { ready, done, output };
}

test('list-products.ts walks the list in three ways', async () => {
  const { code, output } = await start('list-products.ts').done;
  expect(output).toBe(
    'Forest candle: 27.50 USD\nField guide to slow mornings: 34.00 USD\nHandmade mug: 19.90 USD\n3 products\n' +
      'page 1 of 2: Forest candle, Field guide to slow mornings\npage 2: Handmade mug\n',
  );
  expect(code).toBe(0);
});

test('handle-errors.ts creates what can be created and explains what cannot', async () => {
  const { code, output } = await start('handle-errors.ts').done;
  expect(output).toContain(sandbox.products[0]?.id);
  expect(output).toContain('has more than two decimals');
  expect(code).toBe(0);
});

test('handle-errors.ts finds the product whose response was lost, and creates no other', async () => {
  sandbox.failNext({ method: 'POST', path: '/v1/products', when: 'after', network: 'reset' });
  const { code, output } = await start('handle-errors.ts').done;
  expect(sandbox.products).toHaveLength(1);
  expect(output).toContain(sandbox.products[0]?.id);
  expect(code).toBe(0);
});

test.each(['redirect-to-checkout.ts', 'handle-errors.ts', 'list-products.ts', 'stock-the-shop.ts'])(
  '%s creates nothing again when it is started again',
  async (example) => {
    const environment = { PORT: String(await freePort()) };
    for (let time = 1; time <= 2; time++) {
      const { ready, done } = start(example, environment);
      await (example.startsWith('redirect') ? ready : done);
      await stop();
    }
    const names = sandbox.products.map(({ name }) => name);
    expect(names.length).toBeGreaterThan(0);
    expect(new Set(names).size).toBe(names.length);
  },
);

test('redirect-to-checkout.ts sends the buyer to the payment page, and waits for the webhook on return', async () => {
  const port = await freePort();
  await start('redirect-to-checkout.ts', { PORT: String(port) }).ready;
  const shop = `http://localhost:${port}`;

  expect(await (await fetch(`${shop}/?utm_source=mail`)).text()).toContain('Handmade mug');
  const bought = await fetch(`${shop}/buy`, { method: 'POST', redirect: 'manual' });
  expect(bought.status).toBe(303);
  const [checkout] = sandbox.checkouts;
  expect(bought.headers.get('location')).toBe(checkout?.url);
  const { redirectUrl } = await sandbox.completeCheckout(checkout?.url ?? '');
  expect(redirectUrl).toBe(`${shop}/thanks`);
  expect(await (await fetch(`${redirectUrl}?order=1`)).text()).toContain('to be confirmed');
  expect((await fetch(`${shop}/elsewhere`)).status).toBe(404);
});

test('redirect-to-checkout.ts says that nothing was charged if the service is down', async () => {
  const port = await freePort();
  await start('redirect-to-checkout.ts', { PORT: String(port) }).ready;
  for (const { id } of sandbox.products) sandbox.archiveProduct(id);

  const refused = await fetch(`http://localhost:${port}/buy`, { method: 'POST', redirect: 'manual' });
  expect(refused.status).toBe(502);
  expect(await refused.text()).toContain('Nothing was charged');
});

test('receive-webhook.ts fulfils each order once, holds one of a price that it never asked, and ignores new events', async () => {
  const port = await freePort();
  const secret = sandbox.webhookSecret;
  const receiver = start('receive-webhook.ts', { PORT: String(port), PAYMENTS_WEBHOOK_SECRET: secret });
  await receiver.ready;
  sandbox.setWebhook(`http://localhost:${port}/webhooks`);

  const right = await sandbox.trigger('order.paid', { amount: '19.90' });
  const wrong = await sandbox.trigger('order.paid', { amount: '0.01' });
  expect([right.delivery?.status, wrong.delivery?.status]).toEqual([200, 200]);
  expect((await sandbox.redeliver(right.event.id)).status).toBe(200);
  expect((await fetch(await sandbox.signedRequest(right.event, { tamper: 'body' }))).status).toBe(400);
  const refund = '{"type":"refund.created"}';
  const headers = sign({ rawBody: refund, secret });
  expect(
    (await fetch(`http://localhost:${port}/webhooks`, { method: 'POST', body: refund, headers })).status,
  ).toBe(200);
  expect((await fetch(`http://localhost:${port}/elsewhere`)).status).toBe(404);
  expect((await fetch(`http://localhost:${port}/webhooks?from=sandbox`)).status).toBe(405);

  const lines = () => receiver.output().split('\n').slice(1, -1).sort();
  await expect
    .poll(lines)
    .toEqual([
      expect.stringMatching(/^WebhookVerificationError signature_mismatch: /),
      `fulfil ${right.order.id}: Handmade mug, 19.90 USD`,
      `hold ${wrong.order.id}: nothing costs 0.01 USD`,
      'ignored an event of type refund.created',
    ]);
});

test.each(['webhooks/node-http.ts', 'receive-webhook.ts', 'redirect-to-checkout.ts', 'shop/server.ts'])(
  '%s responds 404 to each strange request, and ends at none',
  async (example) => {
    const port = await freePort();
    await start(example, { PORT: String(port), PAYMENTS_WEBHOOK_SECRET: sandbox.webhookSecret }).ready;
    for (const target of strangeTargets) expect(await statusOf(port, target), target).toBe(404);
  },
);

test('shop/server.ts opens its orders with the key of the link that it prints, and to no header', async () => {
  const port = await freePort();
  const shop = `http://127.0.0.1:${port}`;
  // An empty key, as a `.env` may have it, is none: it would open to everybody.
  const { output } = start('shop/server.ts', {
    PORT: String(port),
    ORDERS_KEY: '',
    PAYMENTS_WEBHOOK_SECRET: sandbox.webhookSecret,
  });
  const address = () => /Orders\s+(\S+)\n/.exec(output())?.[1] ?? '';
  await expect.poll(address, { timeout: 20_000 }).toMatch(`${shop}/orders?key=`);
  const local = { 'x-forwarded-host': 'localhost', 'x-forwarded-for': '127.0.0.1' };
  for (const guess of ['/orders', '/orders?key=', '/orders?key=guess'])
    for (const method of ['GET', 'POST'])
      expect((await fetch(shop + guess, { method, headers: local })).status, guess).toBe(403);
  expect(await statusBeforeEnd(port, '/orders?key=guess')).toBe(403);
  expect((await fetch(address(), { headers: { 'x-forwarded-for': '203.0.113.7' } })).status).toBe(200);
});

test('shop/server.ts says which Node has SQLite, or what to install', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'without-sqlite-'));
  const sqlite = process.getBuiltinModule('node:sqlite');
  const environment = {
    PAYMENTS_WEBHOOK_SECRET: sandbox.webhookSecret,
    ...(sqlite && { NODE_OPTIONS: '--no-experimental-sqlite' }),
  };
  expect(await start('shop/server.ts', environment, [], folder).done).toEqual({
    code: 1,
    output:
      'The shop keeps its orders in SQLite, which Node has from 22.13 on. On Node 20, run: npm install libsql\n',
  });
  rmSync(folder, { recursive: true, maxRetries: 10 });
});

test('import-products.ts creates each row once, reports the refused ones, and can be run again', async () => {
  const first = await start('import-products.ts', {}, ['products.csv']).done;
  expect(first.output).toContain(
    '3 created, 0 already there, 1 refused\n  line 4 (STICKER-1): products.create: price',
  );
  expect(first.code).toBe(1);

  const second = await start('import-products.ts', {}, ['products.csv']).done;
  expect(second.output).toContain('0 created, 3 already there, 1 refused');
  expect(sandbox.products.map(({ name }) => name)).toEqual([
    'Handmade mug',
    'Poster "Northern lights", A2',
    'Tote bag',
  ]);
});

test('import-products.ts stops when the key is refused, before it reports rows as bad', async () => {
  const { code, output } = await start('import-products.ts', { PAYMENTS_API_KEY: 'service_test_wrong' }).done;
  expect(output).toContain('AuthenticationError');
  expect(output).not.toContain('refused\n  line');
  expect(code).not.toBe(0);
});

test('export-products.ts writes CSV that no spreadsheet takes for a formula', async () => {
  const { ok } = await sandbox.fetch('/v1/products', {
    method: 'POST',
    headers: { 'x-api-key': sandbox.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name: '=1+1 "x"', price: '5' }),
  });
  const { code, output } = await start('export-products.ts').done;
  expect(ok).toBe(true);
  expect(output.split('\n')[1]).toContain(`,"'=1+1 ""x""","5.00","USD","ACTIVE","",`);
  expect(code).toBe(0);
});

test('print-balance.ts prints the three amounts', async () => {
  const { code, output } = await start('print-balance.ts').done;
  expect(output).toMatch(/^available {2}0\.00 USD\npending {4}0\.00 USD\nfrozen {5}0\.00 USD\nas of /);
  expect(code).toBe(0);
});

describe('check-balance.ts', () => {
  const explained = /^Your paid orders explain what came in\./m;
  const unexplainedText = (amount: string) => `\n${amount} USD came in that no paid order explains.`;
  let folder: string;
  let orders: { id: string; amount: string; currency: string; paidAt: string | null }[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'check-balance-'));
    orders = [];
  });
  afterEach(() => rmSync(folder, { recursive: true, maxRetries: 10 }));

  async function check(environment: Record<string, string> = {}) {
    writeFileSync(join(folder, 'orders.json'), JSON.stringify(orders));
    return start('check-balance.ts', environment, ['orders.json'], folder).done;
  }
  const order = (id: string, amount: string, paidAt?: Date) => {
    orders.push({ id, amount, currency: 'USD', paidAt: paidAt?.toISOString() ?? null });
  };
  /** The shop takes the webhook of an order. */
  const take = (id: string) => {
    orders = orders.map((one) => (one.id === id ? { ...one, paidAt: new Date().toISOString() } : one));
  };
  const pay = (amount: string) => sandbox.trigger('order.paid', { amount });

  test('prints what it compares, and leaves out other currencies', async () => {
    await pay('19.90');
    const { output, code } = await start('check-balance.ts', {}, [resolve('examples/orders.json')], folder)
      .done;
    expect(output).toContain(
      'balance      19.90 USD\ncame in      19.90 USD, or more\n' +
        'paid orders  19.90 USD\nleft out     1 in other currencies\n',
    );
    expect(output).toMatch(explained);
    expect(code).toBe(0);
  });

  test('reports the lost webhook of one order when a late one explains that of another', async () => {
    order('A', '19.90');
    order('B', '19.90');
    expect((await check()).code).toBe(0);
    await pay('19.90');
    const late = await check();
    expect(late.output).toContain(unexplainedText('19.90'));
    expect(late.code).toBe(1);

    take('A');
    await pay('19.90');
    const lost = await check();
    expect(lost.output).toContain(unexplainedText('19.90'));
    expect(lost.output).toMatch(/explains\. .*\n {2}order B is unpaid and asks for 19\.90 USD\n$/);
    expect(lost.code).toBe(1);

    take('B');
    expect(await check()).toMatchObject({ code: 0, output: expect.stringMatching(explained) });
  });

  test('adds a second lost payment to the first, names its order, and says the same when nothing happens', async () => {
    order('A', '19.90');
    order('B', '27.50');
    await pay('19.90');
    expect((await check()).output).toContain('order A is unpaid and asks for 19.90 USD');
    await pay('27.50');
    const second = await check();
    expect(second.output).toContain(unexplainedText('47.40'));
    expect(second.output).toContain('order B is unpaid and asks for 27.50 USD');
    expect(await check()).toMatchObject({
      code: 1,
      output: expect.stringContaining(unexplainedText('47.40')),
    });
  });

  test('forgets no surplus when the money is settled or paid out', async () => {
    await pay('30.00');
    await check();
    sandbox.settle();
    expect((await check()).output).toContain(unexplainedText('30.00'));
    sandbox.reset(); // the balance is paid out
    const after = await check();
    expect(after.output).toContain('balance      0.00 USD, -30.00 more than in the last run');
    expect(after.output).toContain(unexplainedText('30.00'));
    expect(after.code).toBe(1);
  });

  test('takes money that comes after its webhook for no surplus, however often it runs between', async () => {
    order('A', '19.90', new Date());
    expect((await check()).code).toBe(0);
    expect((await check()).code).toBe(0);
    await pay('19.90');
    expect(await check()).toMatchObject({ code: 0, output: expect.stringMatching(explained) });
    await pay('19.90');
    expect(await check()).toMatchObject({
      code: 1,
      output: expect.stringContaining(unexplainedText('19.90')),
    });
  });

  test('hides no later payment behind the fees and payouts of orders that were paid over an hour ago', async () => {
    let available = '18.00';
    const service = createServer((_, response) => {
      const data = { available, pending: '0.00', frozen: '0.00', currency: 'USD', updatedAt: Date.now() };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ code: 0, message: 'success', data }));
    });
    const port = await freePort();
    await once(service.listen(port, '127.0.0.1'), 'listening');
    const own = { PAYMENTS_BASE_URL: `http://127.0.0.1:${port}` };
    order('A', '20.00', new Date(Date.now() - 2 * 3_600_000));
    const first = await check(own);
    expect(first.output).toContain('balance      18.00 USD');
    expect(first.output).toContain('came in      20.00 USD, or more');
    expect(first.code).toBe(0);

    available = '36.00';
    expect((await check(own)).output).toContain(unexplainedText('18.00'));
    order('C', '20.00', new Date());
    available = '54.00';
    expect((await check(own)).output).toContain(unexplainedText('16.00')); // less by the fee of C
    service.close();
  });
});

const files = filesIn('examples').filter((name) => /\.tsx?$/.test(name));
const source = (name: string) => readFileSync(`examples/${name}`, 'utf8');

test('no two examples with a server of their own listen on the same port, and each takes another from PORT', () => {
  const own = files.filter((name) => !name.startsWith('nextjs/')); // Next.js listens for that one
  const ports = own.flatMap((name) => /process\.env\.PORT \?\? '(\d+)'/.exec(source(name))?.[1] ?? []);
  expect(ports.length).toBeGreaterThan(8);
  expect(new Set(ports).size).toBe(ports.length);
});

test('quickstart.ts --open stays until the browser is back at the shop', async () => {
  const { output, done } = start('quickstart.ts', { PATH: '' }, ['--open']);
  const pageUrl = () => /open it yourself: (\S+)/.exec(output())?.[1] ?? '';
  await expect.poll(pageUrl, { timeout: 20_000 }).not.toBe('');
  const shopPort = Number(/your shop listens at http:\S+:(\d+)/.exec(output())?.[1]);
  for (const target of strangeTargets) expect(await statusOf(shopPort, target), target).toBe(200);
  const returnUrl = await payInBrowser(pageUrl());
  await expect.poll(output, { timeout: 20_000 }).toContain('payments.balance.retrieve()');
  expect(output()).not.toContain('Done in');
  expect((await fetch(pageUrl())).status).toBe(200);
  expect(await (await fetch(returnUrl)).text()).toBe('Thank you. Back to your terminal.');
  expect(await done).toMatchObject({ code: 0, output: expect.stringContaining('Done in') });
});

test('each example that runs says how in its first lines', () => {
  const parts =
    /^(shop\/(?!server)|shop-next|nextjs|fulfilment\/databases|observability|quickstart-customer|webhooks\/next-route|.*\.config)/;
  for (const name of files.filter((one) => !parts.test(one)))
    expect(source(name).slice(0, 700), name).toMatch(/^(\/\/| \*).* (node|npx|npm run) \S/m);
});
