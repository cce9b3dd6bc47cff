import { execFileSync } from 'node:child_process';
import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Runs npm and returns what it prints. On Windows npm is a script, which needs a shell to start; npm's own file, which npm
 * names to the scripts that it runs, needs none, and takes any path as it is.
 */
export function npm(args, options = {}) {
  const own = process.env.npm_execpath;
  const all = { encoding: 'utf8', ...options };
  return own?.endsWith('npm-cli.js')
    ? execFileSync(process.execPath, [own, ...args], all)
    : execFileSync('npm', args, { ...all, shell: process.platform === 'win32' });
}

/**
 * Packs a folder, or fetches a package as the registry serves it, and returns what npm tells of the tarball in `folder`:
 * `filename`, `files`, `size` and `unpackedSize`.
 */
export function pack(spec, folder) {
  // .npmrc makes npm wait a week for what is new; a release is compared on its first day.
  const args = ['pack', spec, '--json', '--silent', '--ignore-scripts', '--min-release-age=0'];
  if (statSync(spec, { throwIfNoEntry: false })?.isDirectory())
    setModes(
      spec,
      readReport(npm([...args, '--dry-run'])).files.map(({ path }) => path),
    );
  return readReport(npm([...args, '--pack-destination', folder]));
}

/** npm packs the modes that files have on the disk, which follow the umask of whoever cloned and built them. */
function setModes(folder, paths) {
  for (const path of paths.map((each) => join(folder, each)))
    chmodSync(path, statSync(path).mode & 0o100 ? 0o755 : 0o644);
}

/** The one tarball of `npm pack --json`: npm 10 and 11 print a list, npm 12 an object with the package's name as its key. */
export function readReport(output) {
  const tarballs = Object.values(JSON.parse(output));
  const [tarball] = tarballs;
  if (tarballs.length !== 1 || typeof tarball?.filename !== 'string' || !Array.isArray(tarball.files)) {
    throw new Error(
      `npm pack --json printed ${JSON.stringify(output.slice(0, 200))}, which does not describe one tarball. Try npm 10, 11 or 12.`,
    );
  }
  return tarball;
}
