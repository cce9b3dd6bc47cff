import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { outputOf } from '../helpers/processes.js';

const manifest: { scripts: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'));
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
  writeFileSync(join(folder, 'README.md'), '# Title\n\nVersion 0.1.0, MIT\n');
  writeFileSync(join(folder, 'CHANGELOG.md'), '## 0.2.0 – 2027-01-31\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

/** Through scripts/npm.mjs, which starts npm on every system. */
const npm = (...args: string[]) => {
  const program = `
    import { npm } from ${JSON.stringify(pathToFileURL(resolve('scripts/npm.mjs')).href)};
    process.stdout.write(npm(${JSON.stringify(args)}));`;
  return outputOf(process.execPath, ['--input-type=module', '--eval', program], { cwd: folder, env });
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
const git = (...args: string[]) => outputOf('git', args, { cwd: folder, env });

/** A clone of a bare repository, with one commit on `main` that is pushed. */
async function clone() {
  await git('init', '--quiet', '--bare', 'remote.git');
  await git('init', '--quiet', '--initial-branch', 'main');
  writeFileSync(join(folder, '.gitignore'), 'remote.git\n');
  await git('add', '.');
  await git('commit', '--quiet', '--message', 'Begin');
  await git('remote', 'add', 'origin', 'remote.git');
  await git('push', '--quiet', '--set-upstream', 'origin', 'main');
}

test('npm run release tests, writes the version into the source, tags and pushes, though .npmrc turns scripts off', async () => {
  await clone();
  await git('tag', '--annotate', 'v0.0.9', '--message', 'Never pushed');

  await npm('run', 'release', '--', 'minor');
  expect(existsSync(join(folder, 'tested'))).toBe(true);
  expect(await git('show', 'v0.2.0:src/version.ts')).toBe("export const version = '0.2.0';\n");
  expect(await git('show', 'v0.2.0:README.md')).toContain('\nVersion 0.2.0, MIT');
  const pushed = (await git('ls-remote', '--heads', '--tags', 'origin'))
    .split('\n')
    .map((line) => line.split('\t')[1]);
  expect(pushed.filter((ref) => ref && !ref.endsWith('^{}'))).toEqual([
    'refs/heads/main',
    'refs/tags/v0.2.0',
  ]);
  expect(await git('rev-parse', 'origin/main')).toBe(await git('rev-parse', 'v0.2.0^{}'));
}, 120_000);

test('the first version, which package.json has already, goes the same way', async () => {
  writeFileSync(join(folder, 'CHANGELOG.md'), '## 0.1.0 – 2027-01-31\n');
  await clone();
  await npm('run', 'release', '--', '0.1.0', '--allow-same-version');
  expect(existsSync(join(folder, 'tested'))).toBe(true);
  expect(await git('ls-remote', '--tags', 'origin', 'v0.1.0')).toContain('refs/tags/v0.1.0');
  expect(await git('rev-parse', 'origin/main')).toBe(await git('rev-parse', 'v0.1.0^{}'));
}, 120_000);

test('the tag is not pushed when main has moved on, so that no release starts', async () => {
  await clone();
  await git('commit', '--quiet', '--allow-empty', '--message', "Somebody else's");
  await git('push', '--quiet', 'origin', 'main');
  await git('reset', '--quiet', '--hard', 'HEAD~1');

  await expect(npm('run', 'release', '--', 'minor')).rejects.toThrow('atomic');
  expect(await git('ls-remote', 'origin', 'v0.2.0')).toBe('');
}, 120_000);

test.each([
  ['## 0.2.0 (unreleased)', 'CHANGELOG.md has "## 0.2.0 (unreleased)", without a date.'],
  ['## 0.2.0 – soon', 'CHANGELOG.md has "## 0.2.0 – soon", without a date.'],
  ['## 0.2.0', 'CHANGELOG.md has no section of 0.2.0.'],
  ['## 0.1.0 – 2027-01-31', 'CHANGELOG.md has no section of 0.2.0.'],
])(
  'a changelog that says "%s" stops the release of 0.2.0 before it changes anything',
  async (line, problem) => {
    writeFileSync(join(folder, 'CHANGELOG.md'), `# Changelog\n\n${line}\n`);
    await clone();
    const release = npm('run', 'release', '--', 'minor');
    await expect(release).rejects.toThrow(
      `${problem} Write "## 0.2.0 – <year-month-day>", commit it, then run it again.`,
    );
    expect(existsSync(join(folder, 'tested'))).toBe(false);
    expect(await git('status', '--porcelain')).toBe('');
    expect(await git('tag')).toBe('');
  },
  120_000,
);

test.each(['10', '11', '12'])('the tarball is found in what npm %s prints of it', async (version) => {
  expect(await read(readFileSync(`test/fixtures/npm/pack-${version}.json`, 'utf8'))).toMatchObject({
    filename: 'merchant-payments-0.2.0.tgz',
    size: 191,
    unpackedSize: 68,
    files: [{ path: 'a.txt' }, { path: 'package.json' }],
  });
});

test.each(['[]', '{}', '[{}]', '{"a":{"filename":"a.tgz","files":[]},"b":{"filename":"b.tgz","files":[]}}'])(
  'output that does not describe one tarball is refused: %s',
  async (output) => {
    await expect(read(output)).rejects.toThrow('which does not describe one tarball. Try npm 10, 11 or 12.');
  },
);

async function read(output: string): Promise<unknown> {
  const program = `
    import { readReport } from ${JSON.stringify(pathToFileURL(resolve('scripts/npm.mjs')).href)};
    process.stdout.write(JSON.stringify(readReport(process.argv[1])));`;
  const args = ['--input-type=module', '--eval', program, output];
  return JSON.parse(await outputOf(process.execPath, args));
}

test('pack-release hands over the tarball, its SBOM and the SHA-256 digest of each', async () => {
  mkdirSync(join(folder, 'dist'));
  writeFileSync(join(folder, 'dist/sbom.cdx.json'), '{}');
  const outputs = join(folder, 'outputs');
  const script = join(folder, 'scripts/pack-release.mjs');
  await outputOf(process.execPath, [script, 'release'], {
    cwd: folder,
    env: { ...env, GITHUB_OUTPUT: outputs },
  });
  const digest = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, 'release', name)))
      .digest('hex');
  const [tarball, sbom] = [digest('merchant-payments-0.1.0.tgz'), digest('sbom.cdx.json')];
  expect(readFileSync(join(folder, 'release/SHA256SUMS'), 'utf8')).toBe(
    `${tarball}  merchant-payments-0.1.0.tgz\n${sbom}  sbom.cdx.json\n`,
  );
  expect(readFileSync(outputs, 'utf8')).toBe(`tarball=${tarball}\nsbom=${sbom}\n`);
}, 120_000);

