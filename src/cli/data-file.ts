import { access, chmod, constants, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readSnapshot, type SandboxSnapshot } from '../sandbox/service/snapshot.js';
import type { Signal } from '../sandbox/signal.js';
import { CommandError, codeOf } from './terminal.js';

const saveAfterMs = 300;

/**
 * A sandbox's data on disk. Written beside the file and renamed, so that a crash leaves the old or the new one; only
 * its owner can read it, as it holds key and secret. A file that cannot be read is never overwritten.
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

  /** Saves from now on, shortly after each change. */
  keep(snapshot: () => SandboxSnapshot, changed: Signal<void>): void {
    this.#snapshot = snapshot;
    changed.subscribe(() => {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#save().catch((error: unknown) => {
          process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
        });
      }, saveAfterMs);
    });
  }

  /** Saves now. */
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
    const beside = join(dirname(this.#path), `.${process.pid}.sandbox.tmp`);
    try {
      const file = await open(beside, 'w', 0o600);
      try {
        await chmod(beside, 0o600);
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
