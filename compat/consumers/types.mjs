// Compiles consumer.ts with each supported compiler, in each way to resolve modules, library checks included.
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
const compilers = {
  5.4: {
    package: 'typescript-5.4',
    ways: { ...ways, node10: { type: 'commonjs', module: 'commonjs', moduleResolution: 'node10' } },
  },
  5.9: { package: 'typescript-5.9', ways },
  '6.0': { package: 'typescript', ways },
  '7.0': { package: 'typescript-7.0', ways },
  7.1: { package: 'typescript-7.1', ways },
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
      const project = join(folder, `${version} ${way}`.replaceAll(' ', '-'));
      await mkdir(project, { recursive: true });
      await writeFile(join(project, 'package.json'), JSON.stringify({ type }));
      await writeFile(join(project, 'consumer.ts'), await readFile(join(here, 'consumer.ts')));
      await writeFile(
        join(project, 'tsconfig.json'),
        JSON.stringify({ compilerOptions: strict({ module, moduleResolution }) }),
      );
      await check(`TypeScript ${version}, ${way}`, () =>
        run(process.execPath, [join(modules, compiler.package, 'bin/tsc'), '--project', project]),
      );
    }
  }
  await rm(folder, { recursive: true });
}

function strict(options) {
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
