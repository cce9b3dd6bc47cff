import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'inbox-command-'));
const bin = join(folder, 'cli.mjs');

beforeAll(async () => {
  await build({
    entryPoints: ['src/cli/main.ts'],
    outfile: bin,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
});
afterAll(() => rmSync(folder, { recursive: true, maxRetries: 10 }));

/** Runs `merchant-payments inbox` to its end, as a process of its own. */
export function runInbox(args: readonly string[], cwd?: string) {
  const { NODE_ENV: _, FORCE_COLOR: __, ...env } = process.env;
  const flags = ['--disable-warning=ExperimentalWarning', bin, 'inbox', ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8', env, cwd });
  return { status, stdout, stderr };
}
