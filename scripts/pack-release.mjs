// `node scripts/pack-release.mjs <folder>`: builds, packs and lays out what a release hands over: the tarball, its SBOM
// and their SHA-256 digests. In a workflow the tarball's digest becomes the step's output `digest`.
import { createHash } from 'node:crypto';
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from './npm.mjs';

const [folder] = process.argv.slice(2);
if (!folder) throw new Error('Name the folder to write to: node scripts/pack-release.mjs release');
mkdirSync(folder, { recursive: true });

npm(['run', '--silent', 'build'], { stdio: 'inherit' });
const packed = npm(['pack', '--json', '--silent', '--pack-destination', folder]);
const [{ filename }] = JSON.parse(packed);
copyFileSync('dist/sbom.cdx.json', join(folder, 'sbom.cdx.json'));

const digests = [filename, 'sbom.cdx.json'].map((name) => [
  createHash('sha256')
    .update(readFileSync(join(folder, name)))
    .digest('hex'),
  name,
]);
const sums = digests.map(([digest, name]) => `${digest}  ${name}\n`).join('');
writeFileSync(join(folder, 'SHA256SUMS'), sums);
process.stdout.write(sums);
if (process.env.GITHUB_OUTPUT) appendFileSync(process.env.GITHUB_OUTPUT, `digest=${digests[0][0]}\n`);
