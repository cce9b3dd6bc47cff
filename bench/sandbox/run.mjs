// The time that the sandbox takes of a test suite: its start, a small test, 1,000 payments end to end, and the command's start.
//
//   npm run build && node bench/sandbox/run.mjs [--rounds 9]
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machine, median, sampleInTurn, typical } from '../lib/measure.mjs';
import { figure, table } from '../lib/table.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } });
const rounds = Number(values.rounds);
const fileOf = (name) => fileURLToPath(new URL(name, import.meta.url));

console.log(`${machine(process.execPath)}; ${rounds} rounds, medians\n`);

const sampled = await sampleInTurn(
  [{ file: 'in-process.mjs' }],
  async ({ file }) => JSON.parse(execFileSync(process.execPath, [fileOf(file)], { encoding: 'utf8' })),
  { rounds },
);
const [own] = sampled.values();
const ready = [];
for (let round = 0; round < rounds; round++) ready.push(await measureCommandStart());

console.log(
  table(
    ['', 'ms', 'at most'],
    [
      ['import of client and sandbox', figure(typical(own, 'importMs'), 1), ''],
      [
        'a test: create, product, checkout, paid with its webhook, balance',
        figure(typical(own, 'testMs'), 1),
        '50',
      ],
      [
        '1,000 payments: product, checkout, paid, webhook verified',
        figure(typical(own, 'paymentsMs'), 0),
        '5,000',
      ],
      ['`merchant-payments sandbox`, from start to ready', figure(median(ready), 0), '500'],
    ],
  ),
);

async function measureCommandStart() {
  const started = performance.now();
  const child = spawn(process.execPath, [fileOf('../../dist/cli.js'), 'sandbox', '--port', '0']);
  await once(child.stdout, 'data');
  const took = performance.now() - started;
  child.kill('SIGTERM');
  await once(child, 'exit');
  return took;
}
