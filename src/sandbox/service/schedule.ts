import type { Clock } from './clock.js';
import type { Payments } from './payments.js';
import type { Store } from './store.js';

export type Schedule = ReturnType<typeof newSchedule>;

/** Moves the clock and does everything that becomes due, in order. `settled` awaits the deliveries in flight. */
export function newSchedule(
  clock: Clock,
  { agenda }: Store,
  payments: Payments,
  deliver: (eventId: string) => Promise<void>,
  settled: () => Promise<void>,
) {
  let moving: Promise<unknown> = Promise.resolve();
  let resets = 0;

  /** Stops whenever something becomes due, even if it was scheduled on the way. Resolves to whether it reached the end. */
  async function runUntil(time: number, wait = settled): Promise<boolean> {
    const before = resets;
    await wait(); // An attempt in flight may schedule a retry on the way, and so may what a handler does.
    while (before === resets && agenda.next <= time) {
      const at = agenda.next;
      if (at > clock.now()) clock.moveTo(at);
      await Promise.all(
        agenda.take(at).map((due) => (due.kind === 'deliver' ? deliver(due.id) : payments.due(due))),
      );
      await wait();
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
    /** Does everything that is due, beside attempts in flight. */
    tick: () => inTurn(() => runUntil(clock.now(), async () => {})),
    moveBy: (duration: number) => moveTo(() => clock.now() + duration),
    moveTo: (time: number) => moveTo(() => time),
    /** Ends a move halfway, and sets the clock back. */
    reset(): void {
      resets++;
      clock.reset();
    },
  };
}
