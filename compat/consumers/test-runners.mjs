// Test runners; NestJS and Next.js are in receivers/ and shops/.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check, run } from '../check.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const compat = dirname(here);
const program = (path) => join(compat, 'node_modules', path);
/** Tests find their own settings only: not those of whoever runs this. */
const env = { NODE_ENV: 'test' };

export async function checkTestRunners() {
  for (const folder of ['jest', 'jest-jsdom'])
    await check(`Jest 30, CommonJS: ${folder}`, () =>
      run(process.execPath, [program('jest/bin/jest.js'), '--rootDir', join(here, folder)], { env }),
    );
  for (const folder of ['vitest', 'vitest-jsdom'])
    await check(`Vitest: ${folder}`, () =>
      run(process.execPath, [program('vitest/vitest.mjs'), 'run', '--root', join(here, folder)], { env }),
    );
}
