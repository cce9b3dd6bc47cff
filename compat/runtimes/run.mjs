import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { createSandbox } from 'merchant-payments/sandbox';
import { check, run } from '../check.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(dirname(here), 'node_modules');
const bun = join(modules, '@oven/bun-linux-x64/bin/bun');
const deno = join(modules, '@deno/linux-x64-glibc/deno');

for (const version of [20, 22, 24, 26]) {
  const node = join(modules, `node-${version}/bin/node`);
  for (const file of ['esm.mjs', 'cjs.cjs', 'both.mjs']) {
    await check(`Node ${version}: ${file}`, () => run(node, ['--throw-deprecation', join(here, file)]));
  }
}
for (const file of ['esm.mjs', 'cjs.cjs', 'lost-response.mjs'])
  await check(`Bun: ${file}`, () => run(bun, ['run', join(here, file)]));
for (const file of ['esm.mjs', 'cjs.cjs', 'lost-response.mjs']) {
  const allowed = ['--no-prompt', '--allow-net=127.0.0.1', '--allow-env', '--allow-read'];
  await check(`Deno: ${file}`, () =>
    run(deno, ['run', ...allowed, join(here, file)], { env: { NO_COLOR: '1' } }),
  );
}
// Until September 2026, workerd refused some calls while modules are loaded.
const workerds = { '@cloudflare/workerd-linux-64': '2026-10-01', 'workerd-2025': '2025-11-01' };
for (const [name, date] of Object.entries(workerds)) {
  const program = join(modules, name, 'bin/workerd');
  for (const worker of ['worker.mjs', 'load.mjs'])
    await check(`${name}: ${worker}`, () => runInWorkerd(program, date, worker));
}

async function runInWorkerd(workerd, date, worker) {
  const folder = await mkdtemp(join(tmpdir(), 'merchant-payments-workerd-'));
  const sandbox = await createSandbox().listen();
  try {
    await build({
      entryPoints: [join(here, worker)],
      outfile: join(folder, 'worker.mjs'),
      bundle: true,
      format: 'esm',
      external: ['node:*'],
      conditions: ['workerd', 'worker'],
    });
    await writeFile(join(folder, 'config.capnp'), configuration(sandbox, date));
    await run(workerd, ['test', join(folder, 'config.capnp')]);
  } finally {
    await sandbox.close();
    await rm(folder, { recursive: true });
  }
}

function configuration({ url, apiKey }, date) {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
      compatibilityDate = "${date}",
      compatibilityFlags = ["nodejs_compat"],
      bindings = [(name = "baseUrl", text = "${url}"), (name = "apiKey", text = "${apiKey}")],
      globalOutbound = "loopback",
    )),
    (name = "loopback", network = (allow = ["private", "local"])),
  ],
);
`;
}
