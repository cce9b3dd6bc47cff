// Measures all that must be fast and prints the tables. Every part takes --rounds: node bench/run.mjs --rounds 5
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { defaultRuntime } from './lib/measure.mjs';

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const needs = [
  ['node_modules', 'the other clients are not installed: npm ci --prefix bench'],
  ['../dist/index.js', 'the package is not built: npm run build'],
];
for (const [path, problem] of needs) {
  if (existsSync(pathOf(path))) continue;
  console.error(`bench: ${problem}`);
  process.exit(1);
}

const { values } = parseArgs({ options: { rounds: { type: 'string' } } });
const options = values.rounds ? ['--rounds', values.rounds] : [];
const parts = [
  ['Requests', 'http/requests.mjs', options],
  ['Iteration', 'http/iterate.mjs', options],
  ['Reading an answer', 'parse/run.mjs', options],
  ['Start', 'start/start.mjs', options],
  ['Size', 'start/size.mjs', []],
  ['Webhooks', 'webhook/verify.mjs', options],
  ['Sandbox', 'sandbox/run.mjs', options],
];
for (const [title, script, own] of parts) {
  console.log(`\n## ${title}\n`);
  const { status } = spawnSync(defaultRuntime, ['--expose-gc', pathOf(script), ...own], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
