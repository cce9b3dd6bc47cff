// Builds dist/, and from what the bundler took in THIRD-PARTY-NOTICES.txt and dist/sbom.cdx.json.
import { readFile, rm, writeFile } from 'node:fs/promises';
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

/**
 * Leaves `export { webhooks }` of the main entry a module of its own: a namespace that is bundled in cannot be shaken
 * out by users, and its declarations are written wrongly.
 */
const webhooksModule = /^\.\/webhooks\/index\.js$/;
const webhooksApart = {
  name: 'webhooks-apart',
  setup({ onResolve }) {
    onResolve({ filter: webhooksModule }, () => ({ path: './webhooks.js', external: true }));
  },
};

const common = { config: false, silent: true, target: 'node20', removeNodeProtocol: false };
/** All that is imported, Node's own modules apart, goes into the output: users install one package. */
const bundle = (entry, format, { plugins = [], ...options } = {}) =>
  build({ ...common, entry, format, noExternal: [/.*/], esbuildPlugins: [remember, ...plugins], ...options });

/** ky ties an AbortController to every request, a third of its cost. The transport ends attempts by itself. */
const define = { 'globalThis.AbortController': 'undefined' };

process.chdir(new URL('..', import.meta.url).pathname);
await rm('dist', { recursive: true, force: true });
await Promise.all([
  // The code that handles money can be read where it is installed; the rest stays small.
  bundle(client, 'esm', { plugins: [webhooksApart], define }),
  bundle(client, 'cjs', { minify: true, define }),
  bundle({ ...sandbox, ...command }, 'esm', { minify: true }),
  bundle(sandbox, 'cjs', { minify: true }),
  build({
    ...common,
    entry: { ...client, ...sandbox },
    format: ['esm', 'cjs'],
    external: [webhooksModule],
    dts: {
      only: true,
      // Constructors that users do not call would show them the types of bundled packages, which they do not have.
      // tsup sets baseUrl, which TypeScript 6 reports as deprecated.
      compilerOptions: { stripInternal: true, ignoreDeprecations: '6.0' },
    },
  }),
]);
for (const [file, webhooks] of [
  ['dist/index.d.ts', './webhooks.js'],
  ['dist/index.d.cts', './webhooks.cjs'],
]) {
  await writeFile(file, (await readFile(file, 'utf8')).replace('./webhooks/index.js', webhooks));
}

const packages = bundledPackages(inputs);
await writeFile('THIRD-PARTY-NOTICES.txt', notices(packages));
await writeFile('dist/sbom.cdx.json', sbom(packages));
console.log(`dist/ built; bundled: ${packages.map((one) => `${one.name} ${one.version}`).join(', ')}`);
