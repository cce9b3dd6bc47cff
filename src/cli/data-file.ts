import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { access, constants, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readSnapshot, type SandboxSnapshot } from '../sandbox/service/store.js';
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
    const text = await readFile(this.#path, 'utf8').catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw this.#unreadable(codeOf(error) ?? 'unknown error');
    });
    if (text === undefined) return undefined;
    try {
      const snapshot: SandboxSnapshot = JSON.parse(text);
      readSnapshot(snapshot);
      return snapshot;
    } catch (error) {
      const isJson = !(error instanceof SyntaxError);
      throw this.#unreadable(isJson ? 'it is not the data of a sandbox' : 'it is not JSON');
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
        this.#save().catch(({ message }: Error) => warn(message));
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
      const text = `${JSON.stringify(this.#snapshot())}\n`;
      await writeFile(beside, text, { flag: 'wx', mode: 0o600, flush: true });
      await rename(beside, this.#path);
    } catch (error) {
      await rm(beside, { force: true });
      throw this.#unwritable(error);
    }
  }

  #unreadable(reason: string): CommandError {
    return new CommandError(
      `--data: ${this.#path} could not be read: ${reason}. It was left as it is; move it away, or name another file.`,
    );
  }

  #unwritable(error: unknown): CommandError {
    return new CommandError(
      `--data: ${this.#path} could not be written (${codeOf(error) ?? 'unknown error'}). Check its folder and permissions.`,
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
