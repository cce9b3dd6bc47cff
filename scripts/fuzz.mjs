// `node scripts/fuzz.mjs` tries the properties on 100 times as many values as `npm test`, made of a fresh seed;
// `node scripts/fuzz.mjs <seed>` makes those of an earlier run again.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';

const seed = process.argv[2] ?? String(randomInt(2 ** 31));
console.log(`Seed ${seed}. The same values again: node scripts/fuzz.mjs ${seed}`);
const args = ['run', '--testTimeout=3000000', 'test/fuzz', 'test/webhooks/properties.test.ts'];
const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', ...args], {
  stdio: 'inherit',
  env: { ...process.env, FUZZ_FACTOR: '100', FUZZ_SEED: seed },
});
process.exitCode = status ?? 1;
