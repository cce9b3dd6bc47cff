import type { Identity } from './store.js';
import type { Worker } from './worker.js';

/** Shared by all copies of this module: a bundler may load it more than once. */
const registry = Symbol.for('merchant-payments.inbox');

/**
 * Starts a worker, and stops the one that worked on the same store: a module that is loaded again opens the inbox again,
 * with the functions of its new version.
 */
export function takeOver(worker: Worker): void {
  const earlier = workersOf(worker.identity).at(-1);
  if (earlier) {
    earlier.stop();
    console.warn(
      'merchant-payments: this inbox is open in this process already. The one opened last does the work from now on.',
    );
  }
  workers().push(worker);
  worker.start();
}

/** Gives the work back to the worker that did it before. */
export function giveUp(worker: Worker): void {
  const index = workers().indexOf(worker);
  if (index === -1) return;
  workers().splice(index, 1);
  workersOf(worker.identity).at(-1)?.start();
}

/** Whose functions run for a store in this process; the last one claims. */
export function workersOf([place, schema]: Identity): Worker[] {
  return workers().filter(({ identity }) => identity[0] === place && identity[1] === schema);
}

function workers(): Worker[] {
  const known: unknown = Reflect.get(globalThis, registry);
  if (Array.isArray(known)) return known;
  Reflect.set(globalThis, registry, []);
  return workers();
}
