import { execFileSync } from 'node:child_process';

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
  const args = ['--ignore-scripts', '--min-release-age=0', '--pack-destination', folder];
  return packed(npm(['pack', spec, '--json', '--silent', ...args]));
}

/** The one tarball of `npm pack --json`: npm 10 and 11 print a list, npm 12 an object with the package's name as its key. */
export function packed(output) {
  const tarballs = Object.values(JSON.parse(output));
  const [tarball] = tarballs;
  if (tarballs.length !== 1 || typeof tarball?.filename !== 'string' || !Array.isArray(tarball.files)) {
    throw new Error(
      `npm pack --json printed ${JSON.stringify(output.slice(0, 200))}, which does not describe one tarball. Try npm 10, 11 or 12.`,
    );
  }
  return tarball;
}
