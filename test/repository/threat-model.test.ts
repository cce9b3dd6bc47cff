import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const page = readFileSync('docs/security.md', 'utf8');
const rows = page.split('\n').filter((line) => /^\| (?!Threat |\*\*)[^-]/.test(line));
const named = [...page.matchAll(/`((?:test|compat)\/[^`]+\.test\.ts)`: "([^"]+)"/g)];

describe('the threat model', () => {
  it('has threats, and a test in each row', () => {
    expect(rows.length).toBeGreaterThan(30);
    expect(rows.filter((row) => !/`(?:test|compat)\/[^`]+`: "[^"]+" *[,|]/.test(row))).toEqual([]);
  });

  it.each(named.map(([, file = '', title = '']) => ({ file, title })))('$file: $title', ({ file, title }) => {
    expect(existsSync(file), `${file} is gone`).toBe(true);
    const escaped = title
      .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
      .replaceAll("'", String.raw`\\?'`);
    const start = String.raw`(?:\b(?:it|test|describe)(?:\.\w+(?:\([^)]*\))?)?\(|\)\(|^ *\[)\s*`;
    expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`${start}(['"\`])${escaped}\\1`, 'm'));
  });
});
