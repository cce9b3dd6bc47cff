// `node scripts/set-repository.mjs https://github.com/<owner>/<name> [@<owner or team>]` writes the address of the repository into
// package.json and the owner into CODEOWNERS, and makes the relative links and pictures of README.md absolute, so that they work
// on npm. It can run again with another address.
// `--check` writes nothing, and fails where one of the three is missing: a release needs them.
import { readFileSync, writeFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const readme = readFileSync('README.md', 'utf8');
const link = /(\]\()(?!\w+:|#)([^)\s]+)(\))/g;
const codeowners = readFileSync('.github/CODEOWNERS', 'utf8');
const [given, ...rest] = process.argv.slice(2);

if (given === '--check' && rest.length === 0) check();
else write();

function check() {
  const problems = ['repository', 'homepage', 'bugs']
    .filter((name) => !manifest[name])
    .map((name) => `package.json has no "${name}".`);
  const relative = [...readme.matchAll(link)].map(([, , path]) => path);
  if (relative.length > 0)
    problems.push(`README.md has links that do not work on npm: ${relative.join(', ')}.`);
  if (/^[^#\s]\S*$/m.test(codeowners)) problems.push('.github/CODEOWNERS has files without an owner.');
  if (problems.length === 0) return;
  fail(`${problems.join('\n')}\nRun: node scripts/set-repository.mjs https://github.com/<owner>/<name>`);
}

function write() {
  const address = given?.replace(/(\.git)?\/?$/, '');
  const [owner = `@${address?.split('/')[3]}`, ...more] = rest;
  if (more.length > 0 || !/^@[\w-]+(\/[\w-]+)?$/.test(owner))
    fail(`${rest.join(' ')} is not one owner. Pass a name such as @acme or a team such as @acme/payments.`);
  if (!/^https:\/\/[\w.-]+\/[\w.-]+\/[\w.-]+$/.test(address ?? ''))
    fail(
      `${given ?? 'Nothing'} is not the address of a repository. Pass one such as https://github.com/<owner>/<name>.`,
    );
  const before = manifest.homepage?.replace(/#readme$/, '');
  const { license, ...others } = manifest;
  const places = {
    repository: { type: 'git', url: `git+${address}.git` },
    homepage: `${address}#readme`,
    bugs: `${address}/issues`,
  };
  // The three stand behind the licence, where npm's own tools put them.
  const ordered = Object.fromEntries(
    Object.entries({ ...others, license, ...places }).sort(
      ([one], [other]) => position(one) - position(other),
    ),
  );
  writeFileSync('.github/CODEOWNERS', codeowners.replaceAll(/^([^#\s]\S*).*$/gm, `$1 ${owner}`));
  writeFileSync('package.json', `${JSON.stringify(ordered, null, 2)}\n`);
  const relative = before
    ? readme.replaceAll(`](${before}/blob/main/`, '](').replaceAll(`](${before}/raw/main/`, '](')
    : readme;
  writeFileSync(
    'README.md',
    relative.replaceAll(link, (_, open, path, close) => {
      const kind = /\.(png|svg|gif|jpe?g|webp)$/.test(path) ? 'raw' : 'blob';
      return `${open}${address}/${kind}/main/${path}${close}`;
    }),
  );
}

function position(name) {
  const names = Object.keys(manifest);
  const places = ['repository', 'homepage', 'bugs'];
  return places.includes(name)
    ? names.indexOf('license') + (places.indexOf(name) + 1) / 10
    : names.indexOf(name);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
