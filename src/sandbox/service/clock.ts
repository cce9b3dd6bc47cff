/** The sandbox's time: the real one, moved by an offset, or a frozen one. It has no timer. */
export class Clock {
  #offset = 0;
  #frozen: number | undefined;
  readonly #start: number | 'real';

  constructor(start: number | 'real') {
    this.#start = start;
    this.reset();
  }

  /** Unix milliseconds. */
  now(): number {
    return this.#frozen ?? Date.now() + this.#offset;
  }

  moveTo(time: number): void {
    if (this.#frozen === undefined) this.#offset = time - Date.now();
    else this.#frozen = time;
  }

  reset(): void {
    this.#offset = 0;
    this.#frozen = this.#start === 'real' ? undefined : this.#start;
  }

  /** Where it stands, for a snapshot. */
  get state(): { frozenAt?: number | undefined; offset: number } {
    return { frozenAt: this.#frozen, offset: this.#offset };
  }

  restore({ frozenAt, offset }: { frozenAt?: number | undefined; offset: number }): void {
    this.#frozen = frozenAt;
    this.#offset = offset;
  }

  /** Whether time passes by itself. */
  get runs(): boolean {
    return this.#frozen === undefined;
  }
}

/** Something that falls due. Its handler must check again that it still applies. */
export interface Due {
  at: number;
  kind: 'expire' | 'settle' | 'deliver';
  id: string;
}

/** What falls due, in order of time, and among equals in the order it was added. */
export class Agenda {
  #entries: Due[] = [];

  add(due: Due): void {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.at ?? Infinity) <= due.at) low = middle + 1;
      else high = middle;
    }
    this.#entries.splice(low, 0, due);
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
