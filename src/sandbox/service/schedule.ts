import type { Clock } from './clock.js';
import type { Payments } from './payments.js';
import type { Store } from './store.js';

/** Moves the clock and does what falls due on the way, in order of time. Deliveries are awaited. */
export class Schedule {
  readonly #clock: Clock;
  readonly #store: Store;
  readonly #payments: Payments;
  readonly #deliver: (eventId: string) => Promise<void>;
  #moving: Promise<unknown> = Promise.resolve();

  constructor(clock: Clock, store: Store, payments: Payments, deliver: (eventId: string) => Promise<void>) {
    this.#clock = clock;
    this.#store = store;
    this.#payments = payments;
    this.#deliver = deliver;
  }

  /** Does all that is due by now. */
  tick(): Promise<void> {
    return this.#inTurn(() => this.#runUntil(this.#clock.now()));
  }

  moveBy(duration: number): Promise<void> {
    return this.#inTurn(() => this.#moveTo(this.#clock.now() + duration));
  }

  moveTo(time: number): Promise<void> {
    return this.#inTurn(() => this.#moveTo(time));
  }

  async #moveTo(time: number): Promise<void> {
    await this.#runUntil(time);
    this.#clock.moveTo(time);
  }

  /** Stops wherever something falls due, also what was scheduled on the way. */
  async #runUntil(time: number): Promise<void> {
    const { agenda } = this.#store;
    while (agenda.next <= time) {
      const at = agenda.next;
      if (at > this.#clock.now()) this.#clock.moveTo(at);
      await Promise.all(
        agenda
          .take(at)
          .map((due) => (due.kind === 'deliver' ? this.#deliver(due.id) : this.#payments.due(due))),
      );
    }
  }

  /** One move after another: two at once would each see the other's clock. */
  #inTurn(move: () => Promise<void>): Promise<void> {
    const done = this.#moving.then(move);
    this.#moving = done.catch(() => undefined);
    return done;
  }
}
