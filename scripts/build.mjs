// Builds dist/, and from what the bundler took in THIRD-PARTY-NOTICES.txt and dist/sbom.cdx.json.
import { rm, writeFile } from 'node:fs/promises';
import { build } from 'tsup';
import { bundledPackages, notices, sbom } from './bundled.mjs';

const client = { index: 'src/index.ts', webhooks: 'src/webhooks/index.ts' };
const sandbox = { sandbox: 'src/sandbox/index.ts' };
const command = { cli: 'src/cli/main.ts' };

const inputs = new Set();
const remember = {
  name: 'remember-inputs',
  setup({ initialOptions, onEnd }) {
    initialOptions.metafile = true;
    onEnd(({ metafile }) => {
      // What tree shaking left out is an input of the build, but of no output.
      for (const output of Object.values(metafile.outputs)) {
        for (const path of Object.keys(output.inputs)) inputs.add(path);
      }
    });
  },
};

const common = { config: false, silent: true, target: 'node20', removeNodeProtocol: false };
/** All that is imported, Node's own modules apart, goes into the output: users install one package. */
const bundle = (entry, format, options) =>
  build({ ...common, entry, format, noExternal: [/.*/], esbuildPlugins: [remember], ...options });

process.chdir(new URL('..', import.meta.url).pathname);
await rm('dist', { recursive: true, force: true });
await Promise.all([
  // The code that handles money stays readable where it is installed; the sandbox is many pages, and stays small.
  bundle(client, 'esm'),
  bundle(client, 'cjs'),
  bundle({ ...sandbox, ...command }, 'esm', { minify: true }),
  bundle(sandbox, 'cjs', { minify: true }),
  build({
    ...common,
    entry: { ...client, ...sandbox },
    format: ['esm', 'cjs'],
    // tsup sets baseUrl, which TypeScript 6 reports as deprecated.
    dts: { only: true, compilerOptions: { ignoreDeprecations: '6.0' } },
  }),
]);

const packages = bundledPackages(inputs);
await writeFile('THIRD-PARTY-NOTICES.txt', notices(packages));
await writeFile('dist/sbom.cdx.json', sbom(packages));
console.log(`dist/ built; bundled: ${packages.map((one) => `${one.name} ${one.version}`).join(', ')}`);
