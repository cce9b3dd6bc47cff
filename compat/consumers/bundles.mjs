// Bundles a program that takes payments, as users do, and looks into what they would ship.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { rspack } from '@rspack/core';
import ncc from '@vercel/ncc';
import { build } from 'esbuild';
import { createSandbox } from 'merchant-payments/sandbox';
import { rollup } from 'rollup';
import { build as viteBuild } from 'vite';
import webpack from 'webpack';
import { check, run } from '../check.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(dirname(here), 'node_modules');
const folder = join(modules, '.consumers');
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
  for (const [name, bundler] of Object.entries({ webpack, rspack })) {
    await check(name, async () => {
      const path = join(folder, name);
      const output = { path, filename: 'program.cjs' };
      const stats = await promisify(bundler)({ mode: 'production', target: 'node', entry, output });
      assert.deepEqual(stats.toJson().errors, []);
      await inspect(join(path, 'program.cjs'));
      await rm(path, { recursive: true });
    });
  }
  await check('ncc', async () => {
    const { code, assets } = await ncc(entry, { quiet: true });
    const dir = await mkdtemp(join(folder, 'ncc-'));
    for (const [name, { source }] of Object.entries(assets)) await writeFile(join(dir, name), source);
    await writeFile(join(dir, 'index.mjs'), code);
    await inspect(join(dir, 'index.mjs'));
    await rm(dir, { recursive: true });
  });
  await check('Vite, SSR', async () => {
    const outDir = join(folder, 'vite');
    await viteBuild({
      root: here,
      logLevel: 'error',
      ssr: { noExternal: true },
      build: { ssr: entry, outDir, emptyOutDir: true },
    });
    const [file] = (await readdir(outDir)).filter((name) => name.startsWith('program'));
    await inspect(join(outDir, file));
    await rm(outDir, { recursive: true });
  });
  await check('bun build --compile', async () => {
    const outfile = join(folder, 'shop-bun');
    const bun = join(modules, '@oven/bun-linux-x64/bin/bun');
    await run(bun, ['build', '--compile', entry, '--outfile', outfile]);
    await runs(outfile);
    await rm(outfile);
  });
  await check('Node, single executable', async () => {
    const main = join(folder, 'sea.cjs');
    await build({ entryPoints: [entry], outfile: main, bundle: true, format: 'cjs', platform: 'node' });
    const output = join(folder, 'shop-node');
    const settings = join(folder, 'sea.json');
    await writeFile(settings, JSON.stringify({ main, output, disableExperimentalSEAWarning: true }));
    await run(join(modules, 'node-26/bin/node'), ['--build-sea', settings]);
    await runs(output);
    await Promise.all([main, output, settings].map((file) => rm(file)));
  });
}

async function inspect(file) {
  const text = await readFile(file, 'utf8');
  for (const trace of ['createSandbox', '_sandbox', 'Hono']) {
    assert.ok(!text.includes(trace), `the bundle holds ${trace}, which belongs to the sandbox`);
  }
  await runs(process.execPath, file);
  await rm(file);
}

/** Runs the program against an address where nothing listens. */
async function runs(...command) {
  const sandbox = await createSandbox().listen();
  await sandbox.close();
  const [program, ...args] = command;
  assert.match(await run(program, [...args, sandbox.url]), /^ConnectionError not_sent\n$/);
}
