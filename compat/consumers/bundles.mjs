// Bundles a program that takes payments, as users do, and looks into what they would ship.
import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { build } from 'esbuild';
import { createSandbox } from 'merchant-payments/sandbox';
import { rollup } from 'rollup';
import { check, run } from '../check.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const folder = join(dirname(here), 'node_modules/.consumers');
const entry = join(here, 'program.mjs');

export async function checkBundles() {
  for (const format of ['esm', 'cjs']) {
    await check(`esbuild, ${format}`, async () => {
      const outfile = join(folder, `esbuild.${format === 'esm' ? 'mjs' : 'cjs'}`);
      await build({
        entryPoints: [entry],
        outfile,
        bundle: true,
        format,
        platform: 'node',
        logLevel: 'error',
      });
      await inspect(outfile);
    });
  }
  const warnings = [];
  const bundle = await rollup({
    input: entry,
    external: /^node:/,
    plugins: [nodeResolve()],
    onwarn: (warning) => warnings.push(warning.message),
  });
  await check('Rollup, one file', async () => {
    const file = join(folder, 'rollup.mjs');
    await bundle.write({ file, format: 'esm', inlineDynamicImports: true });
    assert.deepEqual(warnings, []);
    await inspect(file);
  });
  await check('Rollup, split', async () => {
    const dir = join(folder, 'rollup');
    const { output } = await bundle.write({ dir, format: 'esm', entryFileNames: 'program.mjs' });
    assert.deepEqual(warnings, []);
    const start = output.find(({ isEntry }) => isEntry);
    const others = start.imports.filter((name) => !name.startsWith('node:'));
    assert.deepEqual(others, [], 'the start is in more than one file');
    assert.ok(!start.code.includes('KyError'), 'ky is loaded before the first call');
    await inspect(join(dir, 'program.mjs'));
    await rm(dir, { recursive: true });
  });
}

async function inspect(file) {
  const text = await readFile(file, 'utf8');
  for (const trace of ['createSandbox', '_sandbox', 'Hono']) {
    assert.ok(!text.includes(trace), `the bundle holds ${trace}, which belongs to the sandbox`);
  }
  const sandbox = await createSandbox().listen();
  await sandbox.close();
  assert.match(await run(process.execPath, [file, sandbox.url]), /^ConnectionError not_sent\n$/);
  await rm(file);
}
