// Fails when package-lock.json lacks a platform's binary, names a registry host or escapes an override.
// npm leaves out, without a word, an optional dependency that its registry did not have, and then refuses the lock elsewhere.
import { readFileSync } from 'node:fs';

const root = process.argv[2] ?? '.';
const { packages } = JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8'));
const problems = [];

for (const [path, entry] of Object.entries(packages)) {
  if (entry.resolved && !entry.link) problems.push(`${path} names the host of ${entry.resolved}`);
  for (const name of Object.keys(entry.optionalDependencies ?? {})) {
    if (!resolves(path, name)) problems.push(`${path} lacks its optional dependency ${name}`);
  }
}

for (const [name, version] of Object.entries(overrides())) {
  for (const [path, entry] of Object.entries(packages)) {
    if (path.endsWith(`node_modules/${name}`) && entry.version !== version) {
      problems.push(`${path} is ${entry.version}, but package.json overrides it to ${version}`);
    }
  }
}

/** As Node looks a package up: in the folder's own node_modules, then in those above. */
function resolves(path, name) {
  for (let folder = path; ; folder = folder.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, '')) {
    if (packages[`${folder ? `${folder}/` : ''}node_modules/${name}`]) return true;
    if (!folder) return false;
  }
}

function overrides() {
  return JSON.parse(readFileSync(`${root}/package.json`, 'utf8')).overrides ?? {};
}

for (const problem of problems) console.error(`package-lock.json: ${problem}`);
if (problems.length > 0)
  console.error('Run `rm -rf node_modules package-lock.json && npm install`, or restore the lock.');
else
  console.log(
    `package-lock.json: ${Object.keys(packages).length - 1} packages, every platform's binaries in it`,
  );
process.exitCode = problems.length > 0 ? 1 : 0;
