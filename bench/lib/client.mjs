// One client in a process of its own: node --expose-gc lib/client.mjs <peer> <baseUrl>
// Takes commands over IPC: { call } answers with what the operation gave, { call, times, lanes } with its cost, and
// { call, walks } with its cost and the memory at its peak; { call, measure, times, lanes } with what tail.mjs measures.
import { loadPeer } from '../peers/index.mjs';
import { delays, growth, latencies } from './tail.mjs';

const [name, baseUrl] = process.argv.slice(2);
const operations = await (await loadPeer(name))({ baseUrl });
process.on('message', async (command) => {
  try {
    process.send(await run(command));
  } catch (error) {
    process.send({ error: String(error?.stack ?? error) });
  }
});
process.on('disconnect', () => process.exit());
process.send({ operations: Object.keys(operations) });

const measures = { latencies, delays, growth };

function run({ call, times, lanes, walks, measure }) {
  const operation = operations[call];
  if (measure) return measures[measure](operation, { times, lanes });
  if (times) return cost(operation, times, lanes);
  return walks ? walk(operation, walks) : operation().then((value) => ({ value }));
}

/** CPU of this process (all threads, user and system) and requests a second, with so many calls at once. */
async function cost(operation, times, lanes) {
  let begun = 0;
  const lane = async () => {
    while (begun++ < times) await operation();
  };
  globalThis.gc();
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: lanes }, lane));
  const perSecond = (times / (performance.now() - startedAt)) * 1000;
  return { cpuUs: cpuSince(cpu) / times, perSecond };
}

/** Time, CPU and the growth of the heap over long operations. */
async function walk(operation, walks) {
  globalThis.gc();
  const before = process.memoryUsage();
  let heap = before.heapUsed;
  let rss = before.rss;
  const look = () => {
    const now = process.memoryUsage();
    heap = Math.max(heap, now.heapUsed);
    rss = Math.max(rss, now.rss);
  };
  const timer = setInterval(look, 5);
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  let value;
  for (let done = 0; done < walks; done++) value = await operation();
  const wallMs = (performance.now() - startedAt) / walks;
  const cpuMs = cpuSince(cpu) / 1000 / walks;
  look();
  clearInterval(timer);
  return { value, wallMs, cpuMs, heapMb: (heap - before.heapUsed) / 2 ** 20, rssMb: rss / 2 ** 20 };
}

function cpuSince(before) {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
