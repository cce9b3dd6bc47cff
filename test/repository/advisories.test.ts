import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runProcessSync } from '../helpers/processes.js';

const folder = mkdtempSync(join(tmpdir(), 'advisories-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the scan of an SBOM with a scanner that exits with one code for the planted SBOM and with another for any other. */
function scan(planted: number, other: number) {
  const scanner = join(folder, 'osv-scanner');
  writeFileSync(
    scanner,
    `#!/bin/sh\ncase "$*" in *planted*) echo "| hono |"; exit ${planted};; *) echo "report of $*"; exit ${other};; esac\n`,
  );
  chmodSync(scanner, 0o755);
  const env = { PATH: `${folder}${delimiter}${process.env.PATH}` };
  return runProcessSync(process.execPath, ['scripts/advisories.mjs', 'published/sbom.cdx.json'], { env });
}

it.skipIf(process.platform === 'win32').each([
  ['an advisory scan that finds nothing passes', 1, 0, 0, 'published/sbom.cdx.json'],
  ['an advisory scan that finds an advisory in the SBOM fails with the report', 1, 1, 1, 'report of scan'],
  ['an advisory scan that misses the planted old version proves nothing', 0, 0, 2, 'does not find'],
  ['an advisory scan that did not run proves nothing', 1, 127, 2, 'exited with 127'],
])('%s', (_, planted, other, status, text) => {
  const result = scan(planted, other);
  expect(result.status).toBe(status);
  expect(result.stdout).toContain(text);
});
