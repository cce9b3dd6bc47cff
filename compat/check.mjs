// The report of a part: one line a check, the output of the checks that failed, and an exit code.
import { spawn } from 'node:child_process';

/** Runs one check and says how it went; never throws. */
export async function check(name, job) {
  const began = performance.now();
  try {
    await job();
    console.log(`  ok      ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`  FAILED  ${name}\n${error.message.replace(/^/gm, '          ')}`);
  }
}

/** Runs a program to its end and resolves to its output; rejects with the output when it fails or hangs. */
export function run(command, args, { cwd, env, timeoutMs = 120_000 } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${command} ${args.join(' ')} ended with ${signal ?? code}\n${output}`));
    });
  });
}
