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
  return withoutUmask(gunzipSync(readFileSync(join(folder, filename))));
}

/**
 * A file's mode follows the umask of whoever cloned the repository. Like git, this keeps of it only whether the owner may
 * execute the file. Each entry is a header of 512 bytes and its content, filled up to the next 512.
 */
function withoutUmask(tar) {
  for (let at = 0; tar[at]; at += 512 + Math.ceil(octal(tar, at + 124, 12) / 512) * 512) {
    const mode = octal(tar, at + 100, 8) & 0o100 ? '000755 \0' : '000644 \0';
    tar.write(mode, at + 100, 'latin1');
    tar.fill(' ', at + 148, at + 156); // the checksum, which covers the mode
  }
  return tar;
}

function octal(tar, start, length) {
  return Number.parseInt(tar.toString('latin1', start, start + length), 8);
}
