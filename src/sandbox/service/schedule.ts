import type { Clock, Due } from './clock.js';
import type { Store } from './store.js';

/** Does what falls due: at once what only changes records, and awaited what talks to a receiver. */
export class Schedule {
  readonly #clock: Clock;
  readonly #store: Store;
  readonly #change: (due: Due) => void;
  readonly #deliver: (eventId: string) => Promise<unknown>;
  #moving: Promise<unknown> = Promise.resolve();

  constructor(
    clock: Clock,
    store: Store,
    change: (due: Due) => void,
    deliver: (eventId: string) => Promise<unknown>,
  ) {
    this.#clock = clock;
    this.#store = store;
    this.#change = change;
    this.#deliver = deliver;
  }

  /** Expires and settles what is due by now, so that nobody sees a state that time has overtaken. */
  catchUp(): void {
    const now = this.#clock.now();
    if (this.#store.agenda.next > now) return;
    for (const due of this.#store.agenda.take(now, ({ kind }) => kind !== 'deliver')) this.#change(due);
  }

  /** Does all that is due by now, deliveries included. */
  tick(): Promise<void> {
    return this.#inTurn(() => this.#runUntil(this.#clock.now()));
  }

  /** Moves the clock, stopping wherever something falls due, also what was scheduled on the way. */
  moveBy(duration: number): Promise<void> {
    return this.#inTurn(() => this.#moveTo(this.#clock.now() + duration));
  }

  moveTo(moment: number): Promise<void> {
    return this.#inTurn(() => this.#moveTo(moment));
  }

  async #moveTo(moment: number): Promise<void> {
    await this.#runUntil(moment);
    this.#clock.moveTo(moment);
  }

  async #runUntil(moment: number): Promise<void> {
    while (this.#store.agenda.next <= moment) {
      const at = this.#store.agenda.next;
      if (at > this.#clock.now()) this.#clock.moveTo(at);
      await Promise.all(
        this.#store.agenda
          .take(at)
          .map((due) => (due.kind === 'deliver' ? this.#deliver(due.id) : this.#change(due))),
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
