// The sample of docs/nextjs.md with the real Next.js, on Node 24, which has node:sqlite.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const cwd = fileURLToPath(new URL('..', import.meta.url));
const tests = ['--import', 'tsx', '--test', '--test-reporter', 'spec', 'next/next.test.ts'];
const { status } = spawnSync('node_modules/node-24/bin/node', tests, { cwd, stdio: 'inherit' });
process.exitCode = status ?? 1;
