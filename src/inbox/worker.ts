import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '../webhooks/with-timeout.js';
import { type AttemptSettings, createAttempt, type InboxAttempt } from './attempt.js';
import { type Claim, lostLease } from './entry.js';

/** The key of the workers that all copies of this module share: a bundler may load it more than once. */
const registry = Symbol.for('merchant-payments.inbox');

const longestPauseMs = 30_000;
/** The number of deliveries to claim ahead for each slot while there is a backlog. */
const aheadOfSlots = 4;
/** The time between looks if the pool has ended. */
const endedMs = 500;
const forced = 'retry() with force took this delivery from its function.';

/** Claims due deliveries, begins their attempts and renews their leases. */
export class Worker {
  readonly identity: readonly unknown[];
  readonly #settings: AttemptSettings;
  /** The workers that are not closed. */
  readonly #open = workers();
  /** Each attempt with the promise of its end. The field is not private, because another copy of this module reads it. */
  readonly running = new Map<InboxAttempt, Promise<void>>();
  #claiming: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  /** The timer that notices that the shop has ended its pool: the inbox must not keep the process alive then. */
  #watch: NodeJS.Timeout | undefined;
  /** True if there was more to claim than it took: then it claims ahead. */
  #isBehind = false;
  /** Deliveries claimed ahead of free slots, which then begin them without another claim. */
  #ahead: Claim[] = [];
  #aheadSince = 0;
  #aheadTimer: NodeJS.Timeout | undefined;
  #isWoken = false;
  #isLooking = false;
  /** The number of errors since the last look without one. */
  #errors = 0;
  /** True if the worker may work by itself, and not only for `drain()`. */
  works = false;

  /** The number of deliveries that the worker works on at once. */
  readonly #atOnce: number;

  constructor(settings: AttemptSettings) {
    this.#settings = settings;
    this.#atOnce = Math.min(settings.concurrency, settings.store.mostAtOnce);
    this.identity = settings.store.identity;
    this.#open.add(this);
  }

