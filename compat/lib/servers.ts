// Redis, PostgreSQL, PgBouncer and MariaDB as Debian packages them, each on a free loopback port with its data in a temporary folder.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../../test/helpers/ports.js';
import { listening } from './receiver.js';

export interface Server {
  url: string;
  stop(): Promise<void>;
}

export interface Postgres extends Server {
  /** Ends all of its processes at once, as a crash does, and starts it again: it recovers from its log. */
  crash(): Promise<void>;
  /** Ends its connections, ends, and starts again. */
  restart(): Promise<void>;
  /** Stops all of its processes, and lets them go on. */
  freeze(): () => void;
  /** Starts it again if it has ended by itself, as on a full disk. */
  revive(): Promise<void>;
}

const packages = 'Debian: apt-get install redis-server postgresql pgbouncer mariadb-server';

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

/** MariaDB, which speaks MySQL's protocol, with a database for each name. */
export async function startMariadb(...databases: string[]): Promise<Server> {
  const folder = temporaryFolder();
  const port = await freePort();
  const user = userInfo().uid === 0 ? ['--user=mysql'] : [];
  chmodSync(folder, 0o777);
  const init = join(folder, 'init.sql');
  // One statement a line.
  const statements = ["CREATE USER shop@'127.0.0.1';", "GRANT ALL ON *.* TO shop@'127.0.0.1';"];
  statements.push(...databases.map((name) => `CREATE DATABASE ${name};`));
  writeFileSync(init, statements.join('\n'));
  const data = `--datadir=${join(folder, 'data')}`;
  const made = spawnSync('mariadb-install-db', [data, '--skip-test-db', ...user], { encoding: 'utf8' });
  if (made.status !== 0)
    throw new Error(`mariadb-install-db failed: ${made.error ?? made.stderr}. ${packages}`);
  const options = [data, ...user, `--port=${port}`, '--bind-address=127.0.0.1', '--skip-name-resolve'];
  const child = await launch(
    'mariadbd',
    [
      ...options,
      `--socket=${join(folder, 'socket')}`,
      `--pid-file=${join(folder, 'pid')}`,
      `--init-file=${init}`,
    ],
    port,
  );
  return { url: `mysql://shop@127.0.0.1:${port}`, stop: () => end(child, 'SIGTERM', folder) };
}

/** Starts a server; with `primary`, a read-only copy that follows it. Its data are in `folder`, or in a temporary one. */
export async function startPostgres(primary?: Postgres, folder = temporaryFolder()): Promise<Postgres> {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const version = versions.sort().pop();
  if (!version) throw new Error(`PostgreSQL is not installed. ${packages}`);
  const bin = (name: string) => `/usr/lib/postgresql/${version}/bin/${name}`;
  const user = unprivilegedUser();
  if (user) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const inFolder = { ...user, cwd: folder };
  if (primary)
    execFileSync(
      bin('pg_basebackup'),
      ['-d', primary.url, '-D', data, '-R', '--no-sync', '-c', 'fast'],
      inFolder,
    );
  else
    execFileSync(
      bin('initdb'),
      ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
      inFolder,
    );
  const port = await freePort();
  const options = ['-D', data, '-p', `${port}`, '-k', folder, '-c', 'listen_addresses=127.0.0.1', '-F'];
  const start = async () => {
    const started = await launch(bin('postgres'), options, port, { ...user, cwd: folder });
    // It listens before it takes queries. pg_isready waits for no such thing by itself.
    const isReady = () => spawnSync(bin('pg_isready'), ['-h', '127.0.0.1', '-p', `${port}`]).status === 0;
    for (let tries = 0; tries < 300 && !isReady(); tries++) await wait(100);
    return started;
  };
  let child = await start();
  const restart = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await once(child, 'exit');
    child = await start();
  };
  const signalAll = (signal: string) => {
    const pids = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ');
    for (const pid of [child.pid, ...pids])
      try {
        process.kill(Number(pid), signal);
      } catch {
        // This backend has ended; the others must still go on.
      }
  };
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    crash: () => restart('SIGQUIT'),
    restart: () => restart('SIGINT'),
    revive: async () => {
      if (child.exitCode !== null || child.signalCode !== null) child = await start();
    },
    freeze: () => {
      signalAll('SIGSTOP');
      return () => signalAll('SIGCONT');
    },
    stop: () => end(child, 'SIGINT', folder),
  };
}

/** Before a PostgreSQL server: lends its connections for a transaction at a time. */
export async function startPgBouncer(url: string, connections = 3): Promise<Server> {
  const folder = temporaryFolder();
  const user = unprivilegedUser();
  if (user) chownSync(folder, user.uid, user.gid);
  const port = await freePort();
  const target = new URL(url);
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    default_pool_size: connections,
    max_client_conn: 500,
    ignore_startup_parameters: 'extra_float_digits',
    server_login_retry: 1, // by default, it refuses its clients for 15 s after the server was away for a moment
    // A connection that leads to a read-only server after a failover is closed, not lent again.
    server_check_query: 'SELECT pg_terminate_backend(pg_backend_pid()) WHERE pg_is_in_recovery()',
    server_check_delay: 0,
  };
  const file = join(folder, 'pgbouncer.ini');
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const databases = `[databases]\n* = host=127.0.0.1 port=${target.port} user=postgres\n`;
  writeFileSync(file, `${databases}[pgbouncer]\n${lines.join('\n')}\n`, { mode: 0o644 });
  const command = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find(existsSync) ?? 'pgbouncer';
  const child = await launch(command, ['-q', file], port, { ...user, cwd: folder });
  target.port = `${port}`;
  return { url: target.href, stop: () => end(child, 'SIGTERM', folder) };
}

/** Returns the user `postgres`, which PostgreSQL's package creates, if this process is root's: PostgreSQL refuses to run as root. */
function unprivilegedUser(): { uid: number; gid: number } | undefined {
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
