// SvelteKit 3 and Astro 7 need Node 22.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const cwd = fileURLToPath(new URL('..', import.meta.url));
const tests = ['--import', 'tsx', '--test', '--test-reporter', 'spec', 'applications/applications.test.ts'];
const { status } = spawnSync('node_modules/node-22/bin/node', tests, { cwd, stdio: 'inherit' });
process.exitCode = status ?? 1;
