import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { signalGroup } from './program.js';

const limitMs = 60_000;

/** Runs a command line of the merchant in a shell, with a text on its standard input, and waits for its end. */
export async function runShell(
  command: string,
  env: NodeJS.ProcessEnv,
  { input = '', signal }: { input?: string; signal: AbortSignal },
) {
  const child = spawn(command, { shell: true, env, detached: process.platform !== 'win32' });
  const read = { output: '', errors: '' };
  child.stdout.on('data', (chunk) => {
    read.output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    read.errors = (read.errors + chunk).slice(0, 500);
  });
  child.stdin.on('error', () => {}); // a command that reads no input closes it
  child.stdin.end(input);
  const over = new AbortController();
  const limit = wait(limitMs, true, { signal: AbortSignal.any([over.signal, signal]) });
  // What the command has started ends with it, or it would hold the output open.
  const isLate = limit
    .catch(() => false)
    .then((late) => {
      if (!over.signal.aborted) signalGroup(child, 'SIGKILL');
      return late;
    });
  await once(child, 'close');
  over.abort();
  const code = (await isLate) ? `no end within ${limitMs / 1000} s` : (child.exitCode ?? child.signalCode);
  return { code, output: read.output, errors: read.errors.trim() };
}
