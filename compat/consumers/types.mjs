// Compiles consumer.ts with each supported compiler, in each way to resolve modules, library checks included, and
// defaults.ts with the options that a new project has.
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check, run } from '../check.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(dirname(here), 'node_modules');

const ways = {
  'nodenext ESM': { type: 'module', module: 'nodenext', moduleResolution: 'nodenext' },
  'nodenext CommonJS': { type: 'commonjs', module: 'nodenext', moduleResolution: 'nodenext' },
  'node16 CommonJS': { type: 'commonjs', module: 'node16', moduleResolution: 'node16' },
  bundler: { type: 'module', module: 'esnext', moduleResolution: 'bundler' },
};
/** The settings of a new project: no types but its own, and the libraries of its target; from 6 on it needs no settings. */
const defaults = {
  'es2022 and dom': {
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: [],
    strict: true,
    skipLibCheck: false,
    noEmit: true,
  },
  'no options': { noEmit: true },
};
const compilers = {
  5.4: {
    package: 'typescript-5.4',
    ways: { ...ways, node10: { type: 'commonjs', module: 'commonjs', moduleResolution: 'node10' } },
    defaults: 1,
  },
  5.9: { package: 'typescript-5.9', ways, defaults: 1 },
  '6.0': { package: 'typescript', ways, defaults: 2 },
  '7.0': { package: 'typescript-7.0', ways, defaults: 2 },
  7.1: { package: 'typescript-7.1', ways, defaults: 2 },
};

export async function checkTypes() {
  // Away from this repository, where a leaked import would find the packages that are bundled.
  const folder = await mkdtemp(join(tmpdir(), 'merchant-payments-types-'));
  await mkdir(join(folder, 'node_modules'));
  await cp(join(modules, 'merchant-payments'), join(folder, 'node_modules/merchant-payments'), {
    recursive: true,
  });
  await symlink(join(modules, '@types'), join(folder, 'node_modules/@types'));
  for (const [version, compiler] of Object.entries(compilers)) {
    for (const [way, { type, module, moduleResolution }] of Object.entries(compiler.ways)) {
      const name = `${version}, ${way}`;
      await compile(name, compiler.package, 'consumer.ts', type, strictOptions({ module, moduleResolution }));
    }
    for (const [way, options] of Object.entries(defaults).slice(0, compiler.defaults)) {
      await compile(`${version}, ${way}`, compiler.package, 'defaults.ts', 'module', options);
    }
  }
  await rm(folder, { recursive: true });

  async function compile(name, compiler, file, type, compilerOptions) {
    const project = join(folder, name.replaceAll(/[ ,+]+/g, '-'));
    await mkdir(project, { recursive: true });
    await writeFile(join(project, 'package.json'), JSON.stringify({ type }));
    await writeFile(join(project, file), await readFile(join(here, file)));
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    await check(`TypeScript ${name}`, () =>
      run(process.execPath, [join(modules, compiler, 'bin/tsc'), '--project', project]),
    );
  }
}

function strictOptions(options) {
  return {
    ...options,
    target: 'es2022',
    lib: ['es2023'],
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    skipLibCheck: false,
    noEmit: true,
  };
}
