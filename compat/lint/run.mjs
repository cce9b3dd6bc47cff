// The docs' own TypeScript samples under typescript-eslint's `strictTypeChecked`, against the packed package: what you copy
// from a page should not need a fix before your linter is content.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import { configs } from 'typescript-eslint';
import { snippets, writeSnippets } from '../../scripts/snippets.mjs';
import { check } from '../check.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = fileURLToPath(new URL('../.lint', import.meta.url));
process.chdir(root);

/** Off only where the shortness of a sample is to blame. */
const off = {
  '@typescript-eslint/no-unused-vars': 'off', // a sample ends before it uses everything
  '@typescript-eslint/require-await': 'off', // a sample's handler logs where yours awaits a database
};

const eslint = new ESLint({
  cwd: folder,
  overrideConfigFile: true,
  overrideConfig: [
    ...configs.strictTypeChecked,
    { languageOptions: { parserOptions: { project: `${folder}/tsconfig.json`, tsconfigRootDir: folder } } },
    { linterOptions: { reportUnusedDisableDirectives: 'error' }, rules: off },
  ],
});

const planted = {
  file: 'planted.md',
  line: 3,
  code: 'payments.balance.retrieve();\nJSON.parse("{}").total;\n',
};
const blocks = [...snippets().filter(({ info }) => !info.startsWith('elsewhere')), planted];
writeSnippets(folder, blocks, { extends: '../tsconfig.json', exclude: [] });
const findings = (await eslint.lintFiles(blocks.map(({ name }) => `${name}.ts`))).flatMap(
  ({ filePath, messages }) => {
    const { file } = blocks.find(({ name }) => filePath.endsWith(`/${name}.ts`));
    return messages.map(({ line, ruleId, message }) => `${file}:${line}: ${message} (${ruleId})`);
  },
);

await check('a floating promise and an any are found, on their lines', () => {
  const found = findings.join('\n');
  assert.match(found, /^planted\.md:4: .*no-floating-promises\)$/m);
  assert.match(found, /^planted\.md:5: .*no-unsafe-member-access\)$/m);
});

await check(`${blocks.length - 1} samples of README.md, AGENTS.md, docs/ and @example`, () => {
  assert.ok(blocks.length > 30);
  const inPages = findings.filter((finding) => !finding.startsWith(planted.file));
  if (inPages.length > 0) throw new Error(inPages.join('\n'));
});
