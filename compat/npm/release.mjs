// A release with the commands of CONTRIBUTING.md, release.yml and docs/security.md, as they stand there. A bare repository and a
// registry on this machine take the place of GitHub and npm, and clones and copies that of the actions.
import assert from 'node:assert/strict';
import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { run } from '../check.mjs';
import { idToken, otp, stageId, token } from './registry.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (file) => readFileSync(root + file, 'utf8');
const { jobs } = parse(read('.github/workflows/release.yml'));
const { version: before } = JSON.parse(read('package.json'));
const version = before.replace(/\d+$/, (patch) => Number(patch) + 1);
const tarball = `merchant-payments-${version}.tgz`;
const address = 'https://git.example/acme/payments';

/** The repository that is released: this commit, with its address, and with a changelog that lacks only the date. */
export async function prepare(source) {
  const options = { cwd: source };
  await run('sh', ['-c', 'git -C "$0" archive HEAD | tar -x', root], options);
  await run('node', ['scripts/set-repository.mjs', address], options);
  // The tests that `npm run release` begins with are the ones that run beside this.
  await run('npm', ['pkg', 'set', 'scripts.test=node --version'], options);
  const changelog = join(source, 'CHANGELOG.md');
  const section = `\n## ${version} (unreleased)\n\nPlayed through.\n\n## `;
  writeFileSync(changelog, readFileSync(changelog, 'utf8').replace('\n## ', section));
  await run('sh', ['-ec', 'git init --quiet -b main && git add . && git commit --quiet -m Begin'], options);
}

/** Runs commands in a folder, with the origin and the registry of this machine. */
function shell({ folder, origin, registry, env }) {
  const own = {
    ...env,
    npm_config_registry: registry.url,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `url.${origin}.insteadOf`,
    GIT_CONFIG_VALUE_0: `${address}.git`,
  };
  return (command, cwd = folder, more = {}) =>
    run('bash', ['-ec', command], { cwd, env: { ...own, ...more }, timeoutMs: 400_000 });
}

/** From the changelog's date to what everybody gets. */
export async function release(given) {
  const { source, origin, folder, registry } = given;
  const inside = (name) => join(folder, name);
  const sh = shell(given);
  const settings = inside('maintainer.npmrc');
  writeFileSync(settings, `${registry.url.replace('http:', '')}:_authToken=${token}\n`);
  const loggedIn = { npm_config_userconfig: settings };

  /** The commands of a job, where an action has put the clone or the files. */
  const job = async (name, cwd, more = {}, without = '') => {
    const outputs = readFileSync(inside('outputs'), { encoding: 'utf8', flag: 'a+' });
    for (const { run: command, env: own = {}, 'working-directory': below = '.' } of jobs[name].steps) {
      if (!command || command === without) continue;
      const values = Object.entries(own).map(([key, value]) => [
        key,
        value.replace(
          /\$\{\{ needs\.build\.outputs\.(\w+) \}\}/,
          (_, output) => new RegExp(`^${output}=(.*)$`, 'm').exec(outputs)?.[1],
        ),
      ]);
      const runner = { GITHUB_REF_NAME: `v${version}`, GITHUB_OUTPUT: inside('outputs') };
      await sh(command, join(cwd, below), { ...runner, ...Object.fromEntries(values), ...more });
    }
  };

  await sh(`git clone --quiet --bare ${source} ${origin} && git clone --quiet ${address}.git maintainer`);
  const maintainer = inside('maintainer');
  await assert.rejects(sh('npm run release -- patch', maintainer), /without a date/);
  await sh(`sed -i 's/^## ${version} (unreleased)/## ${version} – 2027-01-31/' CHANGELOG.md`, maintainer);
  await sh('git commit --quiet --all -m Date && npm run release -- patch', maintainer);
  const refs = await sh(`git rev-parse main 'v${version}^{commit}'`, origin);
  assert.equal(new Set(refs.trim().split('\n')).size, 1, refs);

  // `npm ci` is what the sceptic below tries. A symbolic link would change the names of chunks, which follow from real paths.
  const installed = `"${root}node_modules" build/node_modules`;
  await sh(`git clone --quiet --branch v${version} ${address}.git build`);
  await sh(`cp -al ${installed} || { rm -rf build/node_modules && cp -a ${installed}; }`);
  await job('build', inside('build'), {}, 'npm ci');
  await sh(`node scripts/check-package.mjs ./release/${tarball}`, inside('build'));

  const stage = inside('stage');
  cpSync(inside('build/release'), join(stage, 'release'), { recursive: true });
  const workflow = { ACTIONS_ID_TOKEN_REQUEST_URL: `${registry.url}id-token`, GITHUB_ACTIONS: 'true' };
  await job('stage', stage, { ...workflow, ACTIONS_ID_TOKEN_REQUEST_TOKEN: idToken });
  assert.equal(registry.digest(), undefined, 'what is only staged was published');
  for (const command of read('CONTRIBUTING.md').match(/^npm stage (list|download|approve) [\w<>-]+/gm))
    await sh(command.replace('<stage-id>', stageId), stage, { ...loggedIn, npm_config_otp: otp });
  assert.ok(readFileSync(join(stage, 'release/SHA256SUMS'), 'utf8').startsWith(`${registry.digest()}  `));
  appendFileSync(join(stage, 'release', tarball), ' ');
  await assert.rejects(job('stage', stage), /did NOT match/);
}

/** Installs the release, clones its tag, and builds it again. */
export async function rebuild(given) {
  const sh = shell(given);
  const shop = join(given.folder, 'shop');
  mkdirSync(shop);
  await sh(`npm init --yes && npm install merchant-payments@${version}`, shop);
  const [sceptic] = read('docs/security.md').match(/^v=.+\ngit clone .+\n.+$/m);
  const verdict = await sh(sceptic, shop);
  assert.match(verdict, /The tarball is what the repository builds\./);
}
