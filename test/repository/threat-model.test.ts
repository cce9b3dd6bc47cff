import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const [, page = ''] = readFileSync('docs/security.md', 'utf8').split('## Threats');
const [threats = ''] = page.split('\n## ');
const rows = threats.split('\n').filter((line) => line.startsWith('- '));
/** Each test that a threat names: `room/file`, or `room/folder/file`, and words of its title, as `vitest run <file> -t <words>` takes them. */
const named = rows.flatMap((row) =>
  [...row.matchAll(/`(\w+\/[\w/-]+)`: ("[^"]+"(?:, "[^"]+")*)/g)].flatMap(([, file = '', list = '']) =>
    [...list.matchAll(/"([^"]+)"/g)].map(([, words = '']) => ({ file: `test/${file}.test.ts`, words })),
  ),
);

describe('the threat model', () => {
  it('has threats, and a test for each', () => {
    expect(rows.length).toBeGreaterThan(40);
    expect(rows.filter((row) => !/: .+ \(`\w+\/[\w/-]+`: ".+"\)$/.test(row))).toEqual([]);
    expect(named.length).toBeGreaterThan(rows.length);
  });

  it.each(named)('$file has one test or group of the words: $words', ({ file, words }) => {
    expect(existsSync(file), `${file} is gone`).toBe(true);
    // The titles of tests and groups, and the first cell of a table's row.
    const titles = [
      ...readFileSync(file, 'utf8').matchAll(
        /(?:\b(?:it|test|describe)(?:\.\w+(?:\([^)]*\))?)?\(|\)\(|^ *\[)\s*(['"`])((?:\\.|(?!\1).)+)\1/gm,
      ),
    ].map(([, , title]) => title ?? '');
    expect(titles.filter((title) => title.includes(words))).toHaveLength(1);
  });
});
