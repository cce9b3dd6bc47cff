import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment, useCommand } from '../helpers/command.js';

/** The command, built once for a test file, in a folder of its own. */
export class Command {
  readonly #command = useCommand();
  readonly folder = this.#command.folder;

  write(name: string, content: string | Uint8Array): void {
    writeFileSync(join(this.folder, name), content);
  }

  /** Starts it in its folder, with these variables and no others of its own. */
  start(args: string[], env: NodeJS.ProcessEnv) {
    const others = Object.entries(environment()).filter(([name]) => !/^(?:PAYMENTS|SANDBOX)_/.test(name));
    const child = spawn(process.execPath, [this.#command.bin, ...args], {
      cwd: this.folder,
      env: { ...Object.fromEntries(others), ...env },
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
