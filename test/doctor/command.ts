import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll } from 'vitest';

/** The command, built once for a test file, in a folder of its own. */
export class Command {
  readonly folder = mkdtempSync(join(tmpdir(), 'doctor-'));
  readonly #bin = join(this.folder, 'cli.mjs');

  constructor() {
    beforeAll(async () => {
      await build({
        entryPoints: ['src/cli/main.ts'],
        outfile: this.#bin,
        bundle: true,
        platform: 'node',
        format: 'esm',
        logLevel: 'error',
      });
    });
    afterAll(() => rmSync(this.folder, { recursive: true }));
  }

  write(name: string, content: string | Uint8Array): void {
    writeFileSync(join(this.folder, name), content);
  }

  /** Starts it in its folder, with these variables and no others of its own. */
  start(args: string[], env: NodeJS.ProcessEnv) {
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(?:NODE_ENV|FORCE_COLOR)$|^(?:PAYMENTS|SANDBOX)_/.test(name),
    );
    const child = spawn(process.execPath, [this.#bin, ...args], {
      cwd: this.folder,
      env: { ...Object.fromEntries(inherited), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = { stdout: '', stderr: '' };
    child.stdout.on('data', (text) => {
      output.stdout += text;
    });
    child.stderr.on('data', (text) => {
      output.stderr += text;
    });
    const ended = once(child, 'close').then(([status]) => ({ status, ...output }));
    return { child, ended };
  }

  async run(
    args: string[],
    env: NodeJS.ProcessEnv,
  ): Promise<{ status: number; stdout: string; stderr: string }> {
    return this.start(args, env).ended;
  }
}
