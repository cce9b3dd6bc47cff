// `node scripts/pack-release.mjs <folder>`: builds, packs and lays out what a release hands over: the tarball, its SBOM
// and their SHA-256 digests. In a workflow the digest of each becomes an output of the step: `tarball` and `sbom`.
import { createHash } from 'node:crypto';
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm, pack } from './npm.mjs';

const [folder] = process.argv.slice(2);
if (!folder) throw new Error('Name the folder to write to: node scripts/pack-release.mjs release');
mkdirSync(folder, { recursive: true });

npm(['run', '--silent', 'build'], { stdio: 'inherit' });
const { filename } = pack('.', folder);
copyFileSync('dist/sbom.cdx.json', join(folder, 'sbom.cdx.json'));

const files = { tarball: filename, sbom: 'sbom.cdx.json' };
for (const [output, name] of Object.entries(files)) {
  const digest = createHash('sha256')
    .update(readFileSync(join(folder, name)))
    .digest('hex');
  const line = `${digest}  ${name}\n`;
  writeFileSync(join(folder, 'SHA256SUMS'), line, { flag: output === 'tarball' ? 'w' : 'a' });
  process.stdout.write(line);
  if (process.env.GITHUB_OUTPUT) appendFileSync(process.env.GITHUB_OUTPUT, `${output}=${digest}\n`);
}
