// V8's CPU profile of one client, by module and by function.
//
//   node http/profile.mjs ours retrieve 16     peer, operation, how many at once; under the Node that runs it
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { startServer } from '../lib/measure.mjs';
import { loadPeer } from '../peers/index.mjs';

const [peer = 'ours', call = 'retrieve', lanes = '16'] = process.argv.slice(2);
const times = call === 'list' ? 2000 : 20_000;
const server = await startServer();
const operation = (await (await loadPeer(peer))({ baseUrl: server.baseUrl }))[call];

async function run(times) {
  let begun = 0;
  const lane = async () => {
    while (begun++ < times) await operation();
  };
  await Promise.all(Array.from({ length: Number(lanes) }, lane));
}

await run(times / 4);
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.setSamplingInterval', { interval: 100 });
await session.post('Profiler.start');
await run(times);
const { profile } = await session.post('Profiler.stop');
server.stop();

const ownTime = new Map();
for (const [index, id] of profile.samples.entries()) {
  ownTime.set(id, (ownTime.get(id) ?? 0) + profile.timeDeltas[index]);
}
const parts = new Map();
const modules = new Map();
const functions = new Map();
const files = new Map();
const add = (sums, name, time) => sums.set(name, (sums.get(name) ?? 0) + time);
for (const { id, callFrame } of profile.nodes) {
  const time = ownTime.get(id) ?? 0;
  const { functionName, url, lineNumber } = callFrame;
  const file = url.replace(/^.*(?:node_modules|bench|dist)\//, '') || functionName;
  const module = bundledFrom(url, lineNumber) ?? file;
  add(parts, module.match(/^(?:@[^/]+\/)?[^/]+(?=\/)|^node(?=:)/)?.[0] ?? module, time);
  add(modules, module, time);
  add(functions, `${functionName || '(anonymous)'} ${file}:${lineNumber + 1}`, time);
}

/** The module that a line of a file was bundled from, where the bundler left its name: ours are in `src/`. */
function bundledFrom(url, line) {
  if (!/\/dist\/[^/]+\.js$/.test(url)) return undefined;
  if (!files.has(url)) files.set(url, readFileSync(new URL(url), 'utf8').split('\n'));
  const above = files.get(url).slice(0, line + 1);
  const name = above.findLast((text) => /^\/\/ (?:src|node_modules)\//.test(text));
  return name?.replace(/^\/\/ (?:node_modules\/)?/, '');
}

const print = (sums, most) => {
  const largest = [...sums].sort(([, a], [, b]) => b - a).slice(0, most);
  for (const [name, time] of largest) console.log(`${(time / times).toFixed(2).padStart(8)} µs  ${name}`);
};
console.log(`${peer}, ${call}, ${lanes} at once: µs per request, the profiler's own included\n`);
print(parts, 8);
console.log('\nby module\n');
print(modules, 20);
console.log('\nby function\n');
print(functions, 40);
process.exit();
