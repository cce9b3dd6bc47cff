// Measurements of a client beyond CPU: how long its calls take, how it holds the event loop up, what it keeps.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';

/** Returns the time of each of `times` calls, in ms, with `lanes` in flight. */
export async function latencies(operation, { times, lanes }) {
  const took = [];
  let begun = 0;
  const lane = async () => {
    while (begun++ < times) {
      const startedAt = performance.now();
      await operation();
      took.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { took };
}

/** Measures the delay of the event loop, in ms, during one operation. */
export async function delays(operation) {
  const resolution = 1;
  const histogram = monitorEventLoopDelay({ resolution });
  globalThis.gc();
  histogram.enable();
  const value = await operation();
  histogram.disable();
  // A timer that is on time is counted with the resolution itself.
  const toDelay = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - resolution);
  return { value, p99: toDelay(histogram.percentile(99)), max: toDelay(histogram.max) };
}

/** The heap that is in use after garbage collection, in MB: after a tenth of the calls, and what the rest added. */
export async function growth(operation, { times, lanes }) {
  await latencies(operation, { times: times / 10, lanes });
  const before = await heapMb();
  await latencies(operation, { times: times - times / 10, lanes });
  return { before, added: (await heapMb()) - before };
}

/** Twice: finalizers, which fetch registers for each request, run in a task after the first and free what they held. */
async function heapMb() {
  globalThis.gc();
  await setTimeout(200);
  globalThis.gc();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
