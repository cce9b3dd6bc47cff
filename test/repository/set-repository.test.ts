import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runProcessSync } from '../helpers/processes.js';

const script = resolve('scripts/set-repository.mjs');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'set-repository-'));
  for (const file of ['package.json', 'README.md', '.github/CODEOWNERS']) cpSync(file, join(folder, file));
});
afterEach(() => rmSync(folder, { recursive: true, maxRetries: 10 }));

const run = (...args: string[]) => runProcessSync(process.execPath, [script, ...args], { cwd: folder });
const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const relativeLinks = () =>
  [...read('README.md').matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, path]) => path);

test('set-repository writes repository, homepage and bugs beside the licence, and nothing else', () => {
  const before = JSON.parse(read('package.json'));
  expect(run('https://github.com/acme/payments').status).toBe(0);
  const after = JSON.parse(read('package.json'));
  expect(after).toEqual({
    ...before,
    repository: { type: 'git', url: 'git+https://github.com/acme/payments.git' },
    homepage: 'https://github.com/acme/payments#readme',
    bugs: 'https://github.com/acme/payments/issues',
  });
  const names = Object.keys(after);
  expect(names.slice(names.indexOf('license') + 1, names.indexOf('license') + 4)).toEqual([
    'repository',
    'homepage',
    'bugs',
  ]);
});

test('every link of the README becomes absolute: pages as blob, pictures as raw', () => {
  run('https://github.com/acme/payments');
  expect(relativeLinks()).toEqual([]);
  expect(read('README.md')).toContain('](https://github.com/acme/payments/blob/main/docs/going-live.md)');
  expect(read('README.md')).toContain(
    '](https://github.com/acme/payments/raw/main/docs/images/payment-page.png)',
  );
});

test('the address can be changed later, and set twice', () => {
  run('https://github.com/acme/payments');
  expect(run('https://github.com/other/place.git').status).toBe(0);
  expect(run('https://github.com/other/place/').status).toBe(0);
  expect(read('README.md') + read('package.json')).not.toContain('acme');
  expect(read('README.md')).toContain('](https://github.com/other/place/blob/main/docs/going-live.md)');
});

test('--check passes once the address is set, and fails without it, naming the command', () => {
  run('https://github.com/acme/payments');
  expect(run('--check').status).toBe(0);
  writeFileSync(join(folder, '.github/CODEOWNERS'), '# Owners\n* @acme\n/.github/\n');
  const { repository, bugs, ...others } = JSON.parse(read('package.json'));
  expect([repository, bugs]).not.toContain(undefined);
  writeFileSync(join(folder, 'package.json'), JSON.stringify(others));
  writeFileSync(join(folder, 'README.md'), 'Read [the docs](docs/faq.md).');
  const { status, stderr } = run('--check');
  expect(status).toBe(1);
  expect(stderr).toContain('package.json has no "repository".\npackage.json has no "bugs".\n');
  expect(stderr).toContain('README.md has links that do not work on npm: docs/faq.md.');
  expect(stderr).toContain('.github/CODEOWNERS has files without an owner.');
  expect(stderr).toContain('node scripts/set-repository.mjs https://github.com/<owner>/<name>');
});

test('every line of CODEOWNERS gets the owner: that of the repository, or the one named', () => {
  const ownedFiles = () =>
    read('.github/CODEOWNERS')
      .split('\n')
      .filter((line) => line && !line.startsWith('#'));
  run('https://github.com/acme/payments');
  expect(ownedFiles()).toContain('/.github/ @acme');
  expect(ownedFiles().filter((line) => !line.endsWith(' @acme'))).toEqual([]);
  expect(run('https://github.com/acme/payments', '@acme/maintainers').status).toBe(0);
  expect(ownedFiles().filter((line) => !/^\S+ @acme\/maintainers$/.test(line))).toEqual([]);
  for (const owner of [['acme'], ['@a', '@b']]) {
    expect(run('https://github.com/acme/payments', ...owner).stderr).toContain(
      'is not one owner. Pass a name',
    );
  }
});

test.each([[], ['payments'], ['http://github.com/acme/payments'], ['https://github.com/acme']])(
  'refuses %s, and changes nothing',
  (...args) => {
    const before = read('package.json') + read('README.md');
    const { status, stderr } = run(...args);
    expect(status).toBe(1);
    expect(stderr).toContain('Pass one such as https://github.com/<owner>/<name>.');
    expect(read('package.json') + read('README.md')).toBe(before);
  },
);
