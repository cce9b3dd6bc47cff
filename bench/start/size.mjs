// The size of a client: bundled for a realistic use, minified and gzipped, and as npm installs it.
//
//   node start/size.mjs
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { figure, table } from '../lib/table.mjs';
import { uses } from './uses.mjs';

const bench = fileURLToPath(new URL('..', import.meta.url));
const project = dirname(bench.replace(/\/$/, ''));
const lock = JSON.parse(readFileSync(join(bench, 'package-lock.json'), 'utf8')).packages;

const rows = [];
for (const [name, { packageName, code }] of Object.entries(uses)) {
  const { all, atStart } = await measureBundle(code);
  const { packages, bytes } = name === 'ours' ? measureOurs() : measureInstalled(packageName);
  rows.push([name, figure(atStart / 1000, 1), figure(all / 1000, 1), packages, figure(bytes / 1000)]);
}
console.log('kB (1,000 bytes). At start: without what is only loaded by the first request.\n');
console.log(table(['client', 'bundle at start, min+gzip', 'bundle in all', 'packages', 'installed'], rows));

/** Returns the bytes of the bundle in one file, and of the part of it that is loaded before the first call. */
async function measureBundle(code) {
  const options = {
    stdin: { contents: code, resolveDir: bench },
    alias: { 'merchant-payments': join(project, 'dist/index.js') },
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    write: false,
    logLevel: 'silent',
  };
  const whole = await build(options);
  const split = await build({ ...options, splitting: true, outdir: bench, metafile: true });
  const outputs = Object.entries(split.metafile.outputs);
  const [entry] = outputs.find(([, output]) => output.entryPoint === '<stdin>');
  const needed = new Set([entry]);
  for (const path of needed) {
    for (const each of split.metafile.outputs[path].imports) {
      if (each.kind === 'import-statement' && !each.external) needed.add(each.path);
    }
  }
  const start = split.outputFiles.filter(({ path }) => [...needed].some((one) => path.endsWith(one)));
  return { all: gzipSize(whole.outputFiles), atStart: gzipSize(start) };
}

function gzipSize(files) {
  return files.reduce((sum, file) => sum + gzipSync(file.contents, { level: 9 }).length, 0);
}

/** Returns the size that npm would install of ours: the package alone. */
function measureOurs() {
  const report = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: project,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ unpackedSize }] = Object.values(JSON.parse(report));
  return { packages: 1, bytes: unpackedSize };
}

/** Adds up a package and all that it needs, as the lock file places them. */
function measureInstalled(packageName) {
  const found = new Set([`node_modules/${packageName}`]);
  for (const place of found) {
    const { dependencies = {} } = lock[place];
    for (const name of Object.keys(dependencies)) found.add(placeOf(name, place));
  }
  const bytes = [...found].reduce((sum, place) => sum + sizeOf(join(bench, place)), 0);
  return { packages: found.size, bytes };
}

/** Finds a package as Node does for another one that asks for it: in its own folder, or in one above. */
function placeOf(name, from) {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/')))) {
    const inside = `${place}/node_modules/${name}`.replace(/^\//, '');
    if (lock[inside]) return inside;
    if (place === '') throw new Error(`${name}, which ${from} needs, is not in the lock file.`);
  }
}

function sizeOf(folder) {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules') continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += sizeOf(path);
    else if (entry.isFile()) bytes += statSync(path).size;
  }
  return bytes;
}
