import { setTimeout as sleep } from 'node:timers/promises';
import { PaymentsError } from '../errors.js';
import { typeOf, unreadableBecause } from '../webhooks/delivery.js';
import type { CallHook } from '../webhooks/hooks.js';
import type { WebhookEvent } from '../webhooks/index.js';
import type { Report } from '../webhooks/responder.js';
import { type AttemptDelivery, InboxAttempt } from './attempt.js';
import { claimDue, lostLease, renewClaim } from './claims.js';
import type { Claim } from './entry.js';
import type { AttemptFacts, InboxHookFacts } from './options.js';
import type { InboxStore } from './store.js';

/** What a worker needs to know. */
export interface WorkerSettings {
  store: InboxStore;
  /** Your function for an event, or `undefined` if there is none. */
  find(event: WebhookEvent): ((delivery: AttemptDelivery) => unknown) | undefined;
  retriesMs: readonly number[];
  concurrency: number;
  leaseMs: number;
  attemptMs: number;
  callHook: CallHook<InboxHookFacts>;
  report: Report;
  textOf(error: unknown): string;
  /** Stores what an earlier version could not read as this version reads it; `false` if it cannot either. */
  reread(claim: Claim): Promise<boolean>;
}

const longestPauseMs = 30_000;

/** How soon to try again when `commit()` met a lock: it could not wait for it. */
const busyMs = 1000;

/** A delivery whose process ended this many times is not tried again. */
const mostLost = 20;

/** Claims due deliveries, runs your functions and renews their leases. */
export class Worker {
  readonly identity: readonly unknown[];
  readonly #settings: WorkerSettings;
  readonly #running = new Map<InboxAttempt, Promise<void>>();
  #claiming: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> | undefined;
  #errors = 0;
  #isWoken = false;
  #mayClaim = false;
  #isClosed = false;

  constructor(settings: WorkerSettings) {
    this.#settings = settings;
    this.identity = settings.store.identity;
  }

  /** Whether no function of this process is running. */
  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  start(): void {
    this.#mayClaim = !this.#isClosed;
    this.wake();
  }

