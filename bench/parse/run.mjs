// What it costs to read an answer: JSON.parse alone, and with our schemas, which also put money and moments in their
// normal forms. `ours, as transforms` leaves the loop to zod; `zod` is the same shape in zod/mini as it comes, without
// the normal forms.
//
//   node parse/run.mjs [--rounds 11] [--runtime /path/to/node]
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { defaultRuntime, machine } from '../lib/measure.mjs';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '11' },
    runtime: { type: 'string', default: defaultRuntime },
  },
});
const here = dirname(fileURLToPath(import.meta.url));
const outfile = join(here, '../results/parse.mjs');
mkdirSync(dirname(outfile), { recursive: true });
// The schemas are inside the package, so they are bundled from their source.
await build({
  entryPoints: [join(here, 'cases.mjs')],
  nodePaths: [join(here, '../../node_modules')],
  bundle: true,
  platform: 'node',
  format: 'esm',
  outfile,
  logLevel: 'error',
});
console.log(`${machine(options.runtime)}; ${options.rounds} rounds; CPU.\n`);
const { status } = spawnSync(options.runtime, ['--expose-gc', outfile, options.rounds], { stdio: 'inherit' });
process.exitCode = status;
