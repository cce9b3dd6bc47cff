import { PaymentsError } from '../errors.js';
import { findUnfinished, isThenable } from '../input/functions.js';
import { escapeInvisible } from '../input/visible.js';
import { problemOfEvent } from '../webhooks/delivery.js';
import { factsOf } from '../webhooks/responder.js';
import { withTimeout } from '../webhooks/with-timeout.js';
import { type AttemptEvent, type AttemptState, isOver, isTaken, stateAfter } from './attempt-state.js';
import { type Claim, commitError, lostLease } from './entry.js';
import type { AttemptDelivery, InboxSettings } from './options.js';
import type { InboxStore } from './store.js';

/** Settings of an attempt. */
export interface AttemptSettings extends InboxSettings {
  store: InboxStore;
  textOf(error: unknown): Promise<string>;
  /** Stores a delivery again that an earlier version did not know or could not read; `false` if this version cannot read it either. */
  reread(claim: Claim): Promise<boolean>;
}

/** The wait before the next attempt if `commit()` met a lock, for which it could not wait. */
const busyMs = 1000;

/** The time for which a late `commit()` or `done()` waits until its delivery is parked. */
const parkingMs = 1000;

/** The most attempts that may end with their process. After that many, a delivery is not tried again. */
const mostLost = 20;
const lostEach =
  `Its process ended or lost the lease during each of ${mostLost} attempts. ` +
  'If your function blocks the process, pass a longer leaseMs.';

type Failure = { error: unknown; isFinal?: true };

export type InboxAttempt = ReturnType<typeof createAttempt>;

