// `npm run release` runs this: carries the new version into the source, and holds the release until the changelog tells of it.
import { readFileSync, writeFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
if (!readFileSync('CHANGELOG.md', 'utf8').includes(`## ${version} `)) {
  throw new Error(`CHANGELOG.md has no section "## ${version} – <date>". Write it, then run it again.`);
}
const file = 'src/version.ts';
writeFileSync(file, readFileSync(file, 'utf8').replace(/'.*'/, `'${version}'`));
