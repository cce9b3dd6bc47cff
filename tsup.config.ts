import { transform } from 'esbuild';
import { defineConfig, type Options } from 'tsup';
import { remembersBundled } from './scripts/bundled.js';

type Plugin = NonNullable<Options['esbuildPlugins']>[number];
type OutputPlugin = NonNullable<Options['plugins']>[number];

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

/**
 * Node's own modules are asked of the process: a bundler that makes ES modules for other runtimes turns `require()` into
 * a function that throws. Of a module only what is imported is read: reading all of `node:http` loads Node's `fetch`.
 */
function builtinsAsked(code: string): string {
  return code.replace(
    /^import \{([^}]*)\} from "(node:[^"]+)"/gm,
    (_, names: string, path) =>
      `const {${names.replaceAll(' as ', ':')}} = process.getBuiltinModule("${path}") ?? {}`,
  );
}

/**
 * The lines stay short: Node prints the whole line of an error that nobody catches, which would push the message of a
 * missing API key off the screen.
 */
const lineLimit = 120;

/** The comment in which esbuild names a source file, for files whose classes users log. */
const loggedSource = /^\/\/ src\/(?:client|pagination|api-promise|resources\/\w+|inbox\/\w+)\.ts$/m;

/** esbuild splits code into shared files as ES modules only. */
const toCommonJs: OutputPlugin = {
  name: 'to-common-js',
  async renderChunk(code) {
    const output = await transform(builtinsAsked(code), {
      format: 'cjs',
      platform: 'node',
      target: 'node20',
      minify: true,
      // A logged client, page or promise shows its class. In the sandbox's files the call that each function then needs would
      // take a tenth of its start.
      keepNames: loggedSource.test(code),
      lineLimit,
      supported: { 'dynamic-import': false },
      define: { 'import.meta.url': '__filename' },
    });
    if (output.code.includes('require("node:'))
      throw new Error('A module of Node is not imported by its names.');
    return output;
  },
};

/**
 * Lines that are short do not cut strings in two: Rollup's plugin for CommonJS indents what follows, within the string too. A table
 * of long strings has a line for each of its rows.
 */
const stringsWhole: OutputPlugin = {
  name: 'strings-whole',
  renderChunk: (code) => ({
    code: code.replace(/(?<!\\)((?:\\\\)*)\\\n/g, '$1').replace(/"\],(?=\w+:\[")/g, '"],\n'),
  }),
};

/**
 * Without imports of shared files for their side effects, which keep the order of evaluation. No file has side effects, as
 * package.json says, so bundlers would warn of them.
 */
const noBareImports: OutputPlugin = {
  name: 'no-bare-imports',
  renderChunk: (code) => ({ code: code.replace(/^import "\.\/[^"]+";\n/gm, '') }),
};

const common: Options = { silent: true, target: 'node20', removeNodeProtocol: false };

/** All that is imported, Node's own modules apart, goes into the output: users install one package. */
const bundled: Options = { ...common, noExternal: [/.*/], esbuildPlugins: [remembersBundled] };

export default defineConfig([
  // The code that handles money can be read where it is installed; the rest stays small.
  {
    ...bundled,
    entry: { ...client, ...inbox },
    format: 'esm',
    esbuildPlugins: [remembersBundled, webhooksApart],
    plugins: [noBareImports],
  },
  // Apart, because every set of entries that share code is one more file to load for the client.
  { ...bundled, entry: matching, format: 'esm' },
  // In files that all entries share: docs/decisions/sandbox-commonjs.md.
  {
    ...bundled,
    entry: { ...client, ...inbox, ...matching, ...sandbox, ...command },
    format: 'esm',
    outExtension: () => ({ js: '.cjs' }),
    esbuildPlugins: [remembersBundled, packageApart],
    plugins: [toCommonJs, stringsWhole],
  },
  {
    ...common,
    entry: { ...client, ...inbox, ...matching, ...sandbox },
    format: 'cjs',
    external: [webhooksModule],
    dts: {
      only: true,
      // Constructors that users do not call would show them the types of bundled packages, which they do not have.
      // tsup sets baseUrl, which TypeScript 6 reports as deprecated.
      compilerOptions: { stripInternal: true, ignoreDeprecations: '6.0' },
    },
  },
]);
