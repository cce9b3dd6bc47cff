import { PaymentsError } from '../errors.js';
import type { Delivery } from '../webhooks/delivery.js';
import type { SqliteDatabase } from './sqlite.js';
import type { Claim, InboxStore } from './store.js';

/** A delivery as your function gets it. */
export interface InboxDelivery extends Delivery {
  /** Counted from 1. */
  attempt: number;
  /**
   * Runs `fn` and marks the delivery done in one transaction, and returns what `fn` returned: what `fn` writes through
   * `db` happens exactly once. `fn` has to be synchronous. It can be called once per attempt; if it throws, the attempt
   * has failed.
   */
  commit<Result>(fn: (db: SqliteDatabase) => Result): Result;
  /** Aborted when `close()` has waited for `graceMs`, and when another process has taken over the delivery. */
  signal: AbortSignal;
}

/** One run of your function. */
export class InboxAttempt {
  readonly claim: Claim;
  readonly delivery: InboxDelivery;
  readonly #store: InboxStore;
  readonly #aborter = new AbortController();
  #phase: 'open' | 'committing' | 'committed' | 'failed' | 'over' = 'open';
  #failure: unknown;

  constructor(store: InboxStore, claim: Claim) {
    this.#store = store;
    this.claim = claim;
    this.delivery = {
      ...claim.delivery,
      attempt: claim.attempt,
      commit: (fn) => this.#commit(fn),
      signal: this.#aborter.signal,
    };
  }

  get isCommitted(): boolean {
    return this.#phase === 'committed';
  }

  /** Whether it is over and can write nothing more. */
  get isOver(): boolean {
    return this.#phase === 'over';
  }

  /** Throws the error of a failed commit, even if your function caught it: nothing was written. */
  checkCommit(): void {
    if (this.#phase === 'failed') throw this.#failure;
  }

  /** Ends it from outside. */
  abort(reason: string): void {
    if (this.#phase !== 'committed') this.#phase = 'over';
    this.#aborter.abort(commitError(reason));
  }

  /** Ends it, so that a later commit throws. Returns whether it has committed. */
  end(): boolean {
    const committed = this.isCommitted;
    this.#phase = 'over';
    return committed;
  }

  #commit<Result>(fn: (db: SqliteDatabase) => Result): Result {
    if (this.#phase === 'over')
      throw commitError('commit() came after the attempt had ended. Nothing was written.');
    if (this.#phase !== 'open')
      throw commitError('commit() can be called once per attempt. Nothing was written by this call.');
    this.#phase = 'committing';
    try {
      const result = this.#store.transaction(() => this.#write(fn));
      this.#phase = 'committed';
      return result;
    } catch (error) {
      this.#phase = 'failed';
      this.#failure = error;
      throw error;
    }
  }

  /** Marks it done first: even if `fn` ends the transaction itself, its writes are not repeated. */
  #write<Result>(fn: (db: SqliteDatabase) => Result): Result {
    if (typeof fn !== 'function') throw commitError('commit() takes a function.');
    if (Object.prototype.toString.call(fn) === '[object AsyncFunction]') throw isAsync();
    if (!this.#store.settle(this.claim, { state: 'done' }, Date.now())) throw lostLease();
    const result = fn(this.#store.database);
    if (!isThenable(result)) return result;
    // Nobody else handles its rejection, which must not end the process.
    Promise.resolve(result).catch(() => {});
    throw isAsync();
  }
}

export function lostLease(): PaymentsError {
  return commitError(
    'Another process has taken this delivery over, because its lease had ended: nothing was written. ' +
      'Pass a longer leaseMs if your function blocks the process for so long.',
  );
}

function isAsync(): PaymentsError {
  return commitError(
    'commit() takes a synchronous function, because a transaction cannot wait: nothing was written. ' +
      'Await what is needed first, then call commit().',
  );
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'then') === 'function';
}

function commitError(message: string): PaymentsError {
  return new PaymentsError(message, { code: 'inbox_commit' });
}
