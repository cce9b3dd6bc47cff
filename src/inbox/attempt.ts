import type { Delivery } from '../webhooks/delivery.js';
import { isThenable } from '../webhooks/own-options.js';
import { commitError, lostLease } from './claims.js';
import type { Claim } from './entry.js';
import type { InboxStore } from './store.js';

/** A delivery as the inbox gives it to a function: what `commit()` and `done()` take is checked by the store. */
export interface AttemptDelivery extends Delivery {
  attempt: number;
  commit: (fn: unknown) => unknown;
  done?: (run: unknown) => Promise<void>;
  signal: AbortSignal;
}

/** One run of your function. */
export class InboxAttempt {
  readonly claim: Claim;
  readonly delivery: AttemptDelivery;
  /** Rejects when nobody waits for the function any longer. */
  readonly ended: Promise<never>;
  readonly #store: InboxStore;
  readonly #aborter = new AbortController();
  #stopWaiting: (reason: Error) => void = () => {};
  #phase: 'open' | 'committing' | 'committed' | 'failed' | 'over' = 'open';
  #committing: unknown;
  #failure: unknown;
  #calledDone = false;

  constructor(store: InboxStore, claim: Claim) {
    this.#store = store;
    this.claim = claim;
    this.ended = new Promise((_, reject) => {
      this.#stopWaiting = reject;
    });
    this.ended.catch(() => {});
    this.delivery = {
      ...claim.delivery,
      attempt: claim.attempt,
      commit: (fn) => this.#commit(fn),
      ...(store.done && { done: (run) => this.#done(run) }),
      signal: this.#aborter.signal,
    };
  }

  get isCommitted(): boolean {
    return this.#phase === 'committed';
  }

  /** Whether it was ended from outside, and can write nothing more. */
  get isOver(): boolean {
    return this.#phase === 'over';
  }

  /** Somebody else has the delivery: it can write nothing more. */
  lose(reason: Error): void {
    if (this.#phase !== 'committed') this.#phase = 'over';
    this.#aborter.abort(reason);
  }

  /** Waits for its function no longer; with `isOver`, it has not failed, but is somebody else's. */
  stop(reason: string, { isOver }: { isOver: boolean }): void {
    const error = commitError(reason);
    if (isOver) this.lose(error);
    else this.#aborter.abort(error);
    this.#stopWaiting(error);
  }

  /**
   * Ends it, so that a later commit throws. Returns whether it is done, and throws the error of a failed commit, even if
   * your function caught it: nothing was written. A promise of commit() that nobody awaits is waited for.
   */
  async end(): Promise<boolean> {
    await this.#committing;
    const phase = this.#phase;
    this.#phase = 'over';
    if (phase === 'failed') throw this.#failure;
    if (phase === 'committed' || !this.#calledDone) return phase === 'committed';
    const outcome = await this.#store.outcome?.(this.claim);
    if (outcome === 'lost') throw lostLease();
    if (outcome === 'open') throw commitError('The transaction that called done() was rolled back.');
    return true;
  }

  #commit(fn: unknown): unknown {
    this.#begin('commit()');
    try {
      const result = this.#store.commit(this.claim, fn, this.#aborter.signal);
      if (isThenable(result))
        this.#committing = result.then(
          () => this.#settle('committed'),
          (error: unknown) => this.#settle('failed', error),
        );
      else this.#settle('committed');
      return result;
    } catch (error) {
      this.#settle('failed', error);
      throw error;
    }
  }

  async #done(run: unknown): Promise<void> {
    this.#begin('done()');
    this.#phase = 'open';
    this.#calledDone = true;
    await this.#store.done?.(this.claim, run);
  }

  #begin(name: string): void {
    if (this.#phase === 'over')
      throw commitError(`${name} came after the attempt had ended. Nothing was written.`);
    if (this.#phase !== 'open' || this.#calledDone)
      throw commitError('commit() can be called once per attempt. Nothing was written by this call.');
    this.#phase = 'committing';
  }

  #settle(phase: 'committed' | 'failed', error?: unknown): void {
    if (this.#phase !== 'committing') return;
    this.#phase = phase;
    this.#failure = error;
  }
}
