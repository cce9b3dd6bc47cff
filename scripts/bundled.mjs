// What is bundled into dist/: the packages, their licences, and the two documents that name them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const json = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** The packages that the input files belong to, by name. Throws when one comes without a licence. */
export function bundledPackages(inputs) {
  const roots = new Set([...inputs].filter((path) => path.includes('node_modules/')).map(packageRoot));
  return [...roots].map(describe).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function packageRoot(path) {
  let folder = dirname(path);
  // Some packages hold inner package.json files that only say "type": "module".
  while (!existsSync(join(folder, 'package.json')) || !json(join(folder, 'package.json')).version) {
    folder = dirname(folder);
  }
  return folder;
}

function describe(root) {
  const { name, version, license } = json(join(root, 'package.json'));
  const file = readdirSync(root).find((entry) => /^licen[cs]e(\.|$)/i.test(entry));
  if (!file || typeof license !== 'string') {
    throw new Error(
      `${name} ${version} is bundled but states no licence. Replace it or ask its authors for one.`,
    );
  }
  return { name, version, license, text: readFileSync(join(root, file), 'utf8').trim() };
}

export function notices(packages) {
  const rule = '-'.repeat(78);
  const sections = packages.map(
    (one) => `${rule}\n${one.name} ${one.version} (${one.license})\n\n${one.text}\n`,
  );
  return `merchant-payments contains code of the packages below, under their licences.\n\n${sections.join('\n')}`;
}

/** CycloneDX 1.6, without serial number and time, so that the same source gives the same file. */
export function sbom(packages) {
  const { name, version, license } = json('package.json');
  const component = (one) => {
    const purl = `pkg:npm/${one.name.replace('@', '%40')}@${one.version}`;
    return {
      type: 'library',
      'bom-ref': purl,
      name: one.name,
      version: one.version,
      purl,
      licenses: [{ license: { id: one.license } }],
    };
  };
  const root = component({ name, version, license });
  const components = packages.map((one) => component(one));
  const bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: root },
    components,
    dependencies: [{ ref: root['bom-ref'], dependsOn: components.map((one) => one['bom-ref']) }],
  };
  return `${JSON.stringify(bom, null, 2)}\n`;
}
