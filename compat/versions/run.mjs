// The tests of what depends on Node (sockets, TLS, streams, SQLite) on the oldest and the newest that is supported, and those of the inbox
// on the first that has `node:sqlite` without a flag. `test.yml` runs the whole of `npm test` on these and all between. The
// folder for temporary files is a link, as on macOS.
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
const all = ['client', 'faults', 'transport', 'promises', 'webhooks', 'inbox'];
for (const [version, rooms] of [
  ['20', all],
  ['22.13.0', ['inbox']],
  ['26', all],
]) {
  if (process.version.startsWith(`v${version}.`)) continue;
  const node = fileURLToPath(new URL(`../node_modules/node-${version}/bin/node`, import.meta.url));
  const tests = rooms.map((room) => `test/${room}/`);
  await check(`Node ${version}: the tests of ${rooms.join(', ')}`, () =>
    run(node, ['node_modules/vitest/vitest.mjs', 'run', ...tests], {
      cwd: root,
      env: { TMPDIR },
      timeoutMs: 480_000,
    }),
  );
}
rmSync(folder, { recursive: true });
