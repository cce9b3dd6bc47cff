// The cost of reading an answer: JSON.parse alone, and with our schemas, which also put money and moments in their
// normal forms. `zod` is the same shape in zod/mini as it comes, without the normal forms.
//
//   node parse/run.mjs [--rounds 11] [--runtime /path/to/node]
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { bundle } from '../lib/bundle.mjs';
import { defaultRuntime, machine } from '../lib/measure.mjs';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '11' },
    runtime: { type: 'string', default: defaultRuntime },
  },
});
const program = await bundle('parse/cases.mjs', 'parse.mjs');
console.log(`${machine(options.runtime)}; ${options.rounds} rounds; CPU.\n`);
const { status } = spawnSync(options.runtime, ['--expose-gc', program, options.rounds], { stdio: 'inherit' });
process.exitCode = status;
