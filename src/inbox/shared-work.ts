/** A worker that shares its store with others of this process. */
export interface SharedWorker {
  identity: readonly unknown[];
  start(): void;
  stop(): void;
  wake(): void;
}

/** Shared by all copies of this module: a bundler may load it more than once. */
const registry = Symbol.for('merchant-payments.inbox');

/**
 * Starts a worker, and stops the one that worked on the same store: a module that is loaded again opens the inbox again,
 * with the functions of its new version.
 */
export function join(worker: SharedWorker): void {
  const earlier = others(worker).at(-1);
  if (earlier) {
    earlier.stop();
    console.warn(
      'merchant-payments: this inbox is open in this process already. The one opened last does the work from now on.',
    );
  }
  workers().push(worker);
  worker.start();
}

/** Gives the work back to the one that was opened before. */
export function leave(worker: SharedWorker): void {
  const all = workers();
  const index = all.indexOf(worker);
  if (index === -1) return;
  all.splice(index, 1);
  others(worker).at(-1)?.start();
}

/** Tells whoever works on a store in this process that there is something to do. */
export function wakeWorker(identity: readonly unknown[]): void {
  others({ identity }).at(-1)?.wake();
}

function others({ identity }: Pick<SharedWorker, 'identity'>): SharedWorker[] {
  return workers().filter(
    (worker) =>
      worker.identity.length === identity.length &&
      worker.identity.every((part, at) => part === identity[at]),
  );
}

function workers(): SharedWorker[] {
  const known: unknown = Reflect.get(globalThis, registry);
  if (isList(known)) return known;
  const none: SharedWorker[] = [];
  Reflect.set(globalThis, registry, none);
  return none;
}

function isList(value: unknown): value is SharedWorker[] {
  return Array.isArray(value);
}
