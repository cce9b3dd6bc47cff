import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Bundles what is inside the package, from its source: `module` is a path from `bench/`. Returns the bundle's path. */
export async function bundle(module, name) {
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

/** Returns the path of a file in `results/`, and creates this folder. */
export function resultFile(name) {
  mkdirSync(pathOf('../results'), { recursive: true });
  return pathOf(`../results/${name}`);
}
