/** The sandbox's clock: the real time moved by an offset, or a frozen time. It has no timer. */
export class Clock {
  constructor(
    readonly start: ClockState,
    public state = start,
  ) {}

  now(): number {
    return this.state.frozenAt ?? Date.now() + this.state.offset;
  }

  moveTo(time: number): void {
    this.state = this.runs ? { offset: time - Date.now() } : { frozenAt: time, offset: 0 };
  }

  get runs(): boolean {
    return this.state.frozenAt === undefined;
  }
}

/** State of the clock, which a snapshot saves. */
type ClockState = { readonly frozenAt?: number | undefined; readonly offset: number };

/** A task that becomes due. Its handler must check again that it still applies. */
export type Due = { at: number; kind: 'expire' | 'settle' | 'deliver'; id: string };

/** The tasks that become due, sorted by time, then in the order in which they were added. */
export class Agenda {
  #entries: Due[] = [];

  add(due: Due): void {
    const before = this.#entries.findLastIndex(({ at }) => at <= due.at);
    this.#entries.splice(before + 1, 0, due);
  }

  get next(): number {
    return this.#entries[0]?.at ?? Infinity;
  }

  /** Removes and returns the tasks that are due by `until`. Those for which `which` returns false stay. */
  take(until: number, which: (due: Due) => boolean = () => true): Due[] {
    if (this.next > until) return [];
    const isTaken = (due: Due) => due.at <= until && which(due);
    const taken = this.#entries.filter(isTaken);
    this.#entries = this.#entries.filter((due) => !isTaken(due));
    return taken;
  }
}

/** Creates the schedule, which moves the clock and runs the tasks that become due, in order. `settled` awaits deliveries in flight. */
export function newSchedule(
  clock: Clock,
  store: { readonly agenda: Agenda },
  run: (due: Due) => unknown,
  waitUntilSettled: () => Promise<void>,
) {
  let moving: Promise<void> = Promise.resolve();
  let resets = 0;

  /** Moves the clock, and stops on the way at each task that becomes due, even at one scheduled meanwhile. A reset ends the move. */
  async function move(target: () => number): Promise<void> {
    const time = target();
    const goesBack = time < clock.now();
    const before = resets;
    await waitUntilSettled(); // An attempt in flight, or its handler, may schedule a task that is due on the way.
    while (before === resets && store.agenda.next <= time) {
      const at = store.agenda.next;
      if (at > clock.now()) clock.moveTo(at);
      await Promise.all(store.agenda.take(at).map(run));
      await waitUntilSettled();
    }
    // Deliveries may have taken so long that the real time is past the target, to which the clock must not go back.
    if (before === resets && (goesBack || clock.now() < time)) clock.moveTo(time);
  }

  /** Starts a move after the previous one, because two moves at once would change each other's clock. */
  function moveTo(target: () => number): Promise<void> {
    const done = moving.then(() => move(target));
    moving = done.catch(() => undefined);
    return done;
  }

  return {
    /** Runs the tasks that are due; true if there were any. Does not wait for deliveries, because one that hangs must not hold up the others. */
    tick(): boolean {
      const due = store.agenda.take(clock.now());
      due.forEach(run);
      return due.length > 0;
    },
    moveBy: (duration: number) => moveTo(() => clock.now() + duration),
    moveTo: (time: number) => moveTo(() => time),
    /** Ends a move halfway, and sets the clock back. */
    reset(): void {
      resets++;
      clock.state = clock.start;
    },
  };
}

/** Returns a duration in the unit that suits it: `25 s`, `4 min`, `2.5 h`, `3 d`. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  const hours = seconds / 3600;
  return hours < 48 ? `${Math.round(hours * 10) / 10} h` : `${Math.round(hours / 24)} d`;
}
