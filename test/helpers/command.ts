import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';

/** The command of the source, bundled once for a test file in a folder of its own. */
export function useCommand() {
  const folder = mkdtempSync(join(tmpdir(), 'command-'));
  const bin = join(folder, 'cli.mjs');
  beforeAll(async () => {
    const common = {
      bundle: true,
      minify: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'error',
      // For packages in CommonJS.
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
    } as const;
    await build({ ...common, entryPoints: ['src/cli/main.ts'], outfile: bin });
  });
  afterAll(() => rmSync(folder, { recursive: true, maxRetries: 10 }));
  return { folder, bin };
}

/** The environment as it is now, without what changes how the command behaves. */
export function environment(): NodeJS.ProcessEnv {
  const { NODE_ENV: _, FORCE_COLOR: __, PORT: ___, ...env } = process.env;
  return env;
}
