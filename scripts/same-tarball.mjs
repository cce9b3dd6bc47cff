// Rebuilds and compares: `npm run same-tarball` with the package as it is built now, `npm run same-tarball -- <tarball
// or merchant-payments@version>` with that one, such as the one that the registry serves.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { npm, pack } from './npm.mjs';

const folder = mkdtempSync(join(tmpdir(), 'merchant-payments-'));
try {
  const published = archive(process.argv[2] ?? '.');
  npm(['run', '--silent', 'build'], { stdio: 'inherit' });
  const rebuilt = archive('.');
  if (!published.equals(rebuilt)) throw new Error('The tarball is not what the repository builds.');
  console.log('The tarball is what the repository builds.');
} finally {
  rmSync(folder, { recursive: true });
}

/** The tar archive within: compression may differ between versions of Node. */
function archive(spec) {
  const { filename } = pack(spec, folder);
  return gunzipSync(readFileSync(join(folder, filename)));
}
