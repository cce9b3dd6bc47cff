import { setTimeout as sleep } from 'node:timers/promises';
import { typeOf } from '../webhooks/delivery.js';
import type { Tell } from '../webhooks/hooks.js';
import type { WebhookEvent } from '../webhooks/index.js';
import type { Report } from '../webhooks/receiver.js';
import { InboxAttempt, type InboxDelivery, lostLease } from './attempt.js';
import type { AttemptFacts, InboxHookFacts } from './hooks.js';
import { whenFree } from './patience.js';
import { isBusy } from './sqlite.js';
import type { Claim, InboxStore, Settlement } from './store.js';

/** What a worker needs to know. */
export interface WorkerSettings {
  store: InboxStore;
  /** Your function for an event, or `undefined` if there is none. */
  find(event: WebhookEvent): ((delivery: InboxDelivery) => unknown) | undefined;
  retriesMs: readonly number[];
  concurrency: number;
  leaseMs: number;
  tell: Tell<InboxHookFacts>;
  report: Report;
  textOf(error: unknown): string;
}

/** How often to look for rows that other processes have stored. */
const pollMs = 250;
const longestPauseMs = 30_000;

/** A delivery whose process ended this many times is not tried again. */
const mostLost = 20;

/** Claims due deliveries, runs your functions and renews their leases. */
export class Worker {
  readonly #settings: WorkerSettings;
  readonly #running = new Map<InboxAttempt, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #renewedAt = 0;
  #errors = 0;
  #isWoken = false;
  #isClosing = false;

  constructor(settings: WorkerSettings) {
    this.#settings = settings;
    this.wake();
  }

  /** Whether no function of this process is running. */
  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  /** Looks for work soon. Calling it again before that does not postpone it. */
  wake(): void {
    if (this.#isWoken || this.#isClosing) return;
    this.#isWoken = true;
    this.#schedule(0);
  }

  /** Claims nothing more, waits for running functions, and releases those that still run after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    // #timer keeps the process alive meanwhile.
    await Promise.race([Promise.all(this.#running.values()), sleep(graceMs, undefined, { ref: false })]);
    clearTimeout(this.#timer);
    const attempts = [...this.#running.keys()];
    for (const attempt of attempts) attempt.abort('The inbox was closed before the function had finished.');
    await Promise.all(
      attempts.map(({ claim }) => this.#settle(claim, { state: 'pending', dueAt: Date.now() })),
    );
  }

  #schedule(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#tick(), delayMs);
  }

  #tick(): void {
    const { leaseMs, report } = this.#settings;
    let delayMs = Math.min(pollMs, leaseMs / 3);
    this.#isWoken = false;
    try {
      // First, so that a process that was suspended does not claim its own deliveries again.
      this.#renew();
      if (!this.#isClosing) delayMs = Math.min(delayMs, this.#takeUp());
      this.#errors = 0;
    } catch (error) {
      if (!isBusy(error)) {
        void report(error);
        delayMs = Math.min(pollMs * 2 ** this.#errors++, longestPauseMs);
      }
    }
    this.#schedule(delayMs);
  }

  #renew(): void {
    const { store, leaseMs } = this.#settings;
    const now = Date.now();
    if (this.#running.size === 0) this.#renewedAt = now;
    if (now - this.#renewedAt < leaseMs / 3) return;
    const attempts = [...this.#running.keys()].filter((attempt) => !attempt.isCommitted);
    const lost = store.transaction(() => attempts.filter(({ claim }) => !store.renew(claim, now + leaseMs)));
    this.#renewedAt = now;
    for (const attempt of lost) attempt.abort(lostLease().message);
  }

  /** Starts attempts while there is room; returns how long to wait for the next one. */
  #takeUp(): number {
    const { store, leaseMs, concurrency } = this.#settings;
    while (this.#running.size < concurrency) {
      const now = Date.now();
      const due = store.nextDue();
      if (due > now) return due - now;
      const held = [...this.#running.keys()].map(({ claim }) => claim.id);
      const claim = store.claim(held, now, leaseMs);
      if (!claim) break;
      this.#begin(claim);
    }
    return pollMs;
  }

  #begin(claim: Claim): void {
    const attempt = new InboxAttempt(this.#settings.store, claim);
    const run = this.#run(attempt).catch(this.#settings.report);
    this.#running.set(attempt, run);
    void run.finally(() => {
      this.#running.delete(attempt);
      this.wake();
    });
  }

  async #run(attempt: InboxAttempt): Promise<void> {
    const { find, tell, report } = this.#settings;
    const { claim, delivery } = attempt;
    const facts = factsOf(claim);
    if (claim.lost >= mostLost)
      return this.#park(claim, `The process ended during each of ${mostLost} attempts.`);
    const fn = find(delivery.event);
    if (!fn)
      return this.#park(claim, `There is no function for events of type ${JSON.stringify(facts.type)}.`);
    const startedAt = performance.now();
    const durationMs = () => performance.now() - startedAt;
    tell('started', facts);
    try {
      await fn(delivery);
      attempt.checkCommit();
    } catch (error) {
      if (attempt.isOver) return;
      if (!attempt.end()) return this.#fail(claim, error, durationMs());
      // The delivery is done; a later error does not undo it.
      void report(error);
      return tell('done', { ...facts, durationMs: durationMs() });
    }
    if (attempt.isOver) return;
    if (!attempt.end() && !(await this.#settle(claim, { state: 'done' }))) throw lostLease();
    tell('done', { ...facts, durationMs: durationMs() });
  }

  async #fail(claim: Claim, error: unknown, durationMs: number): Promise<void> {
    const { retriesMs, tell, report, textOf } = this.#settings;
    const waitMs = retriesMs[claim.failures];
    // Ten percent either way, so that deliveries that failed together are not retried together.
    const delayMs = waitMs === undefined ? null : waitMs * (0.9 + Math.random() * 0.2);
    tell('failed', { ...factsOf(claim), durationMs, error, delayMs });
    void report(error);
    const lastError = textOf(error);
    if (delayMs === null) return this.#park(claim, lastError);
    await this.#settle(claim, { state: 'pending', dueAt: Math.ceil(Date.now() + delayMs), lastError });
  }

  async #park(claim: Claim, lastError: string): Promise<void> {
    if (await this.#settle(claim, { state: 'parked', lastError }))
      this.#settings.tell('parked', { ...factsOf(claim), lastError });
  }

  #settle(claim: Claim, settlement: Settlement): Promise<boolean> {
    const { store } = this.#settings;
    return whenFree(() => store.transaction(() => store.settle(claim, settlement, Date.now())));
  }
}

function factsOf({ attempt, delivery }: Claim): AttemptFacts {
  return { key: delivery.key, type: typeOf(delivery.event), attempt };
}