/** Creates one run of your function for a claimed delivery. The run ends the claim by its outcome. */
export function createAttempt(settings: AttemptSettings, claim: Claim) {
  const { store, find, reread, attemptMs, retriesMs, callHook, report, textOf } = settings;
  const facts = { ...factsOf(claim.delivery), attempt: claim.attempt };
  const aborter = new AbortController();
  const { signal } = aborter;
  const delivery: AttemptDelivery = {
    ...claim.delivery,
    attempt: claim.attempt,
    commit,
    ...(store.done && { done: (run) => markHandled(done(run)) }),
    signal,
  };
  const startedAt = performance.now();
  const durationMs = () => performance.now() - startedAt;
  let stopWaiting: (reason: Error) => void = () => {};
  let state: AttemptState = 'open';
  /** The reason why the delivery is somebody else's. */
  let taken: Error | undefined;
  /** Rejects if `commit()` or `done()` failed. */
  let committing: Promise<unknown> | undefined;
  let commitFailure: unknown;
  /** Settles once the outcome of the attempt is known. */
  let ended: Promise<void> | undefined;
  return { claim, run, release, lose, stop };

  async function run(): Promise<void> {
    const { event } = claim.delivery;
    // An earlier version, which did not know the type or could not read the event, may have stored it.
    if (event.type === 'unknown' && (await reread(claim))) return;
    const problem = problemOfEvent(event);
    if (problem !== undefined) return park(unreadableText(problem));
    if (claim.lost >= mostLost) return park(lostEach);
    const fn = find(event);
    const type = JSON.stringify(facts.type);
    if (!fn) return park(escapeInvisible(`There is no function for events of type ${type}.`));
    callHook('started', facts);
    const tooLong = `The function had not finished after ${attemptMs} ms (attemptMs). Its signal was aborted, and it can no longer commit.`;
    const timer = setTimeout(() => stop(tooLong, { isTaken: false }), attemptMs);
    let failure: Failure | undefined;
    try {
      const result = await Promise.race([
        new Promise((_, reject) => {
          stopWaiting = reject;
        }),
        new Promise((resolve) => resolve(fn(delivery))),
      ]);
      const error = findUnfinished(result, 'Your function');
      // The function is not called again: the work that it began may be done, or go on.
      if (error) failure = { error, isFinal: true };
    } catch (error) {
      failure = { error };
    }
    ended = end(failure).finally(() => clearTimeout(timer));
    // Once the delivery is taken, nobody waits for the outcome of this attempt.
    if (isTaken(state)) ended.catch((error: unknown) => void report(error));
    else await ended;
  }

  async function end(failure: Failure | undefined): Promise<void> {
    let thrown = failure;
    const isDone = await hasCommitted().catch((error: unknown) => {
      thrown ??= { error };
      return false;
    });
    if (isDone) {
      // A later error does not undo the commit, and nobody can take the delivery any more.
      if (thrown && thrown.error !== taken) void report(thrown.error);
    } else {
      if (isTaken(state)) return;
      if (thrown) return fail(thrown);
      if (!(await store.settle(claim, { state: 'done' }))) throw lostLease();
      advance('returned');
    }
    callHook('done', { ...facts, durationMs: durationMs() });
  }

  /** Takes the delivery from its function, unless it is done. After `done()`, only the row says whether it is done. */
  async function release(reason: string): Promise<void> {
    const entry = state === 'marking' ? store.get(claim.delivery.key) : undefined;
    const isDone = entry && (await entry.catch(() => undefined))?.state === 'done';
    if (!isDone && state !== 'committed') stop(reason, { isTaken: true });
  }

  /** Marks the delivery as somebody else's, so that this attempt can write nothing more. */
  function lose(reason: Error): void {
    taken ??= reason;
    advance('taken');
    aborter.abort(reason);
  }

  /** Stops waiting for the function. With `isTaken`, the attempt has not failed: the delivery is somebody else's. */
  function stop(reason: string, { isTaken }: { isTaken: boolean }): void {
    const error = commitError(reason);
    if (isTaken) lose(error);
    else aborter.abort(error);
    stopWaiting(error);
  }

  /** True if `commit()` or the transaction of `done()` has succeeded. Waits for a commit that nobody awaits, and throws the error of a failed one even if your function caught it. */
  async function hasCommitted(): Promise<boolean> {
    try {
      if (state !== 'marking' && state !== 'taken while marking') {
        // Without a commit nothing is awaited: a commit() could begin during the await.
        if (committing) await committing;
        return hasState('committed');
      }
      const rolledBackError = () => commitError('The transaction that called done() was rolled back.');
      const error = await committing?.then(rolledBackError, (failure: unknown) => failure);
      if (await store.isDone?.(claim)) return true;
      throw error;
    } finally {
      advance('ended');
    }
  }

  function commit(fn: unknown): unknown {
    if (isOver(state)) return refuseLate('commit()');
    begin('commit');
    try {
      const result = store.commit(claim, fn, signal);
      const noteCommit = () => advance('committed');
      if (isThenable(result)) committing = markHandled(Promise.resolve(result).then(noteCommit));
      else noteCommit();
      return result;
    } catch (error) {
      commitFailure = error;
      committing = markHandled(Promise.reject(error));
      throw error;
    }
  }

  async function done(run: unknown): Promise<unknown> {
    if (isOver(state)) return refuseLate('done()');
    begin('done');
    const aborted = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const marking = store.done?.(claim, run);
    committing = markHandled(Promise.race([marking, aborted]));
    return marking;
  }

  /**
   * Refuses a `commit()` or `done()` after the end of the attempt. If `commit()` may be async, it rejects only once the delivery
   * is parked, because an unhandled rejection may end the process.
   */
  function refuseLate(name: string): Promise<never> {
    const advice = state === 'returned' ? ' Return or await what your function starts.' : '';
    const error = commitError(`${name} came after the attempt had ended. Nothing was written.${advice}`);
    const parked = reopen(error.message).catch(report);
    if (!store.done) throw error;
    // The wait is short, because the transaction of a late done() may have the only connection.
    const waited = withTimeout(parkingMs, parked).catch(() => {});
    return markHandled(waited.then(() => Promise.reject(error)));
  }

  /** Parks a delivery that was marked done when its function returned: a function that commits later had not finished. */
  async function reopen(lastError: string): Promise<void> {
    await ended?.catch(() => {});
    if (state !== 'returned') return;
    if (!(await store.settle(claim, { state: 'parked', lastError }, 'done'))) return;
    callHook('parked', { ...facts, lastError });
    await report(commitError(lastError));
  }

  /** Marks a promise as handled, so that a rejection which nobody awaits does not end the process. */
  function markHandled<Result>(promise: Promise<Result>): Promise<Result> {
    promise.catch(() => {});
    return promise;
  }

  function begin(event: 'commit' | 'done'): void {
    if (state !== 'open')
      throw commitError('commit() can be called once per attempt. Nothing was written by this call.');
    signal.throwIfAborted();
    advance(event);
  }

  function advance(event: AttemptEvent): void {
    state = stateAfter(state, event);
  }

  /** True if the attempt is in the state `other`: after an await, the state may have changed. */
  function hasState(other: AttemptState): boolean {
    return state === other;
  }

  async function fail({ error, isFinal }: Failure): Promise<void> {
    const isBusy = error === commitFailure && hasCode(error, 'inbox_busy');
    // The payment came before with another amount: it is for a person, however often the function is called.
    const isOver = isFinal || hasCode(error, 'order_conflict');
    const waitMs = isBusy ? busyMs : isOver ? undefined : retriesMs[claim.failures];
    // The wait varies by ten percent, so that deliveries that failed together are not retried together.
    const delayMs = waitMs === undefined ? null : waitMs * (0.9 + Math.random() * 0.2);
    callHook('failed', { ...facts, durationMs: durationMs(), error, delayMs });
    let outcome = '';
    try {
      const lastError = await textOf(error);
      const settle = () =>
        delayMs === null
          ? settleAsParked(lastError)
          : store.settle(claim, { state: 'pending', waitMs: delayMs, ...(isBusy ? {} : { lastError }) });
      if (isTaken(state) || !(await settle())) outcome = ', after the delivery had been taken over';
      else if (delayMs === null) outcome = ' and is parked';
      else outcome = `, the next one follows at ${new Date(Date.now() + delayMs).toISOString()}`;
    } finally {
      void report(error, escapeInvisible(`${facts.key} failed in attempt ${facts.attempt}${outcome}`));
    }
  }

  async function park(lastError: string): Promise<void> {
    if (!(await settleAsParked(lastError))) return;
    const message = escapeInvisible(`${lastError} It is parked as ${JSON.stringify(facts.key)}.`);
    void report(new PaymentsError(message, { code: 'inbox_parked' }));
  }

  /** Parks the delivery; `false` if somebody else has it. */
  async function settleAsParked(lastError: string): Promise<boolean> {
    const isOwn = await store.settle(claim, { state: 'parked', lastError });
    if (isOwn) callHook('parked', { ...facts, lastError });
    return isOwn;
  }
}

/** True if an error of this package has a code. The error may be any value, such as a proxy that throws at any look. */
function hasCode(error: unknown, code: 'inbox_busy' | 'order_conflict'): boolean {
  try {
    return error instanceof PaymentsError && error.code === code;
  } catch {
    return false;
  }
}

export function unreadableText(problem: string): string {
  return escapeInvisible(`The event is authentic, but this version cannot read it: ${problem}.`);
}
