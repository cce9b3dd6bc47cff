// Measures clients side by side: one process each, one for the server, samples taken in turn (A B C, B C A, …), so
// that whatever else the machine does falls on all of them alike. Ratios are taken within a round, then their median.
import { execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

const fileOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const node24 = fileOf('../node_modules/node24/bin/node');

/** The Node that runs the clients: `--runtime`, or Node 24 from this folder's packages, or the one that runs this. */
export const defaultRuntime = existsSync(node24) ? node24 : process.execPath;

/** The line above a table. */
export function machine(runtime) {
  const version = execFileSync(runtime, ['--version'], { encoding: 'utf8' }).trim();
  return `Node ${version.replace('v', '')}, ${availableParallelism()} cores, ${cpus()[0]?.model ?? 'unknown CPU'}`;
}

/** The loopback server, in a process of its own. */
export async function startServer({ latencyMs = 0 } = {}) {
  const [command, ...options] = onCore(0, [process.execPath, fileOf('server.mjs'), String(latencyMs)]);
  const child = spawn(command, options, { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout, 'data');
  return { baseUrl: `http://127.0.0.1:${String(port).trim()}`, stop: () => child.stdin.end() };
}

/** One client in a process of its own. */
export async function startClient(peer, baseUrl, runtime = defaultRuntime) {
  const [execPath, ...execArgv] = onCore(1, [runtime, '--expose-gc']);
  const child = fork(fileOf('client.mjs'), [peer, baseUrl], {
    execPath,
    execArgv,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let complaints = '';
  child.stderr.on('data', (text) => {
    complaints = (complaints + text).slice(-2000);
  });
  let settle = (_message) => {};
  child.on('message', (message) => settle(message));
  child.on('exit', () => settle({ error: `its process ended. ${complaints}` }));
  const answer = async () => {
    const message = await new Promise((resolve) => {
      settle = resolve;
    });
    if (message.error) throw new Error(`${peer}: ${message.error}`);
    return message;
  };
  const { operations } = await answer();
  return {
    peer,
    can: (call) => operations.includes(call),
    ask: (command) => {
      child.send(command);
      return answer();
    },
    stop: () => child.disconnect(),
  };
}

/** Takes `rounds` samples of each client in turn. `sample(client)` gives an object of figures, or nothing. */
export async function sampleInTurn(clients, sample, { rounds, warmUps = 2 }) {
  const samples = new Map(clients.map((client) => [client, []]));
  for (let round = -warmUps; round < rounds; round++) {
    const first = Math.abs(round * 7) % clients.length;
    for (const client of [...clients.slice(first), ...clients.slice(0, first)]) {
      await waitUntilQuiet();
      const figures = await sample(client);
      if (round >= 0 && figures) samples.get(client).push(figures);
    }
  }
  return samples;
}

/** The median of a figure. */
export const typical = (samples, figure) => median(samples.map((one) => one[figure]));

/** The median, over the rounds, of a figure against the same round's of another client. */
export const ratio = (samples, others, figure) =>
  median(samples.map((one, round) => one[figure] / others[round][figure]));

/** Half the distance between the quartiles, in per cent of the median: the noise of a figure. */
export function noise(samples, figure) {
  const sorted = samples.map((one) => one[figure]).sort((a, b) => a - b);
  const quartile = (share) => sorted[Math.floor(share * (sorted.length - 1))];
  return (50 * (quartile(0.75) - quartile(0.25))) / median(sorted);
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** Server and clients keep to a core each, where the system lets them: samples then vary by half as much. */
function onCore(core, command) {
  const pinned = process.platform === 'linux' && availableParallelism() > 1 && existsSync('/usr/bin/taskset');
  return pinned ? ['/usr/bin/taskset', '-c', String(core), ...command] : command;
}

/** Waits until other programs leave the machine mostly idle, and for no longer than half a second. */
async function waitUntilQuiet() {
  if (process.platform !== 'linux') return;
  for (let waited = 0; waited < 500; waited += 100) {
    const before = processorTime();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const after = processorTime();
    if ((after.idle - before.idle) / (after.all - before.all) > 0.8) return;
  }
}

function processorTime() {
  const [line] = readFileSync('/proc/stat', 'utf8').split('\n');
  const times = line.trim().split(/\s+/).slice(1).map(Number);
  return { idle: times[3] + times[4], all: times.reduce((sum, time) => sum + time, 0) };
}
