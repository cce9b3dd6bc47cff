// The TypeScript samples of README.md, AGENTS.md, docs/*.md, skills/ and of `@example` in src/, for everything that checks them.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/** The names that a sample may use without declaring them. */
const given = `declare const payments: import('merchant-payments').PaymentsClient;
declare const sandbox: import('merchant-payments/sandbox').Sandbox;\n`;

/** Every sample: its file, the line of its fence, what follows "ts" there, and its code. The blocks of AGENTS.md are one. */
export function snippets() {
  const pages = ['README.md', ...filesIn('docs', '.md'), ...filesIn('skills', '.md')].flatMap(fromMarkdown);
  return [...pages, asOneProgram('AGENTS.md'), ...filesIn('src', '.ts').flatMap(fromExamples)];
}

/** Writes `blocks` as files into an empty `folder`, with a tsconfig.json of `config` for them; gives each block its `name`. */
export function writeSnippets(folder, blocks, config) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const block of blocks) {
    block.name = `${block.file.replace(/[/.]/g, '-')}-${block.line}`;
    // The code gets as many empty lines before it as in its source, so that a message names the right line.
    writeFileSync(`${folder}/${block.name}.ts`, `${'\n'.repeat(block.line)}${block.code}\nexport {};\n`);
  }
  writeFileSync(`${folder}/given.d.ts`, given);
  const files = ['given.d.ts', ...blocks.map((block) => `${block.name}.ts`)];
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ ...config, files, include: [] }));
}

export function filesIn(root, extension) {
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
  return fencedBlocks(file, readFileSync(file, 'utf8'), 0);
}

function fromExamples(file) {
  const source = readFileSync(file, 'utf8');
  return [...source.matchAll(/@example\b(.*?)(?=\n\s*\* @|\*\/)/gs)].flatMap((match) => {
    const text = match[1].replace(/^\s*\* ?/gm, '');
    const above = source.slice(0, match.index).split('\n').length - 1;
    const found = fencedBlocks(file, text, above);
    if (found.length === 0) throw new Error(`${file}:${above + 1} has an @example without a \`\`\`ts block.`);
    return found;
  });
}

function fencedBlocks(file, text, above) {
  return [...text.matchAll(/^( *)```ts(?: +([^\n]*))?\n(.*?)^ *```/gms)].map((match) => ({
    file,
    line: above + text.slice(0, match.index).split('\n').length,
    info: match[2] ?? '',
    code: match[3].replaceAll(new RegExp(`^${match[1]}`, 'gm'), ''),
  }));
}
