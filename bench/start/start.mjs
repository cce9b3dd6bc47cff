// The cost of a start: the import, the first answer, and the memory by then. Each in fresh processes.
//
//   node start/start.mjs [--adapters ours,stripe] [--rounds 15] [--runtime /path/to/node]
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { resultFile } from '../lib/bundle.mjs';
import { defaultRuntime, machine, ratio, sampleInTurn, startServer, typical } from '../lib/measure.mjs';
import { figure, table } from '../lib/table.mjs';
import { clients as allClients } from '../peers/index.mjs';
import { uses } from './uses.mjs';

const { values: options } = parseArgs({
  options: {
    adapters: { type: 'string', default: allClients.join(',') },
    rounds: { type: 'string', default: '15' },
    runtime: { type: 'string', default: defaultRuntime },
  },
});
const reference = 'stripe';
const rounds = Number(options.rounds);
const names = [...new Set([...options.adapters.split(','), reference])];
const peers = new URL('../peers/index.mjs', import.meta.url).href;
const server = await startServer();
const program = resultFile('start.mjs');

/** Runs a module in a process of its own; it leaves what it measured in `figures`. */
function measure(module) {
  const source = `${module}
    const { user, system } = process.cpuUsage();
    const { rss } = process.memoryUsage();
    console.log(JSON.stringify({ ...figures, cpuMs: (user + system) / 1000, rssMb: rss / 2 ** 20 }));
    process.exit();`;
  writeFileSync(program, source);
  const startedAt = performance.now();
  const { status, stdout, stderr } = spawnSync(runtime, [program], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return { ...JSON.parse(stdout), processMs: performance.now() - startedAt };
}
const runtime = options.runtime;
const specifier = (name) =>
  name === 'ours' ? '../../dist/index.js' : uses[name].code.match(/from '(.+)'/)[1];

/** Modules that verify webhooks alone, and modules of Node that are their floor, or that ours does without. */
const others = {
  'ours, webhooks': '../../dist/webhooks.js',
  standardwebhooks: 'standardwebhooks',
  svix: 'svix',
  'node:crypto': 'node:crypto',
  'node:http': 'node:http',
};

const imports = await sampleInTurn(
  ['nothing', ...names, ...Object.keys(others)],
  (name) =>
    measure(
      name === 'nothing'
        ? 'const figures = {};'
        : `import '${others[name] ?? specifier(name)}'; const figures = {};`,
    ),
  { rounds },
);
const empty = imports.get('nothing');
for (const [name, samples] of imports) {
  if (name === 'nothing') continue;
  for (const [round, sample] of samples.entries()) {
    sample.importMs = sample.processMs - empty[round].processMs;
    sample.importCpuMs = sample.cpuMs - empty[round].cpuMs;
    sample.importMb = sample.rssMb - empty[round].rssMb;
  }
}
const answers = await sampleInTurn(
  names,
  (name) =>
    measure(`
      const startedAt = performance.now();
      const { loadPeer } = await import('${peers}');
      const { retrieve } = (await loadPeer('${name}'))({ baseUrl: '${server.baseUrl}' });
      await retrieve();
      const figures = { firstMs: performance.now() - startedAt };`),
  { rounds },
);
server.stop();

const empties = figure(typical(empty, 'processMs'));
console.log(`${machine(runtime)}; ${rounds} fresh processes each; an empty one takes ${empties} ms.\n`);
const importRow = (name) => {
  const imported = imports.get(name);
  return [
    name,
    figure(typical(imported, 'importMs'), 1),
    figure(typical(imported, 'importCpuMs'), 1),
    figure(ratio(imported, imports.get(reference), 'importCpuMs'), 2),
    figure(typical(imported, 'importMb'), 1),
  ];
};
const row = (name) => {
  const answered = answers.get(name);
  return [
    ...importRow(name),
    figure(typical(answered, 'firstMs'), 1),
    figure(typical(answered, 'cpuMs') - typical(empty, 'cpuMs'), 1),
    figure(ratio(answered, answers.get(reference), 'firstMs'), 2),
    figure(typical(answered, 'rssMb')),
  ];
};
const importColumns = ['import, ms', 'CPU ms', '× stripe, CPU', 'memory MB'];
console.log(
  table(
    ['client', ...importColumns, 'to the first answer ms', 'CPU ms', '× stripe', 'RSS MB'],
    names.map(row),
  ),
);
console.log('\nImports alone:\n');
console.log(table(['', ...importColumns], Object.keys(others).map(importRow)));
