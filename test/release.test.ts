import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';

const manifest: { scripts: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'));
const execute = promisify(execFile);
let folder: string;

/** A project with this repository's .npmrc, scripts and package.json, whose tests and build take no time. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'release-'));
  for (const name of ['scripts', '.npmrc']) cpSync(name, join(folder, name), { recursive: true });
  const scripts = {
    ...manifest.scripts,
    test: "node -e \"fs.writeFileSync('tested', '')\"",
    build: 'node --version',
  };
  const project = { name: 'merchant-payments', version: '0.1.0', files: ['src'], scripts };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(project, null, 2));
  mkdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'src/version.ts'), "export const version = '0.1.0';\n");
  writeFileSync(join(folder, 'CHANGELOG.md'), '## 0.2.0 – 2027-01-31\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

/** Through scripts/npm.mjs, which starts npm on every system. */
const npm = (...args: string[]) => {
  const program = `
    import { npm } from ${JSON.stringify(pathToFileURL(resolve('scripts/npm.mjs')).href)};
    process.stdout.write(npm(${JSON.stringify(args)}));`;
  return execute(process.execPath, ['--input-type=module', '--eval', program], { cwd: folder, env });
};
const person = { name: 'A Maintainer', email: 'maintainer@example.com' };
const env = {
  ...process.env,
  GIT_CONFIG_GLOBAL: join(tmpdir(), 'no-such-configuration'),
  GIT_AUTHOR_NAME: person.name,
  GIT_AUTHOR_EMAIL: person.email,
  GIT_COMMITTER_NAME: person.name,
  GIT_COMMITTER_EMAIL: person.email,
};
const git = async (...args: string[]) => (await execute('git', args, { cwd: folder, env })).stdout;

test('npm run release tests, writes the version into the source, tags and pushes, though .npmrc turns scripts off', async () => {
  await git('init', '--quiet', '--bare', 'remote.git');
  await git('init', '--quiet', '--initial-branch', 'main');
  writeFileSync(join(folder, '.gitignore'), 'remote.git\n');
  await git('add', '.');
  await git('commit', '--quiet', '--message', 'Begin');
  await git('remote', 'add', 'origin', 'remote.git');
  await git('push', '--quiet', '--set-upstream', 'origin', 'main');

  await npm('run', 'release', '--', 'minor');
  expect(existsSync(join(folder, 'tested'))).toBe(true);
  expect(await git('show', 'v0.2.0:src/version.ts')).toBe("export const version = '0.2.0';\n");
  expect(await git('ls-remote', 'origin', 'v0.2.0')).toContain('refs/tags/v0.2.0');
}, 120_000);

test('same-tarball compares a version that was published a minute ago, though .npmrc waits for a week', async () => {
  await npm('pack', '--silent');
  const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('.tgz'));
  const tarball = readFileSync(join(folder, name));
  const registry = createServer((request, response) => {
    if (request.url?.endsWith('.tgz')) return response.end(tarball);
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    const dist = { tarball: `http://${request.headers.host}/${name}`, integrity };
    const versions = { '0.1.0': { name: 'merchant-payments', version: '0.1.0', dist } };
    const time = { '0.1.0': new Date(Date.now() - 60_000).toISOString() };
    const tags = { latest: '0.1.0' };
    return response.end(JSON.stringify({ name: 'merchant-payments', 'dist-tags': tags, versions, time }));
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  onTestFinished(() => void registry.close());
  const address = registry.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  rmSync(join(folder, name));

  const compare = () =>
    npm('run', 'same-tarball', `--registry=http://127.0.0.1:${port}/`, '--', 'merchant-payments@0.1.0');
  expect((await compare()).stdout).toContain('The tarball is what the repository builds.');
  writeFileSync(join(folder, 'src/version.ts'), '// another file\n');
  await expect(compare()).rejects.toThrow('The tarball is not what the repository builds.');
}, 120_000);
