import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { outputOf } from '../helpers/processes.js';

/** Makes a first call after the file that it loads was removed. */
async function firstCallWithoutItsFile() {
  const outdir = mkdtempSync(join(tmpdir(), 'missing-part-'));
  try {
    const options = { bundle: true, splitting: true, format: 'esm', platform: 'node', outdir } as const;
    await build({ ...options, entryPoints: ['src/index.ts'], outExtension: { '.js': '.mjs' } });
    const [sender = ''] = readdirSync(outdir).filter((name) => name.startsWith('sender-'));
    rmSync(join(outdir, sender));
    const program = `
      import { ConfigurationError, PaymentsClient } from ${JSON.stringify(pathToFileURL(join(outdir, 'index.mjs')))};
      const ends = [];
      const hooks = { end: (facts) => ends.push(facts) };
      const payments = new PaymentsClient({ apiKey: 'key', baseUrl: 'https://api.example', hooks });
      async function shop() { await payments.products.create({ name: 'Mug', price: '5' }); }
      const error = await shop().catch((reason) => reason);
      const isOurs = error instanceof ConfigurationError;
      console.log(JSON.stringify({ error, isOurs, cause: String(error.cause), stack: error.stack, ends }));`;
    return JSON.parse(await outputOf(process.execPath, ['--input-type=module', '-e', program]));
  } finally {
    rmSync(outdir, { recursive: true });
  }
}

const notLoaded =
  'products.create: a file of merchant-payments could not be loaded, so nothing was sent. If the cause is a missing file, deploy the whole package.';

// The first call loads a file of its own, which a bundler or a deployment can leave out.
test('a file of the package that is missing is a ConfigurationError, and nothing was sent', async () => {
  const { error, isOurs, cause, stack, ends } = await firstCallWithoutItsFile();
  expect(isOurs).toBe(true);
  expect(error).toEqual({
    name: 'ConfigurationError',
    message: notLoaded,
    code: 'configuration_error',
    outcome: 'not_sent',
    operation: 'products.create',
    method: 'POST',
    path: '/v1/products',
    attempts: 0,
  });
  expect(cause).toContain('Cannot find module');
  expect(stack).toContain('at async shop ');
  expect(ends).toMatchObject([{ ok: false, outcome: 'not_sent', attempts: 0 }]);
});
