// A PostgreSQL server of Debian's package with its own settings, which wait for the disk, in a temporary folder.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const version = readdirSync('/usr/lib/postgresql').sort().pop();
const bin = (name) => `/usr/lib/postgresql/${version}/bin/${name}`;

export async function startPostgres() {
  const folder = mkdtempSync(join(tmpdir(), 'bench-postgres-'));
  const options = { cwd: folder, ...unprivilegedUser() };
  if (options.uid !== undefined) chownSync(folder, options.uid, options.gid);
  const data = join(folder, 'data');
  execFileSync(bin('initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8'], options);
  const port = await freePort();
  const server = spawn(bin('postgres'), ['-D', data, '-p', `${port}`, '-k', folder], options);
  const isReady = () => spawnSync(bin('pg_isready'), ['-h', '127.0.0.1', '-p', `${port}`]).status === 0;
  while (!isReady()) await wait(100);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      server.kill('SIGINT');
      await once(server, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root. */
function unprivilegedUser() {
  if (userInfo().uid !== 0) return {};
  const id = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}
