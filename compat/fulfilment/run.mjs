// Runs the suite on Node 24, which has node:sqlite and runs TypeScript: `node fulfilment/run.mjs [--seed 42]`.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const compat = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: { seed: { type: 'string' }, only: { type: 'string' } } });
const tests = [
  '--import',
  'tsx',
  '--test',
  '--test-reporter',
  'spec',
  '--test-concurrency',
  '1',
  'fulfilment/sqlite-shop.test.ts',
  'fulfilment/engines.test.ts',
  'fulfilment/fulfilment.test.ts',
];
const { status } = spawnSync(
  'node_modules/node-24/bin/node',
  [...(values.only ? ['--test-name-pattern', values.only] : []), ...tests],
  {
    cwd: compat,
    stdio: 'inherit',
    env: { ...process.env, ...(values.seed && { FULFILMENT_SEED: values.seed }) },
  },
);
process.exitCode = status ?? 1;
