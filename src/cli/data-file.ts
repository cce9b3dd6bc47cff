import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SandboxError } from '../sandbox/checks.js';
import { readSnapshot, type SandboxSnapshot } from '../sandbox/service/snapshot.js';
import type { Signal } from '../sandbox/signal.js';
import { CommandError, codeOf, describeReadError, textIn, warn } from './terminal.js';

const saveAfterMs = 300;

/** Returns the data that a sandbox saved in a file; `undefined` if there is no file. Locks the file until this process ends. */
export function loadData(path: string): SandboxSnapshot | undefined {
  lock(path);
  try {
    const snapshot: SandboxSnapshot = JSON.parse(textIn(path));
    readSnapshot(snapshot);
    return snapshot;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    const other = 'it is not the data of a sandbox';
    const why = error instanceof SandboxError ? other : describeReadError(error, other);
    const remedy = 'It was left as it is; move it away, or name another file.';
    throw new CommandError(`--data: ${path} could not be read: ${why}. ${remedy}`);
  }
}

/** Saves the data shortly after each change. The returned function saves it at once. */
export function keepData(path: string, snapshot: () => SandboxSnapshot, changed: Signal<void>) {
  let timer: NodeJS.Timeout | undefined;
  const save = async () => {
    clearTimeout(timer);
    timer = undefined;
    write(path, `${JSON.stringify(snapshot())}\n`);
  };
  changed.subscribe(() => {
    timer ??= setTimeout(() => save().catch(({ message }: Error) => warn(message)), saveAfterMs);
  });
  return save;
}

/**
 * Writes a file beside the old one and renames it, so that a crash leaves either the old or the new file. The data holds key and
 * secret, so only the owner can read the file.
 */
function write(path: string, text: string): void {
  const beside = join(dirname(path), `.${randomUUID()}.sandbox.tmp`);
  try {
    writeFileSync(beside, text, { flag: 'wx', mode: 0o600, flush: true });
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw unwritableError(path, error);
  }
}

/** Locks a data file with this process's id, or throws if another running process holds the lock. A killed process holds none. */
function lock(path: string): void {
  const file = `${path}.lock`;
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw unwritableError(path, error);
    const owner = Number(readFileSync(file, 'utf8'));
    const remedy = `End it, or name another file. If there is none, delete ${file}.`;
    // A process that was killed before it wrote its id leaves an empty file, which counts as unlocked.
    if (owner > 0 && owner !== process.pid && isRunning(owner))
      throw new CommandError(`--data: another sandbox (process ${owner}) keeps ${path}. ${remedy}`);
    writeFileSync(file, String(process.pid));
  }
  process.once('exit', () => rmSync(file, { force: true }));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

const unwritableError = (path: string, error: unknown): CommandError =>
  new CommandError(
    `--data: ${path} could not be written (${codeOf(error) ?? 'unknown error'}). Check its folder and permissions.`,
  );
