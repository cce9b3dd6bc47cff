// What the sandbox costs a test: start-up, requests in process, and over loopback beside a bare node:http server that
// does the same work (key, JSON, a map).
//
//   npm run build && node bench/sandbox/run.mjs [--rounds 9]
import { execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { inTurn, machine, median, noise, ratio, typical } from '../lib/measure.mjs';
import { figure, table } from '../lib/table.mjs';
import { load } from './load.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } });
const rounds = Number(values.rounds);
const fileOf = (name) => fileURLToPath(new URL(name, import.meta.url));

console.log(`${machine(process.execPath)}; ${rounds} rounds, medians\n`);

const inProcess = await inTurn(
  [{ file: 'in-process.mjs' }],
  async ({ file }) => JSON.parse(execFileSync(process.execPath, [fileOf(file)], { encoding: 'utf8' })),
  { rounds },
);
const [own] = inProcess.values();
const ready = [];
for (let round = 0; round < rounds; round++) ready.push(await commandReady());

console.log(
  table(
    ['in one process', 'ms'],
    [
      ['import', figure(typical(own, 'importMs'), 1)],
      ['createSandbox(), the first', figure(typical(own, 'createMs'), 1)],
      ['createSandbox(), the next', figure(typical(own, 'againMs'), 2)],
      ['a test: create, product, checkout, paid, webhook, balance', figure(typical(own, 'testMs'), 1)],
      ['2,000 requests, half of them creating', figure(typical(own, 'requestsMs'), 0)],
      ['`merchant-payments sandbox`, from start to ready', figure(median(ready), 0)],
    ],
  ),
);

const cases = {
  'GET /v1/balance': { path: '/v1/balance' },
  'GET /v1/products, 20 of them': { path: '/v1/products' },
  'POST /v1/products': {
    path: '/v1/products',
    body: '{"name":"Handmade mug","price":"19.90","currency":"USD"}',
  },
};
const servers = await Promise.all(['node-http.mjs', 'ours.mjs'].map(start));
for (const [name, request] of Object.entries(cases)) {
  const samples = await inTurn(servers, (server) => server.sample(request), { rounds });
  const [floor] = samples.values();
  const rows = [...samples].map(([{ name: server }, sampled]) => [
    server,
    figure(typical(sampled, 'perSecond')),
    figure(typical(sampled, 'cpuUs'), 1),
    figure(ratio(sampled, floor, 'cpuUs'), 2),
    figure(noise(sampled, 'cpuUs')),
  ]);
  console.log(`\n${name}, 32 connections\n`);
  console.log(table(['server', 'req/s', 'CPU µs', '× node:http', '± %'], rows));
}
for (const server of servers) server.stop();

/** A server in a process of its own; a sample is half a second of load, from an empty store. */
async function start(file) {
  const child = fork(fileOf(file), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ask = async (question) => {
    child.send(question);
    const [answer] = await once(child, 'message');
    return answer;
  };
  const [{ port, apiKey }] = await once(child, 'message');
  return {
    name: file.replace('.mjs', ''),
    stop: () => child.disconnect(),
    sample: async (request) => {
      const before = await ask('empty');
      const { requests, perSecond } = await load({ ...request, port, apiKey, seconds: 0.5 });
      const after = await ask('cpu');
      return { perSecond, cpuUs: (after.cpuUs - before.cpuUs) / requests };
    },
  };
}

async function commandReady() {
  const started = performance.now();
  const child = spawn(process.execPath, [fileOf('../../dist/cli.js'), 'sandbox', '--port', '0']);
  await once(child.stdout, 'data');
  const took = performance.now() - started;
  child.kill('SIGTERM');
  await once(child, 'exit');
  return took;
}
