// Runs the shop of docs/getting-started.md and those of examples/ as a newcomer does, beside a sandbox: buys something, lets a
// call fail, and buys again. A shop that one failed call ends is no shop.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';

const folder = '.shops';
mkdirSync(folder, { recursive: true });
const [, source] = /^```js\n(.*?)^```/ms.exec(readFileSync('docs/getting-started.md', 'utf8'));
writeFileSync(`${folder}/shop.mjs`, source);

const tsx = ['--import', 'tsx'];
const shops = [
  { page: 'docs/getting-started.md', program: [`${folder}/shop.mjs`] },
  { page: 'examples/shop', program: [...tsx, 'examples/shop/server.ts'] },
  { page: 'examples/redirect-to-checkout.ts', program: [...tsx, 'examples/redirect-to-checkout.ts'] },
];
for (const { page, program } of shops) await sell(page, program);
rmSync(folder, { recursive: true });

async function sell(page, program) {
  const args = [
    'dist/cli.js',
    'exec',
    '--quiet',
    '--webhook-path',
    '/webhooks',
    '--',
    process.execPath,
    ...program,
  ];
  const shop = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    // A port of its own, so that no kept-alive connection leads to the shop before.
    env: {
      ...process.env,
      PORT: String(await freePort()),
      SHOP_FILE: ':memory:',
      TSX_TSCONFIG_PATH: 'examples/tsconfig.json',
    },
  });
  try {
    const address = await addressOf(shop);
    const { origin, checkout } = await buy(address);
    await post(`${origin}/_sandbox/checkouts/${checkout}/complete`, {});

    const form = await formOf(address);
    for (const fault of [{ status: 500 }, { network: 'reset' }]) {
      await post(`${origin}/_sandbox/faults`, { ...fault, times: 3 });
      const { status } = await fetch(form, { method: 'POST', redirect: 'manual' });
      assert.ok(status >= 500, `${page}: a call that failed is answered ${status}`);
      await fetch(address);
    }
    await post(`${origin}/_sandbox/faults`, { clear: true });
    await buy(address);
    assert.equal(shop.exitCode, null, `${page}: the shop has ended`);
    console.log(`shops: ${page} sells, and lives on after calls that failed`);
  } finally {
    shop.kill('SIGTERM');
    if (shop.exitCode === null && shop.signalCode === null) await once(shop, 'exit');
  }
}

async function freePort() {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

async function addressOf(shop) {
  let output = '';
  // Its end must stay open: what the shop prints later would end it.
  for await (const chunk of shop.stdout.iterator({ destroyOnReturn: false })) {
    output += chunk;
    const [, address] = /(?:Open|Shop)\s+(http:\S+)\n/.exec(output) ?? [];
    if (!address) continue;
    shop.stdout.resume();
    return address;
  }
  throw new Error(`the shop does not start:\n${output}`);
}

/** Presses the first Buy button; returns where the payment page is. */
async function buy(address) {
  const { status, headers } = await fetch(await formOf(address), { method: 'POST', redirect: 'manual' });
  assert.equal(status, 303, 'the Buy button does not redirect');
  const { origin, pathname } = new URL(headers.get('location'));
  return { origin, checkout: pathname.split('/').at(-1) };
}

async function formOf(address) {
  const response = await fetch(address);
  assert.equal(response.status, 200);
  const [, attributes] = /<form([^>]*)>/.exec(await response.text()) ?? [];
  return new URL(/action="([^"]*)"/.exec(attributes)?.[1] ?? '', address);
}

async function post(url, body) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  assert.ok(response.ok, `${url} responded ${response.status}: ${await response.clone().text()}`);
}
