// Measures all that must be fast and prints the tables: npm run bench [-- --rounds 5]
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

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

const options = process.argv.slice(2);
const parts = [
  ['Requests', 'http/requests.mjs', options],
  ['Iteration', 'http/iterate.mjs', options],
  ['Reading an answer', 'parse/run.mjs', options],
  ['Start', 'start/start.mjs', options],
  ['Size', 'start/size.mjs', []],
];
for (const [title, script, own] of parts) {
  console.log(`\n## ${title}\n`);
  const { status } = spawnSync(process.execPath, [pathOf(script), ...own], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