test.skipIf(process.platform === 'win32')(
  'a release has the same digest whatever the umask of the machine that packs it',
  async () => {
    const packWith = async (mode: number) => {
      for (const file of ['src/version.ts', 'package.json']) chmodSync(join(folder, file), mode);
      const script = join(folder, 'scripts/pack-release.mjs');
      return outputOf(process.execPath, [script, 'release'], { cwd: folder, env });
    };
    mkdirSync(join(folder, 'dist'), { recursive: true });
    writeFileSync(join(folder, 'dist/sbom.cdx.json'), '{}');
    expect(await packWith(0o600)).toBe(await packWith(0o664));
  },
  120_000,
);

test.skipIf(process.platform === 'win32')(
  'same-tarball gives the same verdict whatever the umask, and another when a file becomes executable',
  async () => {
    await npm('pack', '--silent');
    const tarball = join(folder, 'published.tgz');
    renameSync(join(folder, 'merchant-payments-0.1.0.tgz'), tarball);
    chmodSync(join(folder, 'src/version.ts'), 0o600);
    chmodSync(join(folder, 'package.json'), 0o664);
    const compare = () => npm('run', 'same-tarball', '--', tarball);
    expect(await compare()).toContain('The tarball is what the repository builds.');
    chmodSync(join(folder, 'src/version.ts'), 0o700);
    await expect(compare()).rejects.toThrow('The tarball is not what the repository builds.');
  },
  120_000,
);

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
  expect(await compare()).toContain('The tarball is what the repository builds.');
  writeFileSync(join(folder, 'src/version.ts'), '// another file\n');
  await expect(compare()).rejects.toThrow('The tarball is not what the repository builds.');
}, 120_000);
