import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';

interface StartOptions {
  /** Default: the folder of this process. */
  cwd?: string | undefined;
  /** Default: the environment of this process. */
  env?: NodeJS.ProcessEnv | undefined;
  /** True if the program gets a session of its own, which no terminal controls. */
  detached?: boolean | undefined;
}

/** What a program printed, and its exit code; `null` if a signal ended it. */
export interface ProgramResult {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** A program that was started. `output` holds what it has printed so far. */
export interface RunningProgram {
  child: ChildProcessByStdio<null, Readable, Readable>;
  output: { stdout: string; stderr: string };
  ended: Promise<ProgramResult>;
}

/** Starts a program without input. It is killed once its test is finished. */
export function startProcess(
  program: string,
  args: readonly string[],
  options: StartOptions = {},
): RunningProgram {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  const ended = once(child, 'close').then(([status]) => ({ status, ...output }));
  // Not every test awaits the end.
  ended.catch(() => {});
  return { child, output, ended };
}

/** Runs a program to its end, while this process can serve it. */
export const runProcess = (...given: Parameters<typeof startProcess>): Promise<ProgramResult> =>
  startProcess(...given).ended;

/** Returns what a program printed. Rejects with its errors if it fails. */
export async function outputOf(...given: Parameters<typeof startProcess>): Promise<string> {
  const { status, stdout, stderr } = await runProcess(...given);
  if (status !== 0) throw new Error(`${given[0]} ended with ${status}: ${stderr || stdout}`);
  return stdout;
}

/** Runs a program to its end, while this process stands still. Throws if it cannot be started. */
export function runProcessSync(
  program: string,
  args: readonly string[],
  options: StartOptions & { input?: string } = {},
): ProgramResult {
  const { error, status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', ...options });
  if (error) throw error;
  return { status, stdout, stderr };
}

export const isInstalled = (program: string): boolean => spawnSync(program, ['--version']).status === 0;
