// Looks at the tarball that would be published, or at the one named: what it holds, and what an empty project gets from
// installing it.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deadLinks, markdownFiles } from './markdown-links.mjs';
import { npm, pack } from './npm.mjs';

const mayHold =
  /^(package\.json|README\.md|AGENTS\.md|llms\.txt|CHANGELOG\.md|LICENSE|THIRD-PARTY-NOTICES\.txt|docs\/.+\.md|skills\/[\w-]+\/SKILL\.md|examples\/.+\.(md|tsx?|cjs|json|csv|prisma)|dist\/(sbom\.cdx\.json|[\w-]+\.(js|cjs|d\.ts|d\.cts)))$/;
const folder = mkdtempSync(join(tmpdir(), 'merchant-payments-'));
const run = (command, ...args) => execFileSync(command, args, { cwd: folder, encoding: 'utf8' });

try {
  const { filename, files, unpackedSize, size } = pack(process.argv[2] ?? '.', folder);
  const others = files.map((file) => file.path).filter((path) => !mayHold.test(path));
  assert.deepEqual(others, [], 'files that nobody expects in the package');
  assert.ok(unpackedSize <= 1_500_000, `${unpackedSize} bytes installed are more than 1.5 MB`);

  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  npm(['install', '--silent', '--no-audit', '--no-fund', `./${filename}`], { cwd: folder });
  const installed = readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'));
  assert.deepEqual(installed, ['merchant-payments'], 'more than one package was installed');

  // Node prints the whole line of an error that nobody catches, before its message.
  const dist = join(folder, 'node_modules/merchant-payments/dist');
  for (const name of readdirSync(dist).filter((name) => name.endsWith('.cjs'))) {
    const lines = readFileSync(join(dist, name), 'utf8').split('\n');
    const longest = Math.max(...lines.map((line) => line.length));
    assert.ok(longest <= 3000, `a line of dist/${name} has ${longest} characters, more than 3,000`);
  }
  for (const name of readdirSync(dist).filter((name) => name.endsWith('.js') && name !== 'cli.js')) {
    const text = readFileSync(join(dist, name), 'utf8');
    assert.doesNotMatch(text, /^import ?"\.\//m, `dist/${name} has an import of which bundlers warn`);
  }

  const { dependencies, optionalDependencies, peerDependencies, inlinedDependencies, scripts } = JSON.parse(
    readFileSync(join(folder, 'node_modules/merchant-payments/package.json'), 'utf8'),
  );
  assert.deepEqual([dependencies, optionalDependencies, peerDependencies], [undefined, undefined, undefined]);
  const atInstall = ['preinstall', 'install', 'postinstall', 'prepare', 'prepack'];
  assert.deepEqual(
    Object.keys(scripts).filter((name) => atInstall.includes(name)),
    [],
    'scripts that run at install',
  );

  const { components } = JSON.parse(
    readFileSync(join(folder, 'node_modules/merchant-payments/dist/sbom.cdx.json'), 'utf8'),
  );
  assert.deepEqual(
    inlinedDependencies,
    Object.fromEntries(components.map(({ name, version }) => [name, version])),
    'inlinedDependencies of package.json is not what the build inlines',
  );
  assert.deepEqual(
    inlinedIn(readFileSync(join(folder, 'node_modules/merchant-payments/docs/security.md'), 'utf8')),
    Object.fromEntries(
      components.map(({ name, properties }) => [name, properties.map(({ value }) => value).sort()]),
    ),
    'the list of inlined packages in docs/security.md is not what the build inlines',
  );

  for (const entry of ['', '/webhooks', '/inbox', '/matching', '/sandbox'].map(
    (path) => `merchant-payments${path}`,
  )) {
    const names = (loaded) =>
      `console.log(Object.keys(${loaded}).filter((name) => name !== 'default').sort().join())`;
    const imported = run(process.execPath, '--input-type=module', '-e', names(`await import('${entry}')`));
    const required = run(process.execPath, '--input-type=commonjs', '-e', names(`require('${entry}')`));
    assert.ok(imported.trim().length > 0);
    assert.equal(imported, required, `${entry} gives other names to require() than to import`);
  }
  const inPackage = join(folder, 'node_modules/merchant-payments');
  // Pictures stay in the repository, for their size.
  const dead = deadLinks(inPackage, markdownFiles(inPackage, '.')).filter(
    (link) => !/\.(png|svg)\b/.test(link),
  );
  assert.deepEqual(dead, [], 'links that lead nowhere in the package');

  const bin = (...args) => npm(['exec', '--silent', '--', 'merchant-payments', ...args], { cwd: folder });
  assert.match(bin('--help'), /sandbox/);
  assert.match(bin('examples', 'shop'), /\d\d files copied to shop\n/);
  assert.match(bin('examples', 'shop'), /^\d\d files are there already, unchanged\n/);

  // Node prints the line of an uncaught error: in a minified file it could be all of the package.
  for (const [type, load] of [
    ['module', "const { PaymentsClient } = await import('merchant-payments');"],
    ['commonjs', "const { PaymentsClient } = require('merchant-payments');"],
  ]) {
    const node = (code) =>
      spawnSync(process.execPath, [`--input-type=${type}`, '-e', `${load} ${code}`], {
        cwd: folder,
        encoding: 'utf8',
        env: {},
      });
    const withoutKey = node('new PaymentsClient();');
    assert.equal(withoutKey.status, 1);
    assert.match(
      withoutKey.stderr,
      /^ConfigurationError: new PaymentsClient\(\): apiKey is missing\. Pass it, or set PAYMENTS_API_KEY\./m,
    );
    assert.ok(withoutKey.stderr.length < 3000, `${type}: the message of a missing key is lost in the source`);
    const shown = node(
      "console.log(new PaymentsClient({ apiKey: 'example', baseUrl: 'https://api.example' }));",
    );
    assert.match(shown.stdout, /^PaymentsClient \{\s+products: ProductsResource/, `${type}: names are lost`);
  }

  console.log(
    `package: ${files.length} files, ${kB(size)} packed, ${kB(unpackedSize)} installed, no dependencies`,
  );
} finally {
  rmSync(folder, { recursive: true });
}

/** Reads the list of "Inlined packages": each package with its entries, as the build names them. */
function inlinedIn(page) {
  const namesIn = (text) => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
  const names = { 'merchant-payments': 'index', command: 'cli' };
  const found = {};
  for (const [, entries, packages] of page.matchAll(
    /^- ((?:`(?:merchant-payments(?:\/\w+)?|command)`(?:, )?)+): (.+)$/gm,
  ))
    for (const name of namesIn(packages))
      found[name] = [
        ...(found[name] ?? []),
        ...namesIn(entries).map((entry) => names[entry] ?? entry.replace('merchant-payments/', '')),
      ].sort();
  return found;
}

function kB(bytes) {
  return `${Math.round(bytes / 1000)} kB`;
}
