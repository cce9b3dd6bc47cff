/** The sandbox's time: the real one, moved by an offset, or a frozen one. It has no timer. */
export class Clock {
  readonly #start: ClockState;
  /** Its offset, or its frozen time. */
  state: ClockState;

  constructor(start: ClockState) {
    this.#start = start;
    this.state = start;
  }

  /** Unix milliseconds. */
  now(): number {
    return this.state.frozenAt ?? Date.now() + this.state.offset;
  }

  moveTo(time: number): void {
    this.state = this.runs ? { offset: time - Date.now() } : { frozenAt: time, offset: 0 };
  }

  reset(): void {
    this.state = this.#start;
  }

  /** Whether time passes on its own. */
  get runs(): boolean {
    return this.state.frozenAt === undefined;
  }
}

/** What a snapshot keeps of the clock. */
export interface ClockState {
  readonly frozenAt?: number | undefined;
  readonly offset: number;
}

/** Something that becomes due. Its handler must check again that it still applies. */
export interface Due {
  at: number;
  kind: 'expire' | 'settle' | 'deliver';
  id: string;
}

/** What becomes due, by time, then in the order it was added. */
export class Agenda {
  #entries: Due[] = [];

  add(due: Due): void {
    const before = this.#entries.findLastIndex(({ at }) => at <= due.at);
    this.#entries.splice(before + 1, 0, due);
  }

  /** When the next entry is due. */
  get next(): number {
    return this.#entries[0]?.at ?? Infinity;
  }

  /** Removes and returns what is due by then. `which` leaves some for later. */
  take(until: number, which: (due: Due) => boolean = () => true): Due[] {
    if (this.next > until) return [];
    const end = this.#entries.findIndex((due) => due.at > until);
    const due = this.#entries.splice(0, end === -1 ? this.#entries.length : end);
    this.#entries.unshift(...due.filter((one) => !which(one)));
    return due.filter(which);
  }

  clear(): void {
    this.#entries = [];
  }
}
