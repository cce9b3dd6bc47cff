import { setTimeout } from 'node:timers/promises';
import { longestTimerMs } from '../sending/abort.js';

export class Signal<T> {
  readonly #listeners = new Set<(value: T) => void>();

  /** Calls a listener with each value from now on, until the returned function is called. */
  subscribe(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(value: T): void {
    for (const listener of this.#listeners) listener(value);
  }

  /** Resolves to the first result of `look` that is not `undefined`; to `undefined` after the time or a signal. Rejects if `look` throws. */
  async first<F>(look: (value: T) => F | undefined, withinMs: number, signals: readonly AbortSignal[]) {
    const over = new AbortController();
    let result = (): F | undefined => undefined;
    const unsubscribe = this.subscribe((value) => {
      try {
        const found = look(value);
        if (found === undefined) return;
        result = () => found;
      } catch (error) {
        result = () => {
          throw error;
        };
      }
      unsubscribe();
      over.abort();
    });
    await pause(withinMs, [over.signal, ...signals]);
    unsubscribe();
    return result();
  }
}

/** Waits in real time, or until a signal ends the wait. */
export async function pause(forMs: number, signals: readonly AbortSignal[]): Promise<void> {
  const signal = AbortSignal.any([...signals]);
  await setTimeout(Math.min(forMs, longestTimerMs), undefined, { signal }).catch(() => undefined);
}

/** Returns a function that runs at most `free` tasks at the same time. Others wait in order. */
export function limitConcurrency(free: number) {
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (free-- <= 0) await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      free++;
      waiting.shift()?.();
    }
  };
}