  /** The workers of this process for the same store, itself included, in the order in which they were opened. */
  get together(): Worker[] {
    const isSame = (part: unknown, index: number) => part === this.identity[index];
    const open = [...this.#open].filter(({ identity }) => identity.every(isSame));
    return [...new Set([...open, this])];
  }

  /** The worker that claims by itself, which is the one of the inbox opened last. */
  get active(): Worker | undefined {
    return this.together.findLast(({ works }) => works);
  }

  /** Resolves when what is claimed or runs now has finished. */
  async waitUntilSettled(): Promise<void> {
    await this.#claiming;
    await this.giveBackAhead();
    await Promise.all(this.running.values());
  }

  /** Works in place of the worker before, because a module that is loaded again opens the inbox again, with newer functions. */
  takeOver(): void {
    if (isBuilding()) return;
    const earlier = this.active;
    if (earlier) {
      console.warn(
        'merchant-payments: this inbox is open in this process already. The one opened last does the work from now on.',
      );
      void earlier.giveBackAhead();
    }
    const { concurrency } = this.#settings;
    if (this.#atOnce < concurrency)
      console.warn(
        `merchant-payments: the inbox works on ${this.#atOnce} at once, not on ${concurrency} (concurrency), because one ` +
          `connection of the pool is kept for storing. Give the pool at least ${concurrency + 1} (max).`,
      );
    this.works = true;
    this.wake();
    if (this.#settings.store.isEnded !== undefined)
      this.#watch = setInterval(() => this.#stopIfEnded(), endedMs).unref();
  }

  /** Looks for work soon. */
  wake(): void {
    if (this.#isWoken || this.active !== this) return;
    this.#isWoken = true;
    if (!this.#isLooking) this.#lookIn(0);
  }

  /** Frees the slot of a delivery that somebody takes from its function. */
  async release(key: string): Promise<void> {
    this.#ahead = this.#ahead.filter(({ delivery }) => delivery.key !== key);
    const attempts = [...this.running.keys()].filter(({ claim }) => claim.delivery.key === key);
    await Promise.all(attempts.map((attempt) => attempt.release(forced)));
  }

  /** Works off what is due. Claims nothing after `forMs`, and waits for what runs in this process. */
  async drain(forMs: number): Promise<void> {
    if (isBuilding()) return;
    const until = performance.now() + forMs;
    while (this.#open.has(this) && performance.now() < until) {
      const { waitMs, isFull } = await this.#takeUp();
      const running = this.together.flatMap((worker) => [...worker.running.values()]);
      if (!isFull && waitMs > 0 && running.length === 0) break;
      const pauseMs = Math.max(0, Math.min(waitMs, until - performance.now(), longestPauseMs));
      // If no function runs, a slot has become free since the claim.
      if (running.length > 0) await withTimeout(pauseMs, Promise.race(running)).catch(() => {});
      // Without this turn, functions that end at once would keep timers and requests of this process waiting. A timer of 0 ms may
      // be called before both, because Node calls timers that are due meanwhile in the same turn.
      await nextTurn();
    }
    await Promise.all(this.together.map((worker) => worker.waitUntilSettled()));
  }

  /** Claims nothing more, waits for running functions, and releases those that still run after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#open.delete(this);
    this.works = false;
    this.#stopTimers();
    // The worker before works again.
    this.active?.wake();
    await this.#claiming;
    await this.giveBackAhead();
    // Renewals keep the process alive meanwhile.
    await Promise.race([Promise.all(this.running.values()), sleep(graceMs, undefined, { ref: false })]);
    const attempts = [...this.running.keys()];
    for (const attempt of attempts)
      attempt.stop('The inbox was closed before the function had finished.', { isTaken: true });
    await Promise.all(attempts.map(({ claim }) => this.#giveBack(claim)));
  }

  #stopTimers(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#aheadTimer);
    clearInterval(this.#watch);
  }

  #stopIfEnded(): void {
    if (!this.#settings.store.isEnded || !this.#open.delete(this)) return;
    this.works = false;
    this.#stopTimers();
    this.#ahead = [];
    console.warn(
      'merchant-payments: the pool of the inbox was ended, so the inbox works on nothing more. Call inbox.close() before pool.end().',
    );
  }

  #lookIn(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), delayMs);
  }

  /** Looks for work, and again when a delivery is due, after `wake()`, and for what others stored. */
  async #look(): Promise<void> {
    const { pollMs, report } = this.#settings;
    this.#isWoken = false;
    if (this.active !== this) return;
    this.#isLooking = true;
    let delayMs = pollMs;
    try {
      const { waitMs, isFull } = await this.#takeUp();
      if (!isFull) delayMs = Math.min(delayMs, waitMs);
      this.#errors = 0;
    } catch (error) {
      this.#stopIfEnded();
      delayMs = Math.min(Math.min(pollMs, 1000) * 2 ** this.#errors++, longestPauseMs);
      const again = `The inbox cannot look for due deliveries, and tries again in ${delayMs / 1000} s`;
      if (this.#open.has(this)) void report(error, again);
    }
    this.#isLooking = false;
    // The look follows also if another worker has taken over, because only a look resets `#isWoken`.
    if (this.#open.has(this)) this.#lookIn(this.#isWoken ? 0 : delayMs);
  }

  /** Starts attempts while there is room. Claims follow one another, because the loop and drain() together would take too many. */
  #takeUp() {
    const claiming = this.#claiming.then(() => this.#claim());
    this.#claiming = claiming.catch(() => {});
    return claiming;
  }

  async #claim() {
    const { store, leaseMs } = this.#settings;
    const free = this.#atOnce - this.running.size;
    const most = free + (this.#isBehind ? this.#atOnce * aheadOfSlots : 0) - this.#ahead.length;
    if (!this.#open.has(this) || most <= 0) return { waitMs: Number.POSITIVE_INFINITY, isFull: most <= 0 };
    const held = this.together.flatMap(({ held }) => held);
    const { claims, waitMs } = await store.claimDue(most, held, leaseMs, this.#isBehind);
    this.#isBehind = claims.length >= most;
    this.#ahead.push(...claims);
    if (this.#open.has(this)) this.#beginAhead();
    // Another worker may have taken over meanwhile.
    if (!this.#open.has(this) || (this.active ?? this) !== this) await this.giveBackAhead();
    return { waitMs, isFull: this.#isBehind };
  }

  /** The ids of the deliveries that the worker has claimed. */
  get held(): number[] {
    return [...[...this.running.keys()].map(({ claim }) => claim), ...this.#ahead].map(({ id }) => id);
  }

  /** Begins claimed deliveries while there are free slots. */
  #beginAhead(): void {
    for (let free = this.#atOnce - this.running.size; free > 0; free--) {
      const claim = this.#ahead.shift();
      if (!claim) return;
      this.#aheadSince = performance.now();
      this.#begin(claim);
    }
    if (this.#ahead.length > 0)
      this.#aheadTimer ??= setTimeout(() => this.#checkAhead(), this.#longestAheadMs());
  }

  /** Gives back what was claimed ahead if the functions are slow, so that other processes can take it. */
  #checkAhead(): void {
    const leftMs = this.#longestAheadMs() - (performance.now() - this.#aheadSince);
    this.#aheadTimer = leftMs > 0 ? setTimeout(() => this.#checkAhead(), leftMs) : undefined;
    if (leftMs <= 0) void this.giveBackAhead();
  }

  /** Returns the time that a delivery may stay claimed ahead: nothing renews its lease before it begins. */
  #longestAheadMs(): number {
    return Math.min(1000, this.#settings.leaseMs / 3);
  }

  /** Gives back deliveries that were claimed and not begun, as if they had not been claimed. */
  async giveBackAhead(): Promise<void> {
    clearTimeout(this.#aheadTimer);
    this.#aheadTimer = undefined;
    this.#isBehind = false;
    await Promise.all(this.#ahead.splice(0).map((claim) => this.#giveBack(claim, { isUnused: true })));
  }

  #begin(claim: Claim): void {
    // An earlier attempt here may still run, from which another process has taken the delivery, and may never end.
    void this.release(claim.delivery.key);
    const { leaseMs, report } = this.#settings;
    const attempt = createAttempt(this.#settings, claim);
    const renewals = setInterval(() => void this.#renew(attempt).catch(report), leaseMs / 3);
    const run = attempt
      .run()
      .catch((error: unknown) => void report(error))
      .finally(() => {
        clearInterval(renewals);
        this.running.delete(attempt);
        this.#beginAhead();
        if (this.#ahead.length <= this.#atOnce) this.wake();
      });
    this.running.set(attempt, run);
  }

  async #renew(attempt: InboxAttempt): Promise<void> {
    const { store, leaseMs } = this.#settings;
    const holder = await store.renew(attempt.claim, leaseMs);
    if (holder === 'forced') attempt.stop(forced, { isTaken: true });
    // The slot stays taken, because the function still runs, and must not run twice at a time.
    else if (holder === 'lost') attempt.lose(lostLease());
  }

  /** Gives a delivery back. If that is not possible, its lease ends by itself. */
  async #giveBack(claim: Claim, { isUnused = false } = {}): Promise<void> {
    const { store, report } = this.#settings;
    await store
      .settle(claim, { state: 'pending', waitMs: 0, isUnused })
      .catch((error: unknown) => void report(error));
  }
}

/** True during a build of Next.js or SvelteKit, which load the modules of an app, and must not fulfil anything. */
export function isBuilding(): boolean {
  const { NEXT_PHASE, SVELTEKIT_FORK } = process.env;
  return NEXT_PHASE === 'phase-production-build' || SVELTEKIT_FORK === 'true';
}

/** Returns the workers of the inboxes that are open in this process. */
function workers(): Set<Worker> {
  const known: unknown = Reflect.get(globalThis, registry);
  if (known instanceof Set) return known;
  Reflect.set(globalThis, registry, new Set());
  return workers();
}
