// `npm run release` runs this: with `--check` before it changes anything, and a workflow runs that on the tag: is there a
// section of the changelog with a date? Then without, to carry the new version into source and README.
import { readFileSync, writeFileSync } from 'node:fs';

const version = process.env.npm_new_version ?? JSON.parse(readFileSync('package.json', 'utf8')).version;

if (process.argv.includes('--check')) check();
else write();

function check() {
  const lines = readFileSync('CHANGELOG.md', 'utf8').split(/\r?\n/);
  const found = lines.find((line) => line.startsWith(`## ${version} `));
  const rest = found?.slice(`## ${version} `.length) ?? '';
  if (/^– \d{4}-\d{2}-\d{2}$/.test(rest)) return;
  console.error(
    `CHANGELOG.md has ${found ? `"${found}", without a date` : `no section of ${version}`}. Write "## ${version} – <year-month-day>", commit it, then run it again.`,
  );
  process.exitCode = 1;
}

function write() {
  for (const [file, former] of [
    ['src/version.ts', /(?<=').*(?=')/],
    ['README.md', /(?<=^Version )[^,]+/m],
  ])
    writeFileSync(file, readFileSync(file, 'utf8').replace(former, version));
}
