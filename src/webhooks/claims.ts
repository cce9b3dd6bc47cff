import { invalidOptions } from './own-options.js';

/** Keeps an order from being handled twice: on one machine or, with a shared store, on several. */
export interface ClaimOptions {
  /**
   * Takes the key `order.paid:<order_id>`: `true` when this call took it, `false` when it was taken before, and
   * `'finished'` where the store also knows that its handler has finished. Default: in memory, the last 10,000 keys.
   */
  claim?: ((key: string) => boolean | 'finished' | Promise<boolean | 'finished'>) | undefined;
  /** Gives the key back after its handler failed, so that the next delivery is handled. */
  release?: ((key: string) => unknown) | undefined;
  /** Marks the key once its handler has finished, so that `claim` can answer `'finished'` on every machine. */
  finish?: ((key: string) => unknown) | undefined;
}

type StoreFunction = ((key: string) => unknown) | undefined;

const remembered = 10_000;

/** The claims of one receiver: its store, or memory, and the keys that this process has seen finish. */
export class Claims {
  readonly #claim: (key: string) => unknown;
  readonly #release: StoreFunction;
  readonly #finish: StoreFunction;
  readonly #running = new Set<string>();
  readonly #finished = new Set<string>();

  constructor(store: { claim: StoreFunction; release: StoreFunction; finish: StoreFunction }) {
    this.#claim = store.claim ?? ((key) => this.#takeInMemory(key));
    this.#release = store.release;
    this.#finish = store.finish;
  }

  /** Whether this call took the key, or else what is known of the delivery that has it. */
  async take(key: string): Promise<'taken' | 'finished' | 'running'> {
    const claimed = await this.#claim(key);
    if (claimed === true) {
      this.#finished.delete(key);
      return 'taken';
    }
    if (claimed === false) return this.#finished.has(key) ? 'finished' : 'running';
    if (claimed === 'finished') return 'finished';
    throw invalidOptions(
      'claim must resolve to true, false or "finished". With Redis, compare the reply with "OK".',
    );
  }

  async finish(key: string): Promise<void> {
    this.#running.delete(key);
    this.#finished.add(key);
    const [oldest] = this.#finished;
    if (this.#finished.size > remembered && oldest !== undefined) this.#finished.delete(oldest);
    await this.#finish?.(key);
  }

  async release(key: string): Promise<void> {
    this.#running.delete(key);
    await this.#release?.(key);
  }

  /** Without a wait in between: two deliveries at once must not both find the key free. */
  #takeInMemory(key: string): boolean {
    if (this.#running.has(key) || this.#finished.has(key)) return false;
    this.#running.add(key);
    return true;
  }
}
