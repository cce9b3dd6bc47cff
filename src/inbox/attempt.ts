import { PaymentsError } from '../errors.js';
import { visible } from '../schemas/visible.js';
import { unreadableBecause } from '../webhooks/delivery.js';
import { isThenable, unfinished } from '../webhooks/own-options.js';
import { factsOf } from '../webhooks/responder.js';
import { within } from '../webhooks/within.js';
import { type Claim, commitError, lostLease } from './entry.js';
import type { AttemptDelivery, AttemptFacts, InboxSettings } from './options.js';
import type { InboxStore } from './store.js';

/** What an attempt needs to know. */
export interface AttemptSettings extends InboxSettings {
  store: InboxStore;
  textOf(error: unknown): Promise<string>;
  /** Stores what an earlier version could not read as this version reads it; `false` if it cannot either. */
  reread(claim: Claim): Promise<boolean>;
}

/** How soon to try again when `commit()` met a lock: it could not wait for it. */
const busyMs = 1000;

/** How long a `commit()` or `done()` that comes too late waits until its delivery is parked. */
const parkingMs = 1000;

/** A delivery whose process ended this many times is not tried again. */
const mostLost = 20;
const lostEach =
  `Its process ended or lost the lease during each of ${mostLost} attempts. ` +
  'If your function blocks the process, pass a longer leaseMs.';

type Failure = { error: unknown; isFinal?: true };

/** One run of your function for a claimed delivery, which ends the claim by what became of it. */
export class InboxAttempt {
  readonly claim: Claim;
  readonly #settings: AttemptSettings;
  readonly #facts: AttemptFacts;
  readonly #aborter = new AbortController();
  #stopWaiting: (reason: Error) => void = () => {};
  /** `marking` once `done()` was called; `over` once nothing more can begin. */
  #phase: 'open' | 'committing' | 'committed' | 'marking' | 'over' = 'open';
  /** Why it is somebody else's. */
  #taken: Error | undefined;
  /** Rejects if `commit()` or `done()` failed. */
  #committing: Promise<unknown> | undefined;
  #commitError: unknown;
  /** Settles once it is known what the attempt came to. */
  #ended: Promise<void> | undefined;
  /** Whether it is done because its function returned, without `commit()` and `done()`. */
  #hasReturned = false;

  constructor(settings: AttemptSettings, claim: Claim) {
    this.#settings = settings;
    this.claim = claim;
    this.#facts = { ...factsOf(claim.delivery), attempt: claim.attempt };
  }

