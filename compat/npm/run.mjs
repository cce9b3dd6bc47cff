// A release from the changelog to what npm serves, and the sceptics who build it again with npm 10, 11 and 12.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack } from '../../scripts/npm.mjs';
import { check, run } from '../check.mjs';
import { openRegistry } from './registry.mjs';
import { prepare, rebuild, release } from './release.mjs';

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
const ofTheWorkflow = npms[1];
const here = mkdtempSync(join(tmpdir(), 'merchant-payments-npm-'));
const elsewhere = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
const person = { name: 'A Maintainer', email: 'maintainer@example.com' };
Object.assign(process.env, {
  GIT_AUTHOR_NAME: person.name,
  GIT_AUTHOR_EMAIL: person.email,
  GIT_COMMITTER_NAME: person.name,
  GIT_COMMITTER_EMAIL: person.email,
});

const registry = await openRegistry(elsewhere);
try {
  const place = { source: join(here, 'source'), origin: join(here, 'origin.git') };
  mkdirSync(place.source);
  await prepare(place.source);
  const environments = npms.map((npm) => install(join(here, npm.version), npm));
  await check(`a release with npm ${ofTheWorkflow.version}`, () =>
    release({ ...place, folder: here, registry, env: environments[npms.indexOf(ofTheWorkflow)] }),
  );
  await Promise.all(
    npms.map(({ version, node }, at) =>
      check(`the rebuild of a sceptic with npm ${version} on ${node}`, async () => {
        const env = environments[at];
        const found = (await run('npm', ['--version'], { env })).trim();
        if (found !== version) throw new Error(`npm is ${found}`);
        await rebuild({ ...place, folder: join(here, version), registry, env });
      }),
    ),
  );
} finally {
  registry.close();
  rmSync(here, { recursive: true, force: true });
}

/** Unpacks an npm, and returns the environment in which scripts find it and its Node. */
function install(folder, { version, node, integrity }) {
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
