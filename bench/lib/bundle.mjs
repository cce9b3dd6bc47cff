import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Bundles what is inside the package, from its source: a module's path from `bench/`. Gives the bundle's path. */
export async function bundled(module, name) {
  const outfile = resultFile(name);
  await build({
    entryPoints: [pathOf(`../${module}`)],
    nodePaths: [pathOf('../../node_modules')],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'error',
  });
  return outfile;
}

/** A file in the folder for what is made on the way. */
export function resultFile(name) {
  mkdirSync(pathOf('../results'), { recursive: true });
  return pathOf(`../results/${name}`);
}
