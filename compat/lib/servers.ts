// Redis and PostgreSQL as Debian packages them, each on a free loopback port with its data in a temporary folder.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../../test/helpers/ports.js';
import { listening } from './receiver.js';

export interface Server {
  url: string;
  stop(): Promise<void>;
}

const packages = 'Debian: apt-get install redis-server postgresql';

/** `durable`: every write is on the disk before Redis replies. */
export async function startRedis({ durable = false } = {}): Promise<Server> {
  const folder = temporaryFolder();
  const port = await freePort();
  const options = [
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--save',
    '',
    ...(durable ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no']),
    '--maxmemory-policy',
    'noeviction',
  ];
  const child = await launch('redis-server', options, port);
  return { url: `redis://127.0.0.1:${port}`, stop: () => end(child, 'SIGTERM', folder) };
}

export async function startPostgres(): Promise<Server> {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const version = versions.sort().pop();
  if (!version) throw new Error(`PostgreSQL is not installed. ${packages}`);
  const bin = (name: string) => `/usr/lib/postgresql/${version}/bin/${name}`;
  const user = unprivileged();
  const folder = temporaryFolder();
  if (user) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  execFileSync(bin('initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync'], {
    ...user,
    cwd: folder,
  });
  const port = await freePort();
  const options = ['-D', data, '-p', `${port}`, '-k', folder, '-c', 'listen_addresses=127.0.0.1', '-F'];
  const child = await launch(bin('postgres'), options, port, { ...user, cwd: folder });
  // It listens before it takes queries. pg_isready waits for no such thing by itself.
  const ready = () => spawnSync(bin('pg_isready'), ['-h', '127.0.0.1', '-p', `${port}`]).status === 0;
  for (let tries = 0; tries < 300 && !ready(); tries++) await wait(100);
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  return { url, stop: () => end(child, 'SIGINT', folder) };
}

/** PostgreSQL refuses to run as root: then its own user, which its package creates, runs it. */
function unprivileged(): { uid: number; gid: number } | undefined {
  if (userInfo().uid !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function launch(
  command: string,
  args: string[],
  port: number,
  options: object = {},
): Promise<ChildProcess> {
  const child = spawn(command, args, options);
  await once(child, 'spawn').catch((error) => {
    throw new Error(`${command} cannot be started. ${packages}`, {
      cause: error,
    });
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  await listening(child, port, () => output);
  return child;
}

async function end(child: ChildProcess, signal: NodeJS.Signals, folder: string): Promise<void> {
  if (child.exitCode === null && child.kill(signal)) await once(child, 'exit');
  rmSync(folder, { recursive: true, force: true });
}

function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'merchant-payments-'));
}
