// The memory that an hour's worth of calls leaves behind: 180,000 GETs, as many as 50 a second make in an hour, as fast as they go.
// The heap after garbage collection, once a tenth of them are done, and what the others added.
//
//   node memory.mjs [--adapters ours,stripe,polar,openai] [--times 180000] [--runtime /path/to/node]
import { parseArgs } from 'node:util';
import { defaultRuntime, machine, startClient, startServer } from './lib/measure.mjs';
import { figure, table } from './lib/table.mjs';

const { values: options } = parseArgs({
  options: {
    adapters: { type: 'string', default: 'ours,stripe,polar,openai' },
    times: { type: 'string', default: '180000' },
    runtime: { type: 'string', default: defaultRuntime },
  },
});
const server = await startServer();
const rows = [];
for (const name of options.adapters.split(',')) {
  const client = await startClient(name, server.baseUrl, options.runtime);
  const load = { call: 'retrieve', measure: 'growth', times: Number(options.times), lanes: 50 };
  const { before, added } = await client.ask(load);
  rows.push([name, figure(before, 1), figure(added, 2)]);
  client.stop();
}
server.stop();
console.log(`${machine(options.runtime)}; ${Number(options.times).toLocaleString('en-US')} calls.\n`);
console.log(table(['client', 'heap MB', 'added MB'], rows));
