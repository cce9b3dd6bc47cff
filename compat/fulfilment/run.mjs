// Runs the suite on Node 24, which has node:sqlite and runs TypeScript.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const tests = ['--import', 'tsx', '--test', '--test-reporter', 'spec', '--test-concurrency', '1'];
const files = ['fulfilment/sqlite-shop.test.ts', 'fulfilment/engines.test.ts'];
const { status } = spawnSync('node_modules/node-24/bin/node', [...tests, ...files], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
