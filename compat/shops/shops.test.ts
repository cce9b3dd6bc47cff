// The shops of examples/ with the real Express and Next.js: bought, paid, and shown as paid when the webhook came.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import { createSandbox, type Sandbox } from 'merchant-payments/sandbox';

const here = new URL('..', import.meta.url);
const secret = 'whsec_of_the_shops';
const running: ChildProcess[] = [];
let sandbox: Sandbox;
let shop: string;
let port: number;

beforeEach(async () => {
  port = await freePort();
  shop = `http://127.0.0.1:${port}`;
  sandbox = await createSandbox({ webhook: `${shop}/webhooks`, webhookSecret: secret }).listen();
  await create('Handmade mug & saucer', '19.90');
});
afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode === null && child.kill()) await once(child, 'exit');
  }
  await sandbox.close();
});

test('the Express shop sells a product, and its order turns paid with the webhook alone', async () => {
  await start(['--import', 'tsx', '.examples/shop-express/shop.ts']);
  await sellOne({ buy: (id) => post(`/buy/${id}`), ordersPath: '/orders' });
});

test('the Next.js shop, built by its own toolchain, sells a product, and its order turns paid with the webhook', async () => {
  sandbox.setWebhook(`${shop}/api/webhooks`);
  const next = ['node_modules/next/dist/bin/next'];
  const build = spawn(process.execPath, [...next, 'build', '.examples/shop-next'], {
    cwd: here,
    stdio: 'inherit',
    env: environment(),
  });
  assert.deepEqual(await once(build, 'exit'), [0, null]);
  await start([...next, 'start', '.examples/shop-next', '--hostname', '127.0.0.1', '--port', String(port)]);
  await sellOne({
    buy: (productId) => post('/api/checkout', new URLSearchParams({ productId })),
    ordersPath: '/thanks',
  });
});

async function sellOne({
  buy,
  ordersPath,
}: {
  buy(id: string): Promise<Response>;
  ordersPath: string;
}): Promise<void> {
  assert.ok(/Handmade mug &(amp|#38); saucer.*19\.90.*USD/s.test(await text('/')));
  const bought = await buy(sandbox.products[0]?.id ?? '');
  assert.equal(bought.status, 303);
  const url = bought.headers.get('location') ?? '';
  assert.ok(sandbox.checkouts.some((checkout) => checkout.url === url));
  assert.ok((await text(ordersPath)).includes('being confirmed'));

  const { delivery } = await sandbox.completeCheckout(url);
  assert.equal(delivery?.status, 200);
  assert.ok(/: (<!-- -->)?paid/.test(await text(ordersPath)));
  const [event] = sandbox.events;
  assert.ok(event);
  assert.equal((await sandbox.redeliver(event.id)).status, 200);
  const forged = await fetch(await sandbox.signedRequest(event, { tamper: 'body' }));
  assert.equal(forged.status, 400);
}

const text = async (path: string) => (await fetch(shop + path)).text();
const post = (path: string, body?: URLSearchParams) =>
  fetch(shop + path, { method: 'POST', redirect: 'manual', ...(body && { body }) });

async function create(name: string, price: string): Promise<void> {
  const headers = { 'x-api-key': sandbox.apiKey, 'content-type': 'application/json' };
  await sandbox.fetch('/v1/products', { method: 'POST', headers, body: JSON.stringify({ name, price }) });
}

function environment(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PORT: String(port),
    SHOP_URL: shop,
    PAYMENTS_API_KEY: sandbox.apiKey,
    PAYMENTS_BASE_URL: sandbox.url,
    PAYMENTS_WEBHOOK_SECRET: secret,
    NEXT_TELEMETRY_DISABLED: '1',
  };
}

/** Starts a shop and waits until it answers. */
async function start(args: string[]): Promise<void> {
  const child = spawn(process.execPath, args, {
    cwd: here,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: environment(),
  });
  running.push(child);
  for (let tries = 0; tries < 150; tries++) {
    const answer = await fetch(shop).catch(() => undefined);
    if (answer) return;
    assert.equal(child.exitCode, null, 'the shop ended before it answered');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert.fail('the shop did not answer in 30 s');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address ? address.port : 0;
}
