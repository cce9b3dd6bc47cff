import { setTimeout } from 'node:timers/promises';

export class Signal<T> {
  readonly #listeners = new Set<(value: T) => void>();

  /** Calls back from now on, until the returned function is called. */
  subscribe(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(value: T): void {
    for (const listener of this.#listeners) listener(value);
  }

  /** The first thing that `look` finds in a value; `undefined` after a time, or a signal. An error in `look` rejects. */
  first<F>(look: (value: T) => F | undefined, withinMs: number, signals: readonly AbortSignal[]) {
    const over = new AbortController();
    let unsubscribe = () => {};
    const found = new Promise<F>((resolve, reject) => {
      unsubscribe = this.subscribe((value) => {
        try {
          const one = look(value);
          if (one === undefined) return;
          resolve(one);
        } catch (error) {
          reject(error);
        }
        unsubscribe();
      });
    });
    const end = pause(withinMs, [over.signal, ...signals]).then(() => undefined);
    return Promise.race([found, end]).finally(() => {
      unsubscribe();
      over.abort();
    });
  }
}

/** What `work` resolves to, or the signal's reason as soon as it is aborted. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Waits in real time, or until a signal ends the wait. */
export async function pause(forMs: number, signals: readonly AbortSignal[]): Promise<void> {
  await setTimeout(forMs, undefined, { signal: AbortSignal.any([...signals]) }).catch(() => undefined);
}

/** Runs so many tasks at the same time; the others wait in turn. */
export function slots(free: number) {
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
