import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

// What the first call loads is a file of its own, which a bundler or a deployment can leave out.
test('a file of the package that is missing is a ConfigurationError, and nothing was sent', async () => {
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
      console.log(JSON.stringify({ error, isOurs, cause: error.cause.code, stack: error.stack, ends }));`;
    const run = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
    const { error, isOurs, cause, stack, ends } = JSON.parse(run);
    expect(isOurs).toBe(true);
    expect(error).toEqual({
      name: 'ConfigurationError',
      message:
        'products.create: a file of merchant-payments could not be loaded, so nothing was sent. Deploy the whole package: a bundler left out what it imports with its first call.',
      code: 'configuration_error',
      outcome: 'not_sent',
      operation: 'products.create',
      method: 'POST',
      path: '/v1/products',
      attempts: 0,
    });
    expect(cause).toBe('ERR_MODULE_NOT_FOUND');
    expect(stack).toContain('at async shop ');
    expect(ends).toMatchObject([{ ok: false, outcome: 'not_sent', attempts: 0 }]);
  } finally {
    rmSync(outdir, { recursive: true });
  }
});
