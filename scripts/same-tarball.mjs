// Rebuilds and compares: `npm run same-tarball` with the package as it is built now, `npm run same-tarball -- <tarball
// or merchant-payments@version>` with that one, such as the one that the registry serves.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { npm } from './npm.mjs';

const folder = mkdtempSync(join(tmpdir(), 'merchant-payments-'));
try {
  const published = pack(process.argv[2] ?? '.');
  npm(['run', '--silent', 'build'], { stdio: 'inherit' });
  const rebuilt = pack('.');
  if (!published.equals(rebuilt)) throw new Error('The tarball is not what the repository builds.');
  console.log('The tarball is what the repository builds.');
} finally {
  rmSync(folder, { recursive: true });
}

/** The tar archive within: compression may differ between versions of Node. */
function pack(spec) {
  // .npmrc makes npm wait a week for what is new; a release is compared on its first day.
  const args = ['pack', spec, '--json', '--silent', '--min-release-age=0', '--pack-destination', folder];
  const [{ filename }] = JSON.parse(npm(args));
  return gunzipSync(readFileSync(join(folder, filename)));
}
