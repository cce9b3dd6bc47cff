import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../src/sandbox/index.js';
import { sign } from '../src/webhooks/index.js';
import { freePort } from './helpers/ports.js';

let sandbox: Sandbox;
let running: ChildProcess[] = [];

beforeAll(async () => {
  sandbox = await createSandbox().listen();
});
beforeEach(() => sandbox.reset());
afterEach(async () => {
  for (const child of running) if (child.exitCode === null && child.kill()) await once(child, 'exit');
  running = [];
});
afterAll(() => sandbox.close());

/** Starts an example as a reader would, with the sandbox in its environment. */
function start(example: string, environment: Record<string, string> = {}, args: string[] = []) {
  const child = spawn(process.execPath, ['--import', 'tsx', `examples/${example}`, ...args], {
    env: { ...process.env, PAYMENTS_API_KEY: sandbox.apiKey, PAYMENTS_BASE_URL: sandbox.url, ...environment },
  });
  running.push(child);
  let output = '';
  const ready = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
        resolve();
      });
    }
  });
  const done = once(child, 'exit').then(([code]) => ({ code, output }));
  return { ready, done, output: () => output };
}

test('list-products.ts walks the list in three ways', async () => {
  const { code, output } = await start('list-products.ts').done;
  expect(output).toBe(
    'Poster: 5.00 USD\nHandmade mug: 19.90 USD\n2 products\npage 1 of 2: Poster\npage 2: Handmade mug\n',
  );
  expect(code).toBe(0);
});

test('handle-errors.ts creates what can be created and explains what cannot', async () => {
  const { code, output } = await start('handle-errors.ts').done;
  expect(output).toContain(sandbox.products[0]?.id);
  expect(output).toContain('has more than two decimals');
  expect(code).toBe(0);
});

test('redirect-to-checkout.ts sends the buyer to the payment page, and waits for the webhook on return', async () => {
  const port = await freePort();
  await start('redirect-to-checkout.ts', { PORT: String(port) }).ready;
  const shop = `http://localhost:${port}`;

  expect(await (await fetch(shop)).text()).toContain('Handmade mug');
  const bought = await fetch(`${shop}/buy`, { method: 'POST', redirect: 'manual' });
  expect(bought.status).toBe(303);
  const [checkout] = sandbox.checkouts;
  expect(bought.headers.get('location')).toBe(checkout?.url);
  const { redirectUrl } = await sandbox.completeCheckout(checkout?.url ?? '');
  expect(redirectUrl).toBe(`${shop}/thanks`);
  expect(await (await fetch(redirectUrl ?? '')).text()).toContain('to be confirmed');
  expect((await fetch(`${shop}/elsewhere`)).status).toBe(404);
});

test('redirect-to-checkout.ts tells the buyer when the service is down that nothing was charged', async () => {
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

  const lines = () => receiver.output().split('\n').slice(1, -1).sort();
  await expect
    .poll(lines)
    .toEqual([
      expect.stringMatching(/^WebhookVerificationError: The signature does not match\./),
      'a new kind of event, ignored: refund.created',
      `fulfil ${right.order.id}: Handmade mug, 19.90 USD`,
      `hold ${wrong.order.id}: nothing costs 0.01 USD`,
    ]);
});

test('import-products.ts creates each row once, reports the refused ones, and can be run again', async () => {
  const first = await start('import-products.ts', {}, ['examples/products.csv']).done;
  expect(first.output).toContain(
    '3 created, 0 already there, 1 refused\n  line 4 (STICKER-1): products.create: price',
  );
  expect(first.code).toBe(1);

  const second = await start('import-products.ts', {}, ['examples/products.csv']).done;
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
