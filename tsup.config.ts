import { defineConfig, type Options } from 'tsup';
import { remembersBundled } from './scripts/bundled.js';

type Plugin = NonNullable<Options['esbuildPlugins']>[number];

const client = { index: 'src/index.ts', webhooks: 'src/webhooks/index.ts' };
const inbox = { inbox: 'src/inbox/index.ts' };
const matching = { matching: 'src/matching/index.ts' };
const sandbox = { sandbox: 'src/sandbox/index.ts' };
const command = { cli: 'src/cli/bin.ts' };

/**
 * Leaves `export { webhooks }` of the main entry a module of its own: a namespace that is bundled in cannot be shaken
 * out by users, and its declarations are written wrongly.
 */
const webhooksModule = /^\.\/webhooks\/index\.js$/;
const webhooksApart: Plugin = {
  name: 'webhooks-apart',
  setup({ onResolve }) {
    onResolve({ filter: webhooksModule }, () => ({ path: './webhooks.js', external: true }));
  },
};

/** Leaves what the command imports as a user of the package does to the package's own entries. */
const packageApart: Plugin = {
  name: 'package-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^merchant-payments$/ }, ({ path }) => ({ path, external: true }));
  },
};

const common: Options = { silent: true, target: 'node20', removeNodeProtocol: false };

/** All that is imported, Node's own modules apart, goes into the output: users install one package. */
const bundled: Options = { ...common, noExternal: [/.*/], esbuildPlugins: [remembersBundled] };

/**
 * The lines stay short: Node prints the whole line of an error that nobody catches, which would push the message of a
 * missing API key off the screen.
 */
const minified: Options = {
  minify: true,
  esbuildOptions(options) {
    options.lineLimit = 120;
  },
};

export default defineConfig([
  // The code that handles money can be read where it is installed; the rest stays small.
  {
    ...bundled,
    entry: client,
    format: 'esm',
    esbuildPlugins: [remembersBundled, webhooksApart],
  },
  // Apart from the client's, so that no part of them moves into files that both would load.
  { ...bundled, entry: inbox, format: 'esm' },
  { ...bundled, entry: matching, format: 'esm' },
  // A logged client, page or promise shows its class.
  { ...bundled, ...minified, keepNames: true, entry: client, format: 'cjs' },
  { ...bundled, ...minified, entry: inbox, format: 'cjs' },
  { ...bundled, ...minified, entry: matching, format: 'cjs' },
  {
    ...bundled,
    ...minified,
    entry: { ...sandbox, ...command },
    format: 'esm',
    esbuildPlugins: [remembersBundled, packageApart],
  },
  { ...bundled, ...minified, entry: sandbox, format: 'cjs' },
  {
    ...common,
    entry: { ...client, ...inbox, ...matching, ...sandbox },
    format: ['esm', 'cjs'],
    external: [webhooksModule],
    dts: {
      only: true,
      // Constructors that users do not call would show them the types of bundled packages, which they do not have.
      // tsup sets baseUrl, which TypeScript 6 reports as deprecated.
      compilerOptions: { stripInternal: true, ignoreDeprecations: '6.0' },
    },
  },
]);
