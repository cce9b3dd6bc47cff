import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runProcessSync } from '../helpers/processes.js';

const folders = ['.', 'bench', 'compat'];
const tracked = runProcessSync('git', ['ls-files', '-z']).stdout.split('\0');

interface Entry {
  version?: string;
  integrity?: string;
  [field: string]: unknown;
}

interface Lock {
  lockfileVersion: number;
  packages: Record<string, Entry>;
}

describe('what an install brings', () => {
  it('is set in three places, and nowhere else', () => {
    const settings = (name: string) => tracked.filter((file) => file === name || file.endsWith(`/${name}`));
    expect(settings('.npmrc')).toEqual(['.npmrc', 'bench/.npmrc', 'compat/.npmrc']);
    expect(settings('package-lock.json')).toEqual([
      'bench/package-lock.json',
      'compat/package-lock.json',
      'package-lock.json',
    ]);
    for (const name of ['npm-shrinkwrap.json', '.yarnrc.yml', 'pnpm-workspace.yaml', 'bunfig.toml'])
      expect(settings(name)).toEqual([]);
  });

  it.each(folders)(
    'runs no script, takes nothing younger than a week and names no registry: %s/.npmrc',
    (folder) => {
      expect(readFileSync(`${folder}/.npmrc`, 'utf8')).toBe(
        'ignore-scripts=true\nomit-lockfile-registry-resolved=true\nmin-release-age=7\n',
      );
    },
  );

  it('allows no dependency its install script', () => {
    expect(JSON.parse(readFileSync('package.json', 'utf8')).allowScripts).toEqual({
      esbuild: false,
      msw: false,
    });
  });

  it.each(folders)('is what the lock says, each package with its sha512: %s', (folder) => {
    const { status, stderr } = checkLock(folder);
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });
});

const changes: [title: string, problem: string, change: (lock: Lock, entry: Entry) => void][] = [
  [
    'a host',
    'node_modules/zod has resolved',
    (_, entry) => {
      entry.resolved = 'https://example.com/zod.tgz';
    },
  ],
  [
    'a file instead of a package',
    'node_modules/zod has resolved, link',
    (_, entry) => {
      Object.assign(entry, { resolved: 'zod', link: true });
    },
  ],
  [
    'no digest',
    'node_modules/zod has no sha512',
    (_, entry) => {
      delete entry.integrity;
    },
  ],
  [
    'a weaker digest',
    'node_modules/zod has no sha512',
    (_, entry) => {
      entry.integrity = 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=';
    },
  ],
  [
    'a second digest, either of which will do',
    'node_modules/zod has no sha512',
    (_, entry) => {
      entry.integrity += ` ${entry.integrity}`;
    },
  ],
  [
    'no digest, as if another package brought it',
    'node_modules/zod has inBundle',
    (_, entry) => {
      delete entry.integrity;
      entry.inBundle = true;
    },
  ],
  [
    'another package under its name',
    'node_modules/zod is zod-two under another name',
    (_, entry) => {
      entry.name = 'zod-two';
    },
  ],
  [
    'another version than package.json',
    'node_modules/zod is not the 4.6.7 of package.json',
    (_, entry) => {
      entry.version = '4.6.6';
    },
  ],
  [
    'an address as its version',
    'node_modules/zod has no version',
    (_, entry) => {
      entry.version = 'git+ssh://example.com/zod.git';
    },
  ],
  [
    'another range than package.json',
    "its devDependencies are not package.json's",
    (lock) => {
      Object.assign(lock.packages['']?.devDependencies ?? {}, { zod: '*' });
    },
  ],
  [
    'a dependency more',
    "its dependencies are not package.json's",
    (lock) => {
      Object.assign(lock.packages[''] ?? {}, { dependencies: { zod: '4.6.7' } });
    },
  ],
  [
    'a folder of its own',
    'elsewhere/zod is not in node_modules',
    (lock, entry) => {
      lock.packages['elsewhere/zod'] = entry;
    },
  ],
  [
    'a version that an override forbids',
    'but package.json overrides it to 4.67.4',
    (lock) => {
      Object.assign(lock.packages['node_modules/rollup'] ?? {}, { version: '4.67.5' });
    },
  ],
  [
    'no binary for a platform',
    'lacks its optional dependency @esbuild/win32-x64',
    (lock) => {
      delete lock.packages['node_modules/@esbuild/win32-x64'];
    },
  ],
  [
    'an older form, with entries of its own',
    'its version is 2, and not 3',
    (lock) => {
      lock.lockfileVersion = 2;
    },
  ],
];

describe('a lock is refused that gives a package', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lock-'));
    writeFileSync(join(folder, 'package.json'), readFileSync('package.json'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it.each(changes)('%s', (_title, problem, change) => {
    const lock: Lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
    const zod = lock.packages['node_modules/zod'];
    if (!zod) throw new Error('package-lock.json has no zod');
    change(lock, zod);
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
    const { status, stderr } = checkLock(folder);
    expect(stderr).toContain(problem);
    expect(status).toBe(1);
  });

  it.each(['^4.6.7', 'latest', 'https://example.com/zod.tgz', 'file:../zod', 'acme/zod'])(
    'the version %s, which package.json may not ask for',
    (range) => {
      const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
      manifest.devDependencies.zod = range;
      writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
      writeFileSync(join(folder, 'package-lock.json'), readFileSync('package-lock.json'));
      expect(checkLock(folder).stderr).toContain(
        `package.json asks for zod ${range}, which is no exact version`,
      );
    },
  );
});

function checkLock(folder: string) {
  return runProcessSync(process.execPath, ['scripts/check-lock.mjs', folder]);
}
