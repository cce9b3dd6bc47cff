// A release from the changelog to the sceptic who builds it again, with npm 10, 11 and 12, all at once.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack } from '../../scripts/npm.mjs';
import { check, run } from '../check.mjs';
import { prepare, release } from './release.mjs';

/** Each npm with a Node that it comes with, and the digest of its tarball. The workflow stages with Node 24 and its npm. */
const npms = [
  {
    version: '10.9.9',
    node: 'node-20',
    integrity:
      'sha512-1g+6jLQvaIuB4zwvHL7yrXuXcWZwDsCtBX8bbWDqbvJSSr9nPiDDWTHNgwXR27iIcTTW7v3A57hDW9RYv2W4Yg==',
    canStage: false,
  },
  {
    version: '11.21.2',
    node: 'node-24',
    integrity:
      'sha512-7HPApk+AflMUavSseL1Pm6CnYqMIHk53x+KmuhqmTDqPkjPMgxIpTPcTqsE91EKNw4gFBJV9fnXiSdGm1DXq9A==',
    canStage: true,
  },
  {
    version: '12.2.0',
    node: 'node-26',
    integrity:
      'sha512-ZsJjKpTnlmSXOLLXiU1xDCzC4Wlok4IwZmh/aw2KUuXytU7q6qMv/cUT7MoeSf95Slwuw/lRXYefGzGCspHPNQ==',
    canStage: true,
  },
];
const here = mkdtempSync(join(tmpdir(), 'merchant-payments-npm-'));
const elsewhere = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
const person = { name: 'A Maintainer', email: 'maintainer@example.com' };
Object.assign(process.env, {
  GIT_AUTHOR_NAME: person.name,
  GIT_AUTHOR_EMAIL: person.email,
  GIT_COMMITTER_NAME: person.name,
  GIT_COMMITTER_EMAIL: person.email,
});

try {
  const source = join(here, 'source');
  mkdirSync(source);
  await prepare(source);
  await Promise.all(
    npms.map(({ version, node, integrity, ...can }) => {
      const folder = join(here, version);
      const env = install(folder, version, node, integrity);
      return check(`npm ${version} on ${node}`, async () => {
        const found = (await run('npm', ['--version'], { env })).trim();
        if (!found.endsWith(version)) throw new Error(`npm is ${found}`);
        await release({ source, folder, elsewhere, env, ...can });
      });
    }),
  );
} finally {
  rmSync(here, { recursive: true, force: true });
}

/** Unpacks an npm, and returns the environment in which scripts find it and its Node. */
function install(folder, version, node, integrity) {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  const fetched = pack(`npm@${version}`, folder);
  if (fetched.integrity !== integrity)
    throw new Error(`npm@${version} is ${fetched.integrity}, and not ${integrity}`);
  execFileSync('tar', ['-xzf', join(folder, fetched.filename), '-C', folder]);
  const cli = join(folder, 'package/bin/npm-cli.js');
  symlinkSync(new URL(`../node_modules/${node}/bin/node`, import.meta.url), join(folder, 'bin/node'));
  writeFileSync(join(folder, 'bin/npm'), `#!/bin/sh\nexec node ${JSON.stringify(cli)} "$@"\n`, {
    mode: 0o755,
  });
  return {
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    npm_execpath: cli,
  };
}
