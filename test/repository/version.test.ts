import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { version } from '../../src/version.js';

test('the version in the source and in the README is that of package.json', () => {
  const { version: published } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(version).toBe(published);
  expect(readFileSync('README.md', 'utf8')).toContain(`\nVersion ${published}, `);
});

test('no page names a version, which the next release would make false', () => {
  const pages = readdirSync('docs').filter((name) => name.endsWith('.md'));
  expect(pages.length).toBeGreaterThan(10);
  for (const page of pages)
    expect(readFileSync(`docs/${page}`, 'utf8'), page).not.toMatch(/(?:merchant-payments@|--branch v)\d/);
});
