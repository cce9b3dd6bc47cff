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
  await check('Rollup', async () => {
    const file = join(folder, 'rollup.mjs');
    const warnings = [];
    const bundle = await rollup({
      input: entry,
      external: /^node:/,
      plugins: [nodeResolve()],
      onwarn: (warning) => warnings.push(warning.message),
    });
    await bundle.write({ file, format: 'esm', inlineDynamicImports: true });
    assert.deepEqual(warnings, []);
    await inspect(file);
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
