// The packages that the build inlines into dist/, and the two documents that name them with their licences and entries.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Options } from 'tsup';

interface Package {
  name: string;
  version: string;
  license: string;
  /** Entries of this package that hold its code: `index`, `sandbox` and so on. */
  entries?: readonly string[];
}

type Plugin = NonNullable<Options['esbuildPlugins']>[number];
type Outputs = Record<string, { inputs: object; imports: { path: string }[] }>;

/** The entries of the package that hold code of a package, by that package's folder. Filled by each output of the build. */
const entriesOf = new Map<string, Set<string>>();

/** Writes THIRD-PARTY-NOTICES.txt and dist/sbom.cdx.json, each time with all that the outputs so far took in. */
export const remembersBundled: Plugin = {
  name: 'remembers-bundled',
  setup({ initialOptions, onEnd }) {
    initialOptions.metafile = true;
    onEnd(({ metafile }) => {
      const outputs: Outputs = metafile?.outputs ?? {};
      const entries = Object.keys(initialOptions.entryPoints ?? {});
      for (const path of Object.keys(outputs)) {
        const name = basename(path).replace(/\..*/, '');
        if (entries.includes(name)) remember(name, inputsOf(path, outputs));
      }
      const packages = [...entriesOf]
        .map(([root, entries]) => describe(root, [...entries].sort()))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
      writeFileSync('THIRD-PARTY-NOTICES.txt', notices(packages));
      mkdirSync('dist', { recursive: true });
      writeFileSync('dist/sbom.cdx.json', sbom(packages));
    });
  },
};

function remember(entry: string, inputs: ReadonlySet<string>): void {
  for (const input of inputs) {
    if (!input.includes('node_modules/')) continue;
    const root = packageRoot(input);
    entriesOf.set(root, (entriesOf.get(root) ?? new Set()).add(entry));
  }
}

/** Returns the inputs of an output and of the shared files that it imports, without those that tree shaking left out. */
function inputsOf(path: string, outputs: Outputs, seen = new Set([path])): Set<string> {
  const inputs = new Set(Object.keys(outputs[path]?.inputs ?? {}));
  for (const { path: imported } of outputs[path]?.imports ?? []) {
    if (seen.has(imported) || !outputs[imported]) continue;
    seen.add(imported);
    for (const input of inputsOf(imported, outputs, seen)) inputs.add(input);
  }
  return inputs;
}

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
function describe(root: string, entries: readonly string[]): Package & { text: string } {
  const { name = root, version = '', license } = manifest(root);
  const file = readdirSync(root).find((entry) => /^licen[cs]e(\.|$)/i.test(entry));
  if (!file || typeof license !== 'string') {
    throw new Error(
      `${name} ${version} is bundled but states no licence. Replace it or ask its authors for one.`,
    );
  }
  return { name, version, license, entries, text: readFileSync(join(root, file), 'utf8').trim() };
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
  return `${JSON.stringify(bom)}\n`;
}

function component({ name, version, license, entries }: Package) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    licenses: [{ license: { id: license } }],
    ...(entries && { properties: entries.map((value) => ({ name: 'merchant-payments:entry', value })) }),
  };
}
