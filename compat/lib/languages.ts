// The receivers of doctor/receivers in the languages that are installed.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export type Language = 'Python' | 'PHP' | 'Go';

const file = (name: string) => fileURLToPath(new URL(`../doctor/receivers/${name}`, import.meta.url));

const commands: Record<Language, (port: number) => [program: string, ...args: string[]]> = {
  Python: () => ['python3', file('receivers.py')],
  PHP: (port) => ['php', '-S', `127.0.0.1:${port}`, file('receivers.php')],
  Go: () => ['go', 'run', file('receivers.go')],
};

/** Returns the reason why the tests of a language are skipped; `false` if it is installed. */
export function reasonToSkip(language: Language): string | false {
  const [program] = commands[language](0);
  const { error } = spawnSync(program, [language === 'Go' ? 'version' : '--version']);
  return error ? `${program} is not installed` : false;
}

const children: ChildProcess[] = [];

/** Ends programs with their groups, because `go run` and PHP's server leave children behind, for which the test would wait. */
export function stopAll(): void {
  for (const { pid, exitCode } of children) if (pid !== undefined && exitCode === null) process.kill(-pid);
}

/** Starts the receivers of a language, and returns their address. */
export async function start(language: Language, secret: string): Promise<string> {
  const port = await freePort();
  const [program, ...args] = commands[language](port);
  // A server far from UTC: what mistakes local time for UTC shows it.
  const env = { ...process.env, WEBHOOK_SECRET: secret, TZ: 'Asia/Kolkata', PHP_CLI_SERVER_WORKERS: '4' };
  const child = spawn(program, args, {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', language === 'PHP' ? 'pipe' : 'inherit'],
  });
  children.push(child);
  if (language === 'PHP') {
    for await (const line of createInterface({ input: child.stderr ?? process.stdin }))
      if (line.includes('started')) break;
    child.stderr?.resume();
    return `http://127.0.0.1:${port}`;
  }
  for await (const line of createInterface({ input: child.stdout ?? process.stdin }))
    return `http://127.0.0.1:${line}`;
  throw new Error(`${program} ended before it listened`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
