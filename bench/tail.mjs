// The slowest calls: p50, p99 and p99.9 of a GET with 50 in flight against a server that responds after 20 ms, and how
// late the event loop runs while 10,000 products are walked; for each client on each Node.
//
//   node tail.mjs [--adapters ours,stripe] [--rounds 5] [--times 5000] [--runtimes 24=/path/to/node,…]
//
// Needs `npm ci --prefix compat` for Node 20, 22, 24 and 26.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machine, sampleInTurn, startClient, startServer, typical } from './lib/measure.mjs';
import { figure, table } from './lib/table.mjs';

const nodeOf = (version) =>
  fileURLToPath(new URL(`../compat/node_modules/node-${version}/bin/node`, import.meta.url));
const { values: options } = parseArgs({
  options: {
    adapters: { type: 'string', default: 'ours,stripe,polar,openai' },
    rounds: { type: 'string', default: '5' },
    times: { type: 'string', default: '5000' },
    runtimes: {
      type: 'string',
      default: [20, 22, 24, 26].map((version) => `${version}=${nodeOf(version)}`).join(),
    },
  },
});
const names = options.adapters.split(',');
const rounds = Number(options.rounds);
const [lanes, latencyMs] = [50, 20];
const load = { call: 'retrieve', measure: 'latencies', times: Number(options.times), lanes };

for (const runtime of options.runtimes.split(',').map((pair) => pair.split('=')[1])) {
  if (!existsSync(runtime)) throw new Error(`There is no ${runtime}. Run npm ci --prefix compat.`);
  console.log(`\n${machine(runtime)}; ${rounds} rounds.\n`);
  const calls = await measure(runtime, latencyMs, async (client) => {
    const { took } = await client.ask(load);
    const sorted = took.sort((a, b) => a - b);
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
    return { p50: at(0.5), p99: at(0.99), p999: at(0.999) };
  });
  const walks = await measure(runtime, 0, async (client) => {
    const figures = await client.ask({ call: 'iterate', measure: 'delays' });
    if (figures.value !== 10_000) throw new Error(`${client.peer} saw ${figures.value} products.`);
    return figures;
  });
  const rows = names.map((name) => [
    name,
    ...['p50', 'p99', 'p999'].map((share) => figure(typical(calls.get(name), share), 1)),
    ...['p99', 'max'].map((share) => figure(typical(walks.get(name), share), 1)),
  ]);
  const heads = ['ms', 'call, p50', 'p99', 'p99.9', 'event loop late in a walk, p99', 'most'];
  console.log(table(heads, rows));
}

/** Takes samples of every client, and returns them by its name. */
async function measure(runtime, latencyMs, sample) {
  const server = await startServer({ latencyMs });
  const clients = await Promise.all(names.map((name) => startClient(name, server.baseUrl, runtime)));
  const samples = await sampleInTurn(clients, sample, { rounds, warmUps: 1 });
  for (const client of clients) client.stop();
  server.stop();
  return new Map([...samples].map(([{ peer }, figures]) => [peer, figures]));
}
