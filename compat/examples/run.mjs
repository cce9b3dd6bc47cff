// The examples as a newcomer gets them: npm's defaults, the packed package, `merchant-payments examples`, every Node.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check, run } from '../check.mjs';

const compat = dirname(dirname(fileURLToPath(import.meta.url)));
const project = join(mkdtempSync(join(tmpdir(), 'newcomer-')), 'my-project');
const chromium = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';

mkdirSync(project);
await run('npm', ['init', '-y'], { cwd: project });
// The copy of the shop asks for libsql on Node 20, which has no node:sqlite.
const packages = [process.env.COMPAT_TARBALL, 'libsql@0.5.29'];
await run('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd: project });
// The packages that the first lines of an example ask to install.
for (const name of [
  'tsx',
  'vitest',
  'msw',
  'jest',
  '@playwright',
  '.bin/tsx',
  '.bin/vitest',
  '.bin/jest',
  '.bin/playwright',
])
  symlinkSync(join(compat, 'node_modules', name), join(project, 'node_modules', name));
symlinkSync(join(compat, '../node_modules/csv-parse'), join(project, 'node_modules/csv-parse'));

for (const version of ['20', '22', '24', '26']) {
  const folder = `shop-${version}`;
  const cwd = join(project, folder);
  const PATH = `${join(compat, `node_modules/node-${version}/bin`)}${delimiter}${process.env.PATH}`;
  const npm = (args, env = {}) => run('npm', args, { cwd, env: { PATH, ...env } });
  const example = (...args) => npm(['run', '--silent', 'example', '--', ...args]);

  await check(`Node ${version}: merchant-payments examples ${folder}`, async () => {
    const output = await run('npx', ['merchant-payments', 'examples', folder], {
      cwd: project,
      env: { PATH },
    });
    assert.match(output, /\d\d files copied/);
    const manifest = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'));
    assert.equal(manifest.type, 'module');
    assert.equal(manifest.devDependencies?.tsx !== undefined, version === '20');
  });

  await check(`Node ${version}: examples that run to their end`, async () => {
    assert.match(await example('list-products.ts'), /3 products/);
    assert.match(await example('print-balance.ts'), /available {2}0\.00 USD/);
    assert.match(await example('handle-errors.ts'), /more than two decimals/);
    assert.match(await example('export-products.ts'), /^id,name,price/m);
    assert.match(await example('stock-the-shop.ts'), /Forest candle: 27\.50 USD/);
    await assert.rejects(
      example('import-products.ts', 'products.csv'),
      /3 created, 0 already there, 1 refused/,
    );
    assert.match(await example('check-balance.ts', 'orders.json'), /Your paid orders explain/);
    assert.match(await example('quickstart.ts'), /pending: '19\.90'/);
  });

  await check(`Node ${version}: npm start, and a customer who pays`, async () => {
    // The commonest mistake of a machine: what the shop and the sandbox usually listen on is taken.
    const others = await Promise.all([3000, 4380].map(takePort));
    const { PORT: _, ...inherited } = process.env;
    const child = spawn('npm', ['start'], { cwd, env: { ...inherited, PATH }, detached: true });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
    try {
      while (!output.includes('Ctrl-C')) {
        assert.equal(child.exitCode, null, output);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const [, shopUrl] = /Shop +(http:\S+)/.exec(output);
      const [, sandboxUrl] = /Sandbox +(http:\S+)/.exec(output);
      assert.notEqual(new URL(shopUrl).port, '3000');
      await buyAndPay(shopUrl, sandboxUrl);
    } finally {
      for (const other of others) other?.close();
      process.kill(-child.pid);
      await once(child, 'close');
    }
  });
}

const shop = join(project, 'shop-22');
const env = { NODE_ENV: 'test', CHROMIUM_PATH: chromium };
await check('recipe: Vitest, and Mock Service Worker', () =>
  run('npx', ['vitest', 'run', 'testing/vitest.test.ts', 'testing/msw.test.ts'], { cwd: shop, env }),
);
await check('recipe: Mock Service Worker 3', async () => {
  const msw = join(project, 'node_modules/msw');
  rmSync(msw);
  symlinkSync(join(compat, 'node_modules/msw-3'), msw);
  const PATH = `${join(compat, 'node_modules/node-24/bin')}${delimiter}${process.env.PATH}`;
  await run('npx', ['vitest', 'run', 'testing/msw.test.ts'], { cwd: shop, env: { ...env, PATH } });
});
await check('recipe: Jest', () => run('npx', ['jest', 'testing/jest.test.cjs'], { cwd: shop, env }));
for (const version of ['20', '22'])
  await check(`recipe: Playwright on Node ${version}, with a paid order for each test`, async () => {
    const others = await Promise.all([3000, 4380].map(takePort));
    const PATH = `${join(compat, `node_modules/node-${version}/bin`)}${delimiter}${process.env.PATH}`;
    const own = ['merchant-payments', 'exec', '--webhook-path', '/webhooks', '--'];
    const args = [...own, 'npx', 'playwright', 'test', '--config', 'testing/playwright.config.ts'];
    try {
      await run('npx', args, { cwd: join(project, `shop-${version}`), env: { ...env, PATH, PORT: '' } });
    } finally {
      for (const other of others) other?.close();
    }
  });

rmSync(dirname(project), { recursive: true });

/** Takes a port, if nothing else has it yet. */
async function takePort(port) {
  const server = createServer().listen(port, '127.0.0.1');
  return once(server, 'listening').then(
    () => server,
    () => undefined,
  );
}

async function buyAndPay(shopUrl, sandboxUrl) {
  const [, id] = /action="\/buy\/(\w+)"/.exec(await (await fetch(shopUrl)).text());
  const bought = await fetch(`${shopUrl}/buy/${id}`, { method: 'POST', redirect: 'manual' });
  const checkout = bought.headers.get('location').split('/').at(-1);
  const complete = await fetch(`${sandboxUrl}/_sandbox/checkouts/${checkout}/complete`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  const { redirectUrl } = await complete.json();
  assert.match(await (await fetch(redirectUrl)).text(), /class="state paid"/);
}
