import { defineConfig, type Options } from 'tsup';

const entries = {
  index: 'src/index.ts',
  webhooks: 'src/webhooks/index.ts',
  sandbox: 'src/sandbox/index.ts',
};

/** Everything that is imported, Node's own modules apart, goes into the output: users install one package. */
const bundled: Options = {
  target: 'node20',
  noExternal: [/.*/],
  removeNodeProtocol: false,
  metafile: true,
  silent: true,
};

export default defineConfig([
  { ...bundled, format: 'esm', entry: { ...entries, cli: 'src/cli/main.ts' } },
  { ...bundled, format: 'cjs', entry: entries },
  {
    entry: entries,
    format: ['esm', 'cjs'],
    // tsup sets baseUrl, which TypeScript 6 reports as deprecated.
    dts: { only: true, compilerOptions: { ignoreDeprecations: '6.0' } },
    silent: true,
  },
]);
