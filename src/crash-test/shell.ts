import { spawn } from 'node:child_process';
import { once } from 'node:events';

const limitMs = 60_000;

/** Runs a command line of the merchant in a shell, with a text on its standard input, and waits for its end. */
export async function runShell(command: string, env: NodeJS.ProcessEnv, input = '') {
  const child = spawn(command, { shell: true, env, timeout: limitMs, killSignal: 'SIGKILL' });
  const read = { output: '', errors: '' };
  child.stdout.on('data', (chunk) => {
    read.output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    read.errors = (read.errors + chunk).slice(0, 500);
  });
  child.stdin.on('error', () => {}); // a command that reads no input closes it
  child.stdin.end(input);
  await once(child, 'close');
  const code = child.exitCode ?? child.signalCode ?? 'no exit code';
  return { code, output: read.output, errors: read.errors.trim() };
}
