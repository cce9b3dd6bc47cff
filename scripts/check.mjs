// `npm run check`, after a build: the package as others get it. Runs every check, also after a failure, and names what failed.
import { spawnSync } from 'node:child_process';

const checks = [
  'node scripts/check-lock.mjs',
  'node scripts/check-lock.mjs compat',
  'node scripts/check-lock.mjs bench',
  'publint --strict',
  'attw --pack --quiet', // types of every entry, in each way to resolve modules
  'knip', // files, exports and dependencies that nobody uses
  'size-limit',
  'node scripts/api-report.mjs', // the public types, against api/
  'node scripts/check-package.mjs', // what the tarball holds and installs
  'node scripts/check-snippets.mjs', // every sample of the docs compiles and runs
  'node scripts/check-shops.mjs', // the shop of README.md
];

// The programs of node_modules/.bin are on the path of an npm script.
const failed = checks.filter((command) => {
  console.log(`\n── ${command}`);
  return spawnSync(command, { shell: true, stdio: 'inherit' }).status !== 0;
});
console.log(`\nchecks: ${checks.length - failed.length} passed, ${failed.length} failed`);
for (const command of failed) console.log(`  FAILED  ${command}`);
process.exitCode = failed.length > 0 ? 1 : 0;
