import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'program-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Starts a program on a system that says it is Windows, and prints what Node's `spawn` is called with. */
const onWindows = `
Object.defineProperty(process, 'platform', { value: 'win32' });
const { createRequire, syncBuiltinESMExports } = await import('node:module');
const childProcess = createRequire(import.meta.url)('node:child_process');
childProcess.spawn = (command, args, { windowsVerbatimArguments = false }) => {
  console.log(JSON.stringify([command, args, windowsVerbatimArguments]));
  return { on() {} };
};
syncBuiltinESMExports();
const { startProgram } = await import('./program.mjs');
startProgram(process.argv.slice(1), { env: { PATH: '', COMSPEC: 'cmd.exe' }, stdio: 'ignore' });
`;

beforeAll(() =>
  build({
    entryPoints: ['src/sending/program.ts'],
    outfile: join(folder, 'program.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  }),
);

test('on Windows npm, which is a script there, is started by cmd.exe with its arguments escaped', () => {
  const args = ['--input-type=module', '-e', onWindows, 'npm', 'run', 'a & b'];
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    cwd: folder,
    env: { comspec: 'cmd.exe' },
  });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual(['cmd.exe', ['/d', '/s', '/c', '"npm ^"run^" ^"a^ ^&^ b^""'], true]);
});
