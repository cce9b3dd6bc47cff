import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { callCommand } from '../helpers/command.js';

test('merchant-payments examples copies them with a start script, and overwrites nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'examples-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const shop = join(folder, 'shop');
  mkdirSync(join(shop, 'shop'), { recursive: true });
  writeFileSync(join(shop, '.env'), 'mine');
  writeFileSync(join(shop, 'shop/orders.ts'), 'mine');
  const copyInto = (place: string) => callCommand(['examples', place]);

  const { status, stdout } = await copyInto(shop);
  expect(stdout).toMatch(
    /^\d\d files copied to .*shop\n2 files are there already, unchanged: shop\/orders\.ts, \.env\n/,
  );
  expect(stdout).toMatch(/\n {2}cd .*shop\n {2}npm install\n {2}npm start /);
  expect(status).toBe(0);
  const readCopied = (name: string) => readFileSync(join(shop, name), 'utf8');
  expect([readCopied('.env'), readCopied('shop/orders.ts')]).toEqual(['mine', 'mine']);
  expect(readCopied('shop/shop.ts')).toBe(readFileSync('examples/shop/shop.ts', 'utf8'));
  expect(JSON.parse(readCopied('package.json'))).toMatchObject({
    type: 'module',
    scripts: {
      start: expect.stringMatching(
        /^merchant-payments exec --webhook-path \/webhooks -- .* shop\/server\.ts$/,
      ),
    },
  });

  expect((await copyInto(shop)).stdout).toMatch(/^\d\d files are there already, unchanged\n/);
  writeFileSync(join(shop, 'package.json'), '{"scripts":{"test":"vitest"}}');
  expect((await copyInto(shop)).stdout).toMatch(
    /\nThe package\.json of this folder has other scripts, so "npm start" does not run the shop\. .*\n {2}merchant-payments examples shop\n$/,
  );
  expect((await copyInto(join(folder, 'my shop'))).stdout).toMatch(/\n {2}cd ".*my shop"\n {2}npm install\n/);
  writeFileSync(join(folder, 'file'), '');
  const refused = await copyInto(join(folder, 'file'));
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringMatching(/file could not be filled: /)]);
});
