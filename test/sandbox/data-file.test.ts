import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { loadData } from '../../src/cli/data-file.js';

test('names a snapshot of odd shape for what it is, whatever fails while it is read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'data-file-'));
  const path = join(folder, 'data.json');
  writeFileSync(path, '{}');
  const odd = {
    get version(): number {
      throw new TypeError('odd');
    },
  };
  const { parse } = JSON;
  vi.spyOn(JSON, 'parse').mockImplementation((text) => (text === '{}' ? odd : parse(text)));
  expect(() => loadData(path)).toThrow(
    `--data: ${path} could not be read: it is not the data of a sandbox. It was left as it is`,
  );
  expect(readFileSync(path, 'utf8')).toBe('{}');
  rmSync(folder, { recursive: true });
});
