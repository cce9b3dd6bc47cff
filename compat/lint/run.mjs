// The docs' own TypeScript samples and the examples under typescript-eslint's `strictTypeChecked`, against the packed
// package: what you copy should not need a fix before your linter is content.
import assert from 'node:assert/strict';
import { cpSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import { configs } from 'typescript-eslint';
import { snippets, writeSnippets } from '../../scripts/snippets.mjs';
import { check } from '../check.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = fileURLToPath(new URL('../.lint', import.meta.url));
process.chdir(root);

const rules = {
  // Off only where the shortness of a sample is to blame.
  '@typescript-eslint/no-unused-vars': 'off', // a sample ends before it uses everything
  '@typescript-eslint/require-await': 'off', // a sample's handler logs where yours awaits a database
  // A module of NestJS is an empty class with a decorator.
  '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
};

const wrong = 'payments.balance.retrieve();\nJSON.parse("{}").total;\n';
const planted = { file: 'planted.md', line: 3, code: wrong };
const blocks = [...snippets().filter(({ info }) => !info.startsWith('elsewhere')), planted];
writeSnippets(folder, blocks, { extends: '../tsconfig.json', exclude: [] });
const samples = blocks.map(({ name }) => `${name}.ts`);
const inPages = await lint(samples, ['tsconfig.json'], (path) => blocks[samples.indexOf(path)].file);

const shown =
  'import type { PaymentsClient } from "merchant-payments";\ndeclare const payments: PaymentsClient;\n';
// Prisma's client is generated: inbox/samples.test.ts does that.
cpSync('examples', `${folder}/examples`, { recursive: true, filter: (path) => !/prisma\.ts$/.test(path) });
writeFileSync(`${folder}/examples/planted.ts`, `${shown}\n${wrong}`);
const sqlite = 'fulfilment/node-sqlite.d.ts'; // the types of Node 20 are installed
const projects = Object.entries({
  examples: {
    extends: '../../tsconfig.json',
    include: ['.', `../../${sqlite}`],
    exclude: ['nextjs', 'shop-next'],
  },
  'examples/nextjs': { extends: './tsconfig.json', include: ['.', `../../../${sqlite}`] },
  'examples/shop-next': { extends: './tsconfig.json', include: ['.'] },
}).map(([name, config]) => {
  writeFileSync(`${folder}/${name}/tsconfig.lint.json`, JSON.stringify(config));
  return `${name}/tsconfig.lint.json`;
});
const inExamples = await lint(['examples/**/*.{ts,tsx}'], projects, (path) => path);

await check('a floating promise and an any are found, on their lines', () => {
  for (const found of [inPages.join('\n'), inExamples.join('\n')]) {
    assert.match(found, /planted\.\w+:4: .*no-floating-promises\)$/m);
    assert.match(found, /planted\.\w+:5: .*no-unsafe-member-access\)$/m);
  }
});

await check(`${blocks.length - 1} samples of README.md, AGENTS.md, docs/ and @example`, () => {
  assert.ok(blocks.length > 30);
  expectNone(inPages);
});

await check('the examples, of which the other samples of docs/ are parts', () => expectNone(inExamples));

function expectNone(findings) {
  const others = findings.filter((finding) => !/^[\w/]*planted\./.test(finding));
  if (others.length > 0) throw new Error(others.join('\n'));
}

/** Returns the problems of files of the folder, by the names that `nameOf` gives them. */
async function lint(files, project, nameOf) {
  const eslint = new ESLint({
    cwd: folder,
    overrideConfigFile: true,
    overrideConfig: [
      ...configs.strictTypeChecked,
      { languageOptions: { parserOptions: { project, tsconfigRootDir: folder } } },
      { linterOptions: { reportUnusedDisableDirectives: 'error' }, rules },
    ],
  });
  return (await eslint.lintFiles(files)).flatMap(({ filePath, messages }) => {
    const name = nameOf(filePath.slice(folder.length + 1));
    return messages.map(({ line, ruleId, message }) => `${name}:${line}: ${message} (${ruleId})`);
  });
}
