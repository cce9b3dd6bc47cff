// Type-checks every `ts` block of README.md, docs/*.md, skills/ and `@example` in one tsc against dist/, with what sentences name in code, and
// runs each block against a fresh sandbox; the blocks of AGENTS.md are one program. A block may use `payments` and `sandbox` without declaring them. "```ts no-run: <why>" is only checked,
// and "```ts elsewhere: <where>" is left out, because it is checked there with what it imports.
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { proseProgram } from './prose-code.mjs';
import { filesIn, snippets, writeSnippets } from './snippets.mjs';

const folder = '.snippets';
const blocks = snippets().filter((block) => !block.info.startsWith('elsewhere'));
const prose = ['README.md', 'AGENTS.md', ...filesIn('docs', '.md'), ...filesIn('skills', '.md')].map(
  (file) => ({
    file,
    line: 0,
    info: 'no-run: sentences',
    code: proseProgram(readFileSync(file, 'utf8')),
  }),
);
writeSnippets(folder, [...blocks, ...prose], {
  extends: '../tsconfig.json',
  compilerOptions: {
    paths: {},
    allowImportingTsExtensions: false,
    noEmit: false,
    outDir: 'js',
    rootDir: '.',
    noUnusedLocals: false,
    noUnusedParameters: false,
  },
});

const failures = [];
const types = await run('node_modules/typescript/bin/tsc', ['--project', folder, '--pretty', 'false']);
if (types.code !== 0) failures.push(`types:\n${types.output}`);

const runnable = blocks.filter((block) => !block.info.startsWith('no-run'));
const waiting = [...runnable];
const worker = async () => {
  for (let block = waiting.shift(); block; block = waiting.shift()) {
    const { code, output } = await run('scripts/run-snippet.mjs', [`${folder}/js/${block.name}.js`]);
    if (code !== 0) failures.push(`${block.file}:${block.line} does not run:\n${output}`);
  }
};
if (types.code === 0) await Promise.all(Array.from({ length: availableParallelism() }, worker));

for (const failure of failures) console.error(failure);
console.log(`snippets: ${blocks.length} checked, ${runnable.length} run, ${failures.length} failed`);
if (failures.length === 0) rmSync(folder, { recursive: true });
process.exitCode = failures.length === 0 ? 0 : 1;

function run(script, args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [script, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 60_000,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.on('close', (code) => resolve({ code, output }));
  });
}
