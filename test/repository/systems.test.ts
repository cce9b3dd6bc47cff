import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runProcessSync } from '../helpers/processes.js';

const git = (...args: string[]) => runProcessSync('git', args).stdout;
const files = git('ls-files', '-z').split('\0').filter(Boolean);
const manifest: { scripts: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'));

/** Causes of failures on Windows or macOS alone, found by reading. */
describe('on other systems', () => {
  it('every file can be checked out: no name that Windows forbids, none that differs by case alone', () => {
    const names = files.flatMap((file) => file.split('/'));
    const forbidden = /[<>:"\\|?*]|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
    expect(names.filter((name) => forbidden.test(name))).toEqual([]);
    expect(new Set(files.map((file) => file.toLowerCase())).size).toBe(files.length);
    expect(files.filter((file) => file.length > 150)).toEqual([]);
  });

  it('text keeps its line feeds, which bodies, vectors and the formatter count', () => {
    expect(readFileSync('.gitattributes', 'utf8')).toMatch(/^\* text=auto eol=lf$/m);
    expect(
      git('ls-files', '--eol')
        .split('\n')
        .filter((line) => /^i\/(?:crlf|mixed)/.test(line)),
    ).toEqual([]);
  });

  it.each(Object.entries(manifest.scripts))('npm run %s needs no Unix shell', (_name, command) => {
    expect(command).not.toMatch(
      /'[^"]*'(?![^"]*")|\$|`|;(?![^"]*")|(?:^|&& )(?:\w+=|rm |cp |mv |mkdir |\.\/|\.ci)/,
    );
  });

  it('no path is read from a URL by hand: it would begin with a slash before the drive', () => {
    const code = files.filter((file) =>
      /^(?:src|test|scripts|examples|bench|conformance)\/.*\.(?:ts|mjs)$/.test(file),
    );
    const byHand = code.filter((file) =>
      /import\.meta\.url\s*\)\s*\.pathname/.test(readFileSync(file, 'utf8')),
    );
    expect(byHand).toEqual([]);
  });

  it('no list of a folder and its folders keeps the backslashes of Windows', () => {
    const code = files.filter((file) => /^(?:src|test|scripts)\/.*\.(?:ts|mjs)$/.test(file));
    const keeping = code.filter((file) => {
      const text = readFileSync(file, 'utf8');
      return (
        /readdirSync\([^;]*?recursive: true/.test(text) && !/replaceAll\((?:sep|'\\\\'), '\/'\)/.test(text)
      );
    });
    // It reads what it found, and prints it.
    expect(keeping).toEqual(['scripts/site/check.mjs']);
  });

  it('no script starts npm by its bare name, which is a script for cmd.exe there', () => {
    const starts = /(?:spawn|exec)\w*\(\s*'(?:npm|npx)'/;
    const found = files.filter(
      (file) =>
        /^(?:src|test|scripts)\/.*\.(?:ts|mjs)$/.test(file) && starts.test(readFileSync(file, 'utf8')),
    );
    expect(found).toEqual(['scripts/npm.mjs']);
  });
});
