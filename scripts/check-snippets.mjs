// Type-checks every `ts` block of README.md, docs/*.md and `@example` in one tsc against dist/, and runs each against a fresh
// sandbox; the blocks of AGENTS.md are one program. A block may use `payments` and `sandbox` without declaring them. "```ts no-run: <why>" is only checked,
// and "```ts elsewhere: <where>" is left out, because it is checked there with what it imports.
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const folder = '.snippets';
const blocks = [
  ...['README.md', ...filesIn('docs', '.md')].flatMap(fromMarkdown),
  asOneProgram('AGENTS.md'),
  ...filesIn('src', '.ts').flatMap(fromExamples),
].filter((block) => !block.info.startsWith('elsewhere'));

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
for (const block of blocks) {
  block.name = `${block.file.replace(/[/.]/g, '-')}-${block.line}`;
  // As many empty lines before it as in its source, so that a message names the right line.
  writeFileSync(`${folder}/${block.name}.ts`, `${'\n'.repeat(block.line)}${block.code}\nexport {};\n`);
}
writeFileSync(
  `${folder}/given.d.ts`,
  `declare const payments: import('merchant-payments').PaymentsClient;
declare const sandbox: import('merchant-payments/sandbox').Sandbox;\n`,
);
writeFileSync(
  `${folder}/tsconfig.json`,
  JSON.stringify({
    extends: '../tsconfig.json',
    compilerOptions: {
      paths: {},
      allowImportingTsExtensions: false,
      noEmit: false,
      outDir: 'js',
      rootDir: '.',
      noUnusedLocals: false,
    },
    files: ['given.d.ts', ...blocks.map((block) => `${block.name}.ts`)],
    include: [],
  }),
);

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

function filesIn(root, extension) {
  return readdirSync(root, { recursive: true })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith(extension) && !path.startsWith('api/'))
    .map((path) => `${root}/${path}`);
}

/** An agent reads all of them before it writes: they hold together, on their lines. */
function asOneProgram(file) {
  const found = fromMarkdown(file);
  const code = found.reduce((text, block) => {
    const gap = block.line - found[0].line - text.split('\n').length + 1;
    return `${text}${'\n'.repeat(gap)}${block.code}`;
  }, '');
  return { file, line: found[0].line, info: '', code };
}

function fromMarkdown(file) {
  return fenced(file, readFileSync(file, 'utf8'), 0);
}

function fromExamples(file) {
  const source = readFileSync(file, 'utf8');
  return [...source.matchAll(/@example\b(.*?)(?=\n\s*\* @|\*\/)/gs)].flatMap((match) => {
    const text = match[1].replace(/^\s*\* ?/gm, '');
    const above = source.slice(0, match.index).split('\n').length - 1;
    const found = fenced(file, text, above);
    if (found.length === 0) throw new Error(`${file}:${above + 1} has an @example without a \`\`\`ts block.`);
    return found;
  });
}

function fenced(file, text, above) {
  return [...text.matchAll(/^( *)```ts(?: +([^\n]*))?\n(.*?)^ *```/gms)].map((match) => ({
    file,
    line: above + text.slice(0, match.index).split('\n').length,
    info: match[2] ?? '',
    code: match[3].replaceAll(new RegExp(`^${match[1]}`, 'gm'), ''),
  }));
}

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
