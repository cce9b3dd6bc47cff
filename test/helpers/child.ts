import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';
import { runProcess } from './processes.js';

/** Runs programs against the package in a Node process of their own. */
export interface Children {
  /** Runs the text of a module, in which `entry` is the package's URL; resolves to what it printed, as JSON. */
  run(program: string, options?: { flags?: string[]; env?: Record<string, string> }): Promise<unknown>;
}

/** The built package, where that is what the tests run. */
const built = process.env.TEST_DIST === undefined ? undefined : pathToFileURL('dist/index.js').href;

/** Bundles the package once for a file of tests, so that a child process starts in no time and with nothing else. */
export function children(): Children {
  let folder = '';
  let count = 0;
  beforeAll(async () => {
    // On macOS the folder for temporary files is a link, and the stack of an error names where it leads.
    folder = await realpath(await mkdtemp(join(tmpdir(), 'merchant-payments-')));
    if (built) return;
    await build({
      entryPoints: ['src/index.ts'],
      outdir: folder,
      bundle: true,
      splitting: true,
      platform: 'node',
      format: 'esm',
      outExtension: { '.js': '.mjs' },
      logLevel: 'error',
    });
  });
  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));

  return {
    async run(program, { flags = [], env = {} } = {}) {
      const path = join(folder, `program-${++count}.mjs`);
      const entry = built ?? pathToFileURL(join(folder, 'index.mjs')).href;
      await writeFile(path, `const entry = ${JSON.stringify(entry)};\n${program}`);
      const { status, stdout, stderr } = await runProcess(process.execPath, [...flags, path], {
        env: { PATH: process.env.PATH, ...env },
      });
      if (status !== 0 || stderr !== '') throw new Error(`the child ended with ${status}: ${stderr}`);
      return JSON.parse(stdout);
    },
  };
}
