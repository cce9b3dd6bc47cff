// Starts an example as a reader would, and delivers to it what a sandbox signed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/helpers/ports.js';

const compat = fileURLToPath(new URL('..', import.meta.url));

export interface Receiver {
  url: string;
  port: number;
  /** The orders that it has fulfilled, in order. */
  fulfilled(): string[];
  output(): string;
  /** Ends it, and resolves to its exit code when all of its output is there. */
  stop(): Promise<number | null>;
}

/** Runs `.examples/<name>` on a free port until `stop()`. */
export async function start(
  name: string,
  environment: Record<string, string>,
  node = process.execPath,
): Promise<Receiver> {
  const port = await freePort();
  const child = spawn(node, ['--import', 'tsx', `.examples/${name}`], {
    cwd: compat,
    env: { ...process.env, ...environment, PORT: String(port) },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  await listening(child, port, () => output);
  return {
    url: `http://localhost:${port}/webhooks`,
    port,
    fulfilled: () => Array.from(output.matchAll(/^fulfil (\S+):/gm), (match) => match[1] ?? ''),
    output: () => output,
    stop: async () => {
      if (child.exitCode === null && child.kill()) await once(child, 'close');
      return child.exitCode;
    },
  };
}

/** Waits until something accepts connections on the port. */
export async function listening(child: ChildProcess, port: number, output: () => string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}:\n${output()}`);
    if (await accepts(port)) return;
    await wait(50);
  }
  throw new Error(`nothing listens on port ${port}:\n${output()}`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: 'localhost' });
    socket.once('connect', () => socket.end(() => resolve(true)));
    socket.once('error', () => resolve(false));
  });
}
