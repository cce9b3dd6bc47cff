import type { Clock } from './clock.js';
import type { Payments } from './payments.js';
import type { Store } from './store.js';

export type Schedule = ReturnType<typeof newSchedule>;

/** Moves the clock and does everything that becomes due, in order. Deliveries are awaited. */
export function newSchedule(
  clock: Clock,
  { agenda }: Store,
  payments: Payments,
  deliver: (eventId: string) => Promise<void>,
) {
  let moving: Promise<unknown> = Promise.resolve();
  let resets = 0;

  /** Stops whenever something becomes due, even if it was scheduled on the way. Resolves to whether it reached the end. */
  async function runUntil(time: number): Promise<boolean> {
    const before = resets;
    while (before === resets && agenda.next <= time) {
      const at = agenda.next;
      if (at > clock.now()) clock.moveTo(at);
      await Promise.all(
        agenda.take(at).map((due) => (due.kind === 'deliver' ? deliver(due.id) : payments.due(due))),
      );
    }
    return before === resets;
  }

  /** One move after another: two at once would each see the other's clock. */
  function inTurn<T>(move: () => Promise<T>): Promise<T> {
    const done = moving.then(move);
    moving = done.catch(() => undefined);
    return done;
  }

  const moveTo = (target: () => number) =>
    inTurn(async () => {
      const time = target();
      if (await runUntil(time)) clock.moveTo(time);
    });

  return {
    /** Does everything that is due. */
    tick: () => inTurn(() => runUntil(clock.now())),
    moveBy: (duration: number) => moveTo(() => clock.now() + duration),
    moveTo: (time: number) => moveTo(() => time),
    /** Ends a move halfway, and sets the clock back. */
    reset(): void {
      resets++;
      clock.reset();
    },
  };
}
