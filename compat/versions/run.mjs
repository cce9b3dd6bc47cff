// The tests of what depends on Node (sockets, TLS, streams, SQLite) on every Node that is supported besides the one that runs
// this; those of the inbox also on the first that has `node:sqlite` without a flag. `test.yml` runs the whole of `npm test` on
// each of them. The folder for temporary files is a link, as on macOS.
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
const rooms = ['client', 'faults', 'transport', 'promises', 'webhooks', 'inbox'].map(
  (room) => `test/${room}/`,
);
for (const [version, tested] of [
  [20, rooms],
  ['22.13.0', ['test/inbox/']],
  [22, rooms],
  [24, rooms],
  [26, rooms],
]) {
  if (process.version.startsWith(`v${version}.`)) continue;
  const node = fileURLToPath(new URL(`../node_modules/node-${version}/bin/node`, import.meta.url));
  await check(`Node ${version}: the tests that depend on it`, () =>
    run(node, ['node_modules/vitest/vitest.mjs', 'run', ...tested], {
      cwd: root,
      env: { TMPDIR },
      timeoutMs: 480_000,
    }),
  );
}
rmSync(folder, { recursive: true });
