// 10,000 products by iteration, 100 pages of 51 kB: time, CPU and memory; and the same where every answer takes 20 ms.
//
//   node http/iterate.mjs [--adapters ours,stripe] [--rounds 7] [--latency 20] [--runtime /path/to/node]
import { parseArgs } from 'node:util';
import {
  defaultRuntime,
  machine,
  noise,
  ratio,
  sampleInTurn,
  startClient,
  startServer,
  typical,
} from '../lib/measure.mjs';
import { figure, table } from '../lib/table.mjs';
import { clients as allClients } from '../peers/index.mjs';

const { values: options } = parseArgs({
  options: {
    adapters: { type: 'string', default: [...allClients, 'floor:node-http'].join(',') },
    rounds: { type: 'string', default: '7' },
    latency: { type: 'string', default: '20' },
    runtime: { type: 'string', default: defaultRuntime },
  },
});
const rounds = Number(options.rounds);
const latencyMs = Number(options.latency);
const names = options.adapters.split(',');
const prefetching = ['ours:prefetch-2', 'ours:prefetch-4', 'ours:prefetch-8'];

console.log(`${machine(options.runtime)}; ${rounds} rounds; 10,000 products, 100 on a page.`);
console.log('\nAnswers at once; against stripe\n');
print(await walks({ names: [...new Set([...names, 'stripe'])], latencyMs: 0, walks: 5 }), 'stripe', 'cpuMs');
console.log(`\nAnswers after ${latencyMs} ms; against one page at a time\n`);
print(
  await walks({ names: [...new Set(['ours', ...prefetching, ...names])], latencyMs, walks: 1 }),
  'ours',
  'wallMs',
);

async function walks({ names, latencyMs, walks }) {
  const server = await startServer({ latencyMs });
  const all = await Promise.all(names.map((name) => startClient(name, server.baseUrl, options.runtime)));
  const able = all.filter((client) => client.can('iterate'));
  const walk = async (client) => {
    const figures = await client.ask({ call: 'iterate', walks });
    if (figures.value !== 10_000) throw new Error(`${client.peer} saw ${figures.value} products.`);
    return figures;
  };
  const samples = await sampleInTurn(able, walk, { rounds, warmUps: 1 });
  for (const client of all) client.stop();
  server.stop();
  return samples;
}

function print(samples, reference, compared) {
  const [, others] = [...samples].find(([client]) => client.peer === reference);
  const rows = [...samples].map(([client, own]) => [
    client.peer,
    figure(typical(own, 'wallMs')),
    figure(typical(own, 'cpuMs')),
    figure(ratio(own, others, compared), 2),
    figure(typical(own, 'heapMb'), 1),
    figure(typical(own, 'rssMb')),
    figure(noise(own, compared)),
  ]);
  const of = compared === 'cpuMs' ? 'CPU' : 'wall';
  console.log(
    table(['client', 'wall ms', 'CPU ms', `× ${reference}, ${of}`, 'heap on top MB', 'RSS MB', '± %'], rows),
  );
}
