// `vitest run`, the tests of `npm test`, on every Node that is supported besides the one that runs this. The folder for
// temporary files is a link, as on macOS.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check, run } from '../check.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'versions-'));
const TMPDIR = join(folder, 'link');
mkdirSync(join(folder, 'place'));
symlinkSync('place', TMPDIR);
for (const version of [20, 22, 24, 26]) {
  if (process.version.startsWith(`v${version}.`)) continue;
  const node = fileURLToPath(new URL(`../node_modules/node-${version}/bin/node`, import.meta.url));
  await check(`Node ${version}: npm test`, () =>
    run(node, ['node_modules/vitest/vitest.mjs', 'run'], { cwd: root, env: { TMPDIR }, timeoutMs: 480_000 }),
  );
}
rmSync(folder, { recursive: true });
