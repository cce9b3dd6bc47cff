// Packing, comparing and checking with npm 10, 11 and 12, in a fresh clone each, and the commands that docs/security.md gives
// to whoever trusts nobody, against a registry on this machine that serves this package and sends npm elsewhere for others.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pack } from '../../scripts/npm.mjs';
import { check, run } from '../check.mjs';

/** Each npm with a Node that it comes with, and the digest of its tarball. */
const npms = [
  {
    version: '10.9.9',
    node: 'node-20',
    integrity:
      'sha512-1g+6jLQvaIuB4zwvHL7yrXuXcWZwDsCtBX8bbWDqbvJSSr9nPiDDWTHNgwXR27iIcTTW7v3A57hDW9RYv2W4Yg==',
  },
  {
    version: '11.21.2',
    node: 'node-24',
    integrity:
      'sha512-7HPApk+AflMUavSseL1Pm6CnYqMIHk53x+KmuhqmTDqPkjPMgxIpTPcTqsE91EKNw4gFBJV9fnXiSdGm1DXq9A==',
  },
  {
    version: '12.2.0',
    node: 'node-26',
    integrity:
      'sha512-ZsJjKpTnlmSXOLLXiU1xDCzC4Wlok4IwZmh/aw2KUuXytU7q6qMv/cUT7MoeSf95Slwuw/lRXYefGzGCspHPNQ==',
  },
];
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'merchant-payments-npm-'));
const elsewhere = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const tarball = readFileSync(process.env.COMPAT_TARBALL);
const registry = createServer((request, response) => {
  if (request.url === '/merchant-payments.tgz') return response.end(tarball);
  if (request.url !== '/merchant-payments')
    return response.writeHead(302, { location: new URL(request.url, elsewhere).href }).end();
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const dist = { tarball: `http://${request.headers.host}/merchant-payments.tgz`, integrity };
  const repository = { type: 'git', url: 'git+https://git.example/acme/payments.git' };
  const entry = { name: 'merchant-payments', version, dist, repository };
  const published = {
    versions: { [version]: entry },
    time: { [version]: new Date().toISOString() },
    repository,
  };
  return response.end(
    JSON.stringify({ name: 'merchant-payments', 'dist-tags': { latest: version }, ...published }),
  );
}).listen(0, '127.0.0.1');
await once(registry, 'listening');

try {
  for (const npm of npms) await check(`npm ${npm.version} on ${npm.node}`, () => useNpm(npm));
} finally {
  registry.close();
  registry.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
}

async function useNpm({ version: wanted, node, integrity }) {
  const here = join(folder, wanted);
  mkdirSync(join(here, 'bin'), { recursive: true });
  const fetched = pack(`npm@${wanted}`, here);
  if (fetched.integrity !== integrity)
    throw new Error(`npm@${wanted} is ${fetched.integrity}, and not ${integrity}`);
  await run('tar', ['-xzf', join(here, fetched.filename), '-C', here]);
  const cli = join(here, 'package/bin/npm-cli.js');
  symlinkSync(`${root}compat/node_modules/${node}/bin/node`, join(here, 'bin/node'));
  writeFileSync(join(here, 'bin/npm'), `#!/bin/sh\nexec node ${JSON.stringify(cli)} "$@"\n`, { mode: 0o755 });

  // The clone's address is the one of docs/security.md, and git finds this repository under it.
  const env = {
    PATH: `${join(here, 'bin')}:${process.env.PATH}`,
    npm_execpath: cli,
    npm_config_registry: `http://127.0.0.1:${registry.address().port}/`,
    npm_config_cache: join(folder, 'cache'),
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `url.${root}.insteadOf`,
    GIT_CONFIG_VALUE_0: 'https://git.example/acme/payments.git',
  };
  const options = { cwd: here, env, timeoutMs: 400_000 };
  const found = (await run('npm', ['--version'], options)).trim();
  if (!found.endsWith(wanted)) throw new Error(`npm is ${found}`);
  const sceptic = [
    `git clone --quiet "$(npm view merchant-payments repository.url | sed 's/^git+//')" merchant-payments && cd merchant-payments`,
    `npm ci --silent && npm run same-tarball -- merchant-payments@${version}`,
  ].join('\n');
  const verdict = await run('sh', ['-ec', sceptic], options);
  if (!verdict.includes('The tarball is what the repository builds.')) throw new Error(verdict);

  const clone = { ...options, cwd: join(here, 'merchant-payments') };
  const sums = await run('node', ['scripts/pack-release.mjs', 'release'], clone);
  if (!sums.includes(`  merchant-payments-${version}.tgz\n`)) throw new Error(sums);
  const packed = `./release/merchant-payments-${version}.tgz`;
  await run('node', ['scripts/check-package.mjs', packed], clone);
  await run('npm', ['run', 'same-tarball', '--', packed], clone);
}
