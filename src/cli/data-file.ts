import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { access, constants, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readSnapshot, type SandboxSnapshot } from '../sandbox/service/snapshot.js';
import type { Signal } from '../sandbox/signal.js';
import { CommandError, codeOf, warn } from './terminal.js';

const saveAfterMs = 300;

/**
 * A sandbox's data on disk. Written beside the file and renamed, so that a crash leaves the old or the new one; only
 * its owner can read it, as it holds key and secret. A file that cannot be read is never overwritten, and a file that
 * another sandbox keeps is refused.
 */
export class DataFile {
  readonly #path: string;
  #snapshot: (() => SandboxSnapshot) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /** What was saved; `undefined` if there is no file yet. */
  async load(): Promise<SandboxSnapshot | undefined> {
    await access(dirname(this.#path), constants.W_OK).catch((error: unknown) => {
      throw this.#unwritable(error);
    });
    this.#lock();
    let text: string;
    try {
      text = await readFile(this.#path, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw this.#unreadable(codeOf(error) ?? 'unknown error');
    }
    try {
      const snapshot: SandboxSnapshot = JSON.parse(text);
      readSnapshot(snapshot);
      return snapshot;
    } catch (error) {
      throw this.#unreadable(
        error instanceof SyntaxError ? 'it is not JSON' : 'it is not the data of a sandbox',
      );
    }
  }

  /** Keeps other sandboxes away from the file until this process ends. A process that was killed leaves no claim. */
  #lock(): void {
    const path = `${this.#path}.lock`;
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw this.#unwritable(error);
      const owner = Number(readFileSync(path, 'utf8'));
      if (owner !== process.pid && isRunning(owner))
        throw new CommandError(
          `--data: another sandbox (process ${owner}) keeps ${this.#path}. End it, or name another file. If there is none, delete ${path}.`,
        );
      writeFileSync(path, String(process.pid));
    }
    process.once('exit', () => rmSync(path, { force: true }));
  }

  /** Saves from now on, shortly after each change. */
  keep(snapshot: () => SandboxSnapshot, changed: Signal<void>): void {
    this.#snapshot = snapshot;
    changed.subscribe(() => {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#save().catch((error: unknown) => {
          warn(error instanceof Error ? error.message : String(error));
        });
      }, saveAfterMs);
    });
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#save();
  }

  #save(): Promise<void> {
    this.#saving = this.#saving.catch(() => undefined).then(() => this.#write());
    return this.#saving;
  }

  async #write(): Promise<void> {
    if (!this.#snapshot) return;
    const beside = join(dirname(this.#path), `.${randomUUID()}.sandbox.tmp`);
    try {
      const file = await open(beside, 'wx', 0o600);
      try {
        await file.writeFile(`${JSON.stringify(this.#snapshot())}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(beside, this.#path);
    } catch (error) {
      await rm(beside, { force: true });
      throw this.#unwritable(error);
    }
  }

  #unwritable(error: unknown): CommandError {
    return new CommandError(
      `--data: ${this.#path} could not be written (${codeOf(error) ?? 'unknown error'}). Check its folder and permissions.`,
    );
  }

  #unreadable(why: string): CommandError {
    return new CommandError(
      `--data: ${this.#path} could not be read: ${why}. It was left as it is; move it away, or name another file.`,
    );
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
