// Runs the shops of README.md and docs/getting-started.md as a newcomer does, beside a sandbox, and buys something in each.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { freePort } from '../test/helpers/ports.ts';

const folder = '.first-shop';
mkdirSync(folder, { recursive: true });
for (const page of ['README.md', 'docs/getting-started.md']) {
  const text = readFileSync(page, 'utf8');
  const [, source] = /^```js\n(.*?)^```/ms.exec(text);
  const [, command] = /^npx merchant-payments (exec .*) node shop\.mjs$/m.exec(text);
  const port = await freePort();
  const shop = `http://localhost:${port}`;
  writeFileSync(`${folder}/shop.mjs`, source.replaceAll('3000', String(port)));

  const args = [
    ...command.replaceAll('3000', String(port)).split(' '),
    process.execPath,
    `${folder}/shop.mjs`,
  ];
  const program = spawn(process.execPath, ['dist/cli.js', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    let output = '';
    for await (const chunk of program.stdout) {
      output += chunk;
      if (output.includes(`Open ${shop}`)) break;
    }
    assert.match(output, /Open http/, `${page}: the shop does not start:\n${output}`);
    const { status, headers } = await fetch(shop, { method: 'POST', redirect: 'manual' });
    assert.equal(status, 303, `${page}: the Buy button does not redirect`);
    const { origin, pathname } = new URL(headers.get('location'));
    const paid = await fetch(`${origin}/_sandbox/checkouts/${pathname.split('/').at(-1)}/complete`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    const { order } = await paid.json();
    const shown = await (await fetch(shop)).text();
    assert.ok(shown.includes(order.id), `${page}: the shop does not show the paid order`);
    console.log(`first shop: ${page} sells a mug`);
  } finally {
    program.kill('SIGTERM');
    if (program.exitCode === null && program.signalCode === null) await once(program, 'exit');
  }
}
rmSync(folder, { recursive: true });
