// The tests of what depends on Node (sockets, TLS, streams, SQLite) run on each supported line but this process's own, on which
// `npm test` runs them. The tests of the inbox also run on the first Node that has `node:sqlite` without a flag. The folder for temporary
// files is a link, as on macOS.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
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
  ['22', all],
  ['24', all],
  ['26', all],
]) {
  if (process.version.startsWith(`v${version}.`)) continue;
  const node = fileURLToPath(new URL(`../node_modules/node-${version}/bin/node`, import.meta.url));
  const tests = rooms.map((room) => `test/${room}/`);
  await check(`Node ${version}: the tests of ${rooms.join(', ')}`, () =>
    run(node, ['node_modules/vitest/vitest.mjs', 'run', ...tests], {
      cwd: root,
      env: { TMPDIR },
      timeoutMs: 900_000,
    }),
  );
}

const compat = fileURLToPath(new URL('..', import.meta.url));
for (const version of ['22.13.0', '24', '26']) {
  const node = `${compat}node_modules/node-${version}/bin/node`;
  const [allowed, other] = ['allowed', 'other'].map((name) =>
    realpathSync(mkdtempSync(join(folder, `${name}-`))),
  );
  const flags = [
    '--permission',
    `--allow-fs-read=${compat}`,
    ...['read', 'write'].map((may) => `--allow-fs-${may}=${allowed}/`),
  ];
  await check(
    `Node ${version}: the permission model lets the inbox write in its folder, and node:sqlite anywhere`,
    () => run(node, [...flags, 'versions/permission.mjs', allowed, other], { cwd: compat }),
  );
}
rmSync(folder, { recursive: true });