  async run(): Promise<void> {
    const { find, reread, attemptMs, callHook, report } = this.#settings;
    const { claim } = this;
    const problem = unreadableBecause(claim.delivery.event);
    if (problem !== undefined) {
      if (!(await reread(claim))) await this.#park(unreadableText(problem));
      return;
    }
    if (claim.lost >= mostLost) return this.#park(lostEach);
    const fn = find(claim.delivery.event);
    const type = JSON.stringify(this.#facts.type);
    if (!fn) return this.#park(visible(`There is no function for events of type ${type}.`));
    const startedAt = performance.now();
    const durationMs = () => performance.now() - startedAt;
    callHook('started', this.#facts);
    const late = `The function had not finished after ${attemptMs} ms (attemptMs). Its signal was aborted, and it can no longer commit.`;
    const timer = setTimeout(() => this.stop(late, { isTaken: false }), attemptMs);
    let failure: Failure | undefined;
    try {
      const result = await Promise.race([
        new Promise((_, reject) => {
          this.#stopWaiting = reject;
        }),
        new Promise((resolve) => resolve(fn(this.#delivery()))),
      ]);
      const error = unfinished(result, 'Your function');
      // Not tried again: what it began may be done, or go on.
      if (error) failure = { error, isFinal: true };
    } catch (error) {
      failure = { error };
    }
    this.#ended = this.#end(failure, durationMs).finally(() => clearTimeout(timer));
    // Whoever has taken it does not wait for what became of it here.
    if (this.#taken) this.#ended.catch((error: unknown) => void report(error));
    else await this.#ended;
  }

  async #end(failure: Failure | undefined, durationMs: () => number): Promise<void> {
    const { store, callHook, report } = this.#settings;
    let thrown = failure;
    const isDone = await this.#isDone().catch((error: unknown) => {
      thrown ??= { error };
      return false;
    });
    if (isDone) {
      // A later error does not undo it, and nobody can take it any more.
      if (thrown && thrown.error !== this.#taken) void report(thrown.error);
    } else {
      if (this.#taken) return;
      if (thrown) return this.#fail(thrown, durationMs());
      if (!(await store.settle(this.claim, { state: 'done' }))) throw lostLease();
      this.#hasReturned = true;
    }
    callHook('done', { ...this.#facts, durationMs: durationMs() });
  }

  /** Takes the delivery from its function, unless it is done. After `done()`, only its row says whether it is. */
  async release(reason: string): Promise<void> {
    const { key } = this.claim.delivery;
    const entry = this.#phase === 'marking' ? this.#settings.store.get(key) : undefined;
    const isDone = entry && (await entry.catch(() => undefined))?.state === 'done';
    if (!isDone && this.#phase !== 'committed') this.stop(reason, { isTaken: true });
  }

  /** Somebody else has the delivery: it can write nothing more. */
  lose(reason: Error): void {
    this.#taken ??= reason;
    if (this.#phase === 'open') this.#phase = 'over';
    this.#aborter.abort(reason);
  }

  /** Waits for its function no longer; with `isTaken`, it has not failed, but is somebody else's. */
  stop(reason: string, { isTaken }: { isTaken: boolean }): void {
    const error = commitError(reason);
    if (isTaken) this.lose(error);
    else this.#aborter.abort(error);
    this.#stopWaiting(error);
  }

  /** Throws the error of a failed commit even if your function caught it, and waits for one that nobody awaits. */
  async #isDone(): Promise<boolean> {
    try {
      if (this.#phase !== 'marking') {
        // No turn may pass without one: a commit() could begin in it.
        if (this.#committing) await this.#committing;
        return this.#phase === 'committed';
      }
      const rolledBack = () => commitError('The transaction that called done() was rolled back.');
      const error = await this.#committing?.then(rolledBack, (failure: unknown) => failure);
      if (await this.#settings.store.isDone?.(this.claim)) return true;
      throw error;
    } finally {
      this.#phase = 'over';
    }
  }

  #delivery(): AttemptDelivery {
    return {
      ...this.claim.delivery,
      attempt: this.claim.attempt,
      commit: (fn) => this.#commit(fn),
      ...(this.#settings.store.done && { done: (run) => this.#heard(this.#done(run)) }),
      signal: this.#aborter.signal,
    };
  }

  #commit(fn: unknown): unknown {
    if (this.#phase === 'over') return this.#late('commit()');
    this.#begin('committing');
    try {
      const result = this.#settings.store.commit(this.claim, fn, this.#aborter.signal);
      const committed = () => {
        this.#phase = 'committed';
      };
      if (isThenable(result)) this.#committing = this.#heard(Promise.resolve(result).then(committed));
      else committed();
      return result;
    } catch (error) {
      this.#commitError = error;
      this.#committing = this.#heard(Promise.reject(error));
      throw error;
    }
  }

  async #done(run: unknown): Promise<unknown> {
    if (this.#phase === 'over') return this.#late('done()');
    this.#begin('marking');
    const { signal } = this.#aborter;
    const aborted = new Promise<void>((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason)),
    );
    const marking = this.#settings.store.done?.(this.claim, run);
    this.#committing = this.#heard(Promise.race([marking, aborted]));
    return marking;
  }

  /** Where `commit()` may be async, it rejects once the delivery is parked: an unhandled rejection may end the process. */
  #late(name: string): Promise<never> {
    const advice = this.#hasReturned ? ' Return or await what your function starts.' : '';
    const error = commitError(`${name} came after the attempt had ended. Nothing was written.${advice}`);
    const { store, report } = this.#settings;
    const parked = this.#reopen(error.message).catch(report);
    if (!store.done) throw error;
    // No longer than that: the transaction of a late done() may have the only connection.
    const waited = within(parkingMs, parked).catch(() => {});
    return this.#heard(waited.then(() => Promise.reject(error)));
  }

  /** A function that returns and commits later had not finished: its delivery is not done. */
  async #reopen(lastError: string): Promise<void> {
    const { store, callHook, report } = this.#settings;
    await this.#ended?.catch(() => {});
    if (!this.#hasReturned) return;
    if (!(await store.settle(this.claim, { state: 'parked', lastError }, 'done'))) return;
    callHook('parked', { ...this.#facts, lastError });
    await report(commitError(lastError));
  }

  /** Its rejection must not end the process if nobody awaits it. */
  #heard<Result>(promise: Promise<Result>): Promise<Result> {
    promise.catch(() => {});
    return promise;
  }

  #begin(phase: 'committing' | 'marking'): void {
    if (this.#phase !== 'open')
      throw commitError('commit() can be called once per attempt. Nothing was written by this call.');
    this.#aborter.signal.throwIfAborted();
    this.#phase = phase;
  }

  async #fail({ error, isFinal }: Failure, durationMs: number): Promise<void> {
    const { store, retriesMs, callHook, report, textOf } = this.#settings;
    const isBusy = error === this.#commitError && meetsLock(error);
    const waitMs = isBusy ? busyMs : isFinal ? undefined : retriesMs[this.claim.failures];
    // Ten percent either way, so that deliveries that failed together are not retried together.
    const delayMs = waitMs === undefined ? null : waitMs * (0.9 + Math.random() * 0.2);
    callHook('failed', { ...this.#facts, durationMs, error, delayMs });
    void report(error);
    const lastError = await textOf(error);
    if (this.#taken) return;
    if (delayMs === null) return this.#park(lastError);
    await store.settle(this.claim, { state: 'pending', waitMs: delayMs, ...(isBusy ? {} : { lastError }) });
  }

  async #park(lastError: string): Promise<void> {
    const { store, callHook } = this.#settings;
    if (await store.settle(this.claim, { state: 'parked', lastError }))
      callHook('parked', { ...this.#facts, lastError });
  }
}

/** Whether `commit()` failed at a lock. What was thrown may be anything, such as a proxy that throws at any look. */
function meetsLock(error: unknown): boolean {
  try {
    return error instanceof PaymentsError && error.code === 'inbox_busy';
  } catch {
    return false;
  }
}

export function unreadableText(problem: string): string {
  return visible(`The event is authentic, but this version cannot read it: ${problem}.`);
}
