// What is bundled into dist/: the packages, their licences, and the two documents that name them.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Options } from 'tsup';

interface Package {
  name: string;
  version: string;
  license: string;
}

type Plugin = NonNullable<Options['esbuildPlugins']>[number];

/** Of all outputs so far. */
const inputs = new Set<string>();

/** Writes THIRD-PARTY-NOTICES.txt and dist/sbom.cdx.json, each time with all that the outputs so far took in. */
export const remembersBundled: Plugin = {
  name: 'remembers-bundled',
  setup({ initialOptions, onEnd }) {
    initialOptions.metafile = true;
    onEnd(({ metafile }) => {
      // What tree shaking left out is an input of the build, but of no output.
      for (const output of Object.values(metafile?.outputs ?? {})) {
        for (const path of Object.keys(output.inputs)) inputs.add(path);
      }
      const roots = new Set([...inputs].filter((path) => path.includes('node_modules/')).map(packageRoot));
      const packages = [...roots].map(describe).sort((a, b) => (a.name < b.name ? -1 : 1));
      writeFileSync('THIRD-PARTY-NOTICES.txt', notices(packages));
      mkdirSync('dist', { recursive: true });
      writeFileSync('dist/sbom.cdx.json', sbom(packages));
    });
  },
};

function packageRoot(path: string): string {
  let folder = dirname(path);
  // Some packages hold inner package.json files that only say "type": "module".
  while (!existsSync(join(folder, 'package.json')) || !manifest(folder).version) folder = dirname(folder);
  return folder;
}

function manifest(folder: string): Partial<Package> {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** Throws for a package without a licence. */
function describe(root: string): Package & { text: string } {
  const { name = root, version = '', license } = manifest(root);
  const file = readdirSync(root).find((entry) => /^licen[cs]e(\.|$)/i.test(entry));
  if (!file || typeof license !== 'string') {
    throw new Error(
      `${name} ${version} is bundled but states no licence. Replace it or ask its authors for one.`,
    );
  }
  return { name, version, license, text: readFileSync(join(root, file), 'utf8').trim() };
}

function notices(packages: readonly (Package & { text: string })[]): string {
  const rule = '-'.repeat(78);
  const sections = packages.map(
    (one) => `${rule}\n${one.name} ${one.version} (${one.license})\n\n${one.text}\n`,
  );
  return `merchant-payments contains code of the packages below, under their licences.\n\n${sections.join('\n')}`;
}

/** CycloneDX 1.6, without serial number and time, so that the same source gives the same file. */
function sbom(packages: readonly Package[]): string {
  const { name = '', version = '', license = '' } = manifest('.');
  const root = component({ name, version, license });
  const components = packages.map(component);
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

function component({ name, version, license }: Package) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    licenses: [{ license: { id: license } }],
  };
}
