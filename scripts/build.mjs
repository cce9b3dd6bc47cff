// Builds dist/ and, from what the bundler took in, THIRD-PARTY-NOTICES.txt and dist/sbom.cdx.json.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { build } from 'tsup';
import { bundledPackages, notices, sbom } from './bundled.mjs';

process.chdir(new URL('..', import.meta.url).pathname);
await rm('dist', { recursive: true, force: true });
await build({});

const metafiles = ['dist/metafile-esm.json', 'dist/metafile-cjs.json'];
const inputs = new Set();
for (const file of metafiles) {
  const { outputs } = JSON.parse(await readFile(file, 'utf8'));
  for (const output of Object.values(outputs))
    for (const path of Object.keys(output.inputs)) inputs.add(path);
  await rm(file);
}

const packages = bundledPackages(inputs);
await writeFile('THIRD-PARTY-NOTICES.txt', notices(packages));
await writeFile('dist/sbom.cdx.json', sbom(packages));
console.log(`dist/ built; bundled: ${packages.map((one) => `${one.name} ${one.version}`).join(', ')}`);
