// The cost of a request: CPU and requests a second for retrieve, create and a list of 100.
//
//   node http/requests.mjs [--adapters ours,stripe,floor:node-http] [--calls retrieve,create,list] [--rounds 9]
//     [--runtime /path/to/node]
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
import { clients as allClients, floors } from '../peers/index.mjs';

const { values: options } = parseArgs({
  options: {
    adapters: { type: 'string', default: [...allClients, ...floors].join(',') },
    calls: { type: 'string', default: 'retrieve,create,list' },
    rounds: { type: 'string', default: '9' },
    runtime: { type: 'string', default: defaultRuntime },
  },
});
const reference = 'stripe';
const floor = 'floor:node-http';
const names = [...new Set([...options.adapters.split(','), reference])];
const cases = [
  { call: 'retrieve', lanes: 1, times: 1500 },
  { call: 'retrieve', lanes: 16, times: 3000 },
  { call: 'retrieve', lanes: 64, times: 3200 },
  { call: 'create', lanes: 1, times: 1000 },
  { call: 'create', lanes: 16, times: 2000 },
  { call: 'create', lanes: 64, times: 2000 },
  { call: 'list', lanes: 1, times: 150 },
  { call: 'list', lanes: 16, times: 300 },
  { call: 'list', lanes: 64, times: 320 },
].filter(({ call }) => options.calls.split(',').includes(call));

const server = await startServer();
const clients = await Promise.all(names.map((name) => startClient(name, server.baseUrl, options.runtime)));
for (const client of clients) await check(client);

console.log(`${machine(options.runtime)}; ${options.rounds} rounds; CPU against ${reference}'s.`);
for (const { call, lanes, times } of cases) {
  const able = clients.filter((client) => client.can(call));
  const samples = await sampleInTurn(able, (client) => client.ask({ call, times, lanes }), {
    rounds: Number(options.rounds),
  });
  const of = (peer) => samples.get(clients.find((client) => client.peer === peer));
  // Everything that a client adds to a request of Node's own, its connections included.
  const bare = of(floor);
  const rows = [...samples].map(([client, own]) => [
    client.peer,
    figure(typical(own, 'cpuUs'), 1),
    figure(ratio(own, of(reference), 'cpuUs'), 2),
    ...(bare ? [figure(ratio(own, bare, 'cpuUs'), 2)] : []),
    figure(typical(own, 'perSecond')),
    figure(noise(own, 'cpuUs')),
  ]);
  console.log(`\n${call}, ${lanes} at once\n`);
  const ratios = ['× stripe', ...(bare ? ['× node:http'] : [])];
  console.log(table(['client', 'CPU µs', ...ratios, 'req/s', '± %'], rows));
}
for (const client of clients) client.stop();
server.stop();

/** A client that gets nothing is fast, too. */
async function check(client) {
  for (const [call, type] of Object.entries({ retrieve: 'string', create: 'string', list: 'number' })) {
    if (!client.can(call)) continue;
    const { value } = await client.ask({ call });
    const right = typeof value === type && (call !== 'list' || value === 100);
    if (!right) throw new Error(`${client.peer}: ${call} gave ${value}.`);
  }
}
