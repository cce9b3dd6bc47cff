import { expect, test } from 'vitest';
import { runProcess } from '../helpers/processes.js';

/** Runs the tests of the endpoints with a stand-in for a library. */
async function run(library: string): Promise<{ failed: number; total: number }> {
  const config = 'test/repository/stand-ins/vitest.config.ts';
  const files = ['products', 'balance', 'values'].map((name) => `test/client/${name}.test`);
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', config, '--reporter=json', ...files];
  const { stdout } = await runProcess(process.execPath, args, { env: { ...process.env, STAND_IN: library } });
  const { numFailedTests, numTotalTests } = JSON.parse(stdout);
  return { failed: numFailedTests, total: numTotalTests };
}

// A library whose result is thrown away would be an ornament: its stand-in would change nothing.
test.each([
  ['ky', 'another response'],
  ['zod', 'another value'],
])('if %s returned %s, most tests of the endpoints would fail', async (library) => {
  const { failed, total } = await run(library);
  expect(total).toBeGreaterThan(20);
  expect(failed / total).toBeGreaterThan(0.8);
});
