import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { version } from '../../src/version.js';

test('the version in the source is that of package.json', () => {
  const { version: published } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(version).toBe(published);
});