  /** Claims nothing more; what runs goes on. */
  stop(): void {
    this.#mayClaim = false;
    this.#isWoken = false;
    clearTimeout(this.#timer);
  }

  /** Looks for work soon. Calling it again before that does not postpone it. */
  wake(): void {
    if (this.#isWoken || !this.#mayClaim) return;
    this.#isWoken = true;
    if (!this.#ticking) this.#schedule(0);
  }

  /** Frees the slot of a delivery that somebody takes from its function. */
  release(key: string): void {
    for (const attempt of this.#running.keys())
      if (attempt.claim.delivery.key === key)
        attempt.stop('retry() with force took this delivery from its function.', { isOver: true });
  }

  /** Works off what is due, and returns when nothing is, or when time is up and what runs has finished. */
  async drain(forMs: number): Promise<void> {
    const until = performance.now() + forMs;
    while (!this.#isClosed && performance.now() < until) {
      const { waitMs, isFull } = await this.#takeUp();
      if (!isFull && waitMs > 0 && this.isIdle) return;
      const pause = new AbortController();
      const { signal } = pause;
      const pauseMs = Math.max(0, Math.min(waitMs, until - performance.now()));
      await Promise.race([...this.#running.values(), sleep(pauseMs, undefined, { signal })]);
      pause.abort();
    }
    await Promise.all(this.#running.values());
  }

  /** Claims nothing more, waits for running functions, and releases those that still run after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    this.stop();
    await this.#claiming;
    // Renewals keep the process alive meanwhile.
    await Promise.race([Promise.all(this.#running.values()), sleep(graceMs, undefined, { ref: false })]);
    const attempts = [...this.#running.keys()];
    for (const attempt of attempts)
      attempt.stop('The inbox was closed before the function had finished.', { isOver: true });
    await Promise.all(attempts.map(({ claim }) => this.#giveBack(claim)));
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#ticking = this.#tick().finally(() => {
        this.#ticking = undefined;
      });
    }, delayMs);
  }

  async #tick(): Promise<void> {
    const { store, report } = this.#settings;
    let delayMs = store.pollMs;
    this.#isWoken = false;
    try {
      const { waitMs, isFull } = await this.#takeUp();
      if (!isFull) delayMs = Math.min(delayMs, waitMs);
      this.#errors = 0;
    } catch (error) {
      void report(error);
      delayMs = Math.min(store.pollMs * 2 ** this.#errors++, longestPauseMs);
    }
    if (this.#mayClaim) this.#schedule(this.#isWoken ? 0 : delayMs);
  }

  /** Starts attempts while there is room. One claim at a time: a timer and drain() together would take too many. */
  #takeUp(): Promise<{ waitMs: number; isFull: boolean }> {
    const claiming = this.#claiming.then(() => this.#claim());
    this.#claiming = claiming.catch(() => {});
    return claiming;
  }

  async #claim(): Promise<{ waitMs: number; isFull: boolean }> {
    const { store, leaseMs, concurrency } = this.#settings;
    const most = concurrency - this.#running.size;
    if (this.#isClosed) return { waitMs: Number.POSITIVE_INFINITY, isFull: false };
    if (most <= 0) return { waitMs: Number.POSITIVE_INFINITY, isFull: true };
    const held = [...this.#running.keys()].map(({ claim }) => claim.id);
    const { claims, waitMs } = await claimDue(store.execute, { most, held, leaseMs });
    if (this.#isClosed) await Promise.all(claims.map((claim) => this.#giveBack(claim)));
    else for (const claim of claims) this.#begin(claim);
    return { waitMs, isFull: claims.length === most };
  }

  #begin(claim: Claim): void {
    // Another process has taken it from its function here, which may never end.
    this.release(claim.delivery.key);
    const { store, leaseMs, report } = this.#settings;
    const attempt = new InboxAttempt(store, claim);
    const renewals = setInterval(() => this.#renew(attempt), leaseMs / 3);
    const run = this.#run(attempt)
      .catch((error: unknown) => void report(error))
      .finally(() => {
        clearInterval(renewals);
        this.#running.delete(attempt);
        this.wake();
      });
    this.#running.set(attempt, run);
  }

  async #renew(attempt: InboxAttempt): Promise<void> {
    const { store, leaseMs, report } = this.#settings;
    if (attempt.isCommitted || attempt.isOver) return;
    try {
      // Its slot stays taken: the function still runs, and must not run twice at a time.
      if (!(await renewClaim(store.execute, attempt.claim, leaseMs))) attempt.lose(lostLease());
    } catch (error) {
      void report(error);
    }
  }

  async #run(attempt: InboxAttempt): Promise<void> {
    const { find, reread, attemptMs, callHook, report } = this.#settings;
    const { claim, delivery } = attempt;
    const facts = factsOf(claim);
    const problem = unreadableBecause(delivery.event);
    if (problem !== undefined) {
      if (!(await reread(claim))) await this.#park(claim, unreadableText(problem));
      return;
    }
    if (claim.lost >= mostLost)
      return this.#park(claim, `The process ended during each of ${mostLost} attempts.`);
    const fn = find(delivery.event);
    if (!fn)
      return this.#park(claim, `There is no function for events of type ${JSON.stringify(facts.type)}.`);
    const startedAt = performance.now();
    const durationMs = () => performance.now() - startedAt;
    callHook('started', facts);
    const late = `The function had not finished after ${attemptMs} ms (attemptMs). Its signal was aborted, and it can no longer commit.`;
    const timer = setTimeout(() => attempt.stop(late, { isOver: false }), attemptMs);
    let failure: { error: unknown } | undefined;
    try {
      await Promise.race([fn(delivery), attempt.ended]);
    } catch (error) {
      failure = { error };
    }
    clearTimeout(timer);
    if (attempt.isOver) return;
    const isDone = await attempt.end().catch((error: unknown) => {
      failure ??= { error };
      return false;
    });
    if (failure && !isDone) return this.#fail(claim, failure.error, durationMs());
    // The delivery is done; a later error does not undo it.
    if (failure) void report(failure.error);
    else if (!isDone && !(await this.#settings.store.settle(claim, { state: 'done' }))) throw lostLease();
    callHook('done', { ...facts, durationMs: durationMs() });
  }

  async #fail(claim: Claim, error: unknown, durationMs: number): Promise<void> {
    const { store, retriesMs, callHook, report, textOf } = this.#settings;
    const isBusy = meetsLock(error);
    const waitMs = isBusy ? busyMs : retriesMs[claim.failures];
    // Ten percent either way, so that deliveries that failed together are not retried together.
    const delayMs = waitMs === undefined ? null : waitMs * (0.9 + Math.random() * 0.2);
    callHook('failed', { ...factsOf(claim), durationMs, error, delayMs });
    void report(error);
    const lastError = textOf(error);
    if (delayMs === null) return this.#park(claim, lastError);
    await store.settle(claim, { state: 'pending', waitMs: delayMs, ...(isBusy ? {} : { lastError }) });
  }

  async #park(claim: Claim, lastError: string): Promise<void> {
    if (await this.#settings.store.settle(claim, { state: 'parked', lastError }))
      this.#settings.callHook('parked', { ...factsOf(claim), lastError });
  }

  /** Where that is not possible, its lease ends by itself. */
  async #giveBack(claim: Claim): Promise<void> {
    const { store, report } = this.#settings;
    await store.settle(claim, { state: 'pending', waitMs: 0 }).catch((error: unknown) => void report(error));
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
  return `The event is authentic, but this version cannot read it: ${problem}.`;
}

function factsOf({ attempt, delivery }: Claim): AttemptFacts {
  return { key: delivery.key, type: typeOf(delivery.event), attempt };
}
