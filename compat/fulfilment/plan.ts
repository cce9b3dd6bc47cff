// The plan of a run, all of it from one seed: which orders are paid, in which order their deliveries come, which come more
// than once, which contradict another one, which are forged or cannot be read, and when which process is killed or deployed.

export interface Order {
  id: string;
  /** In cents; no two orders of a run have the same. */
  cents: number;
}

/** One delivery, or several of the same order at once. */
export interface Sending {
  order: Order;
  times: number;
  /** Signed with another secret: the order was never paid. */
  forged: boolean;
  /** Authentic, with an amount such as "19,90": nobody knows what was paid, and it is the only trace. */
  unreadable?: boolean;
}

export interface Kill {
  /** SIGKILL at any moment, or SIGTERM, as a deploy does. */
  signal: 'SIGKILL' | 'SIGTERM';
  /** Once this many sendings have begun. */
  at: number;
  /** A number from which the process is chosen. */
  pick: number;
  afterMs: number;
}

export interface Plan {
  paid: Order[];
  /** Of some of these orders, with another amount. */
  conflicts: Order[];
  sendings: Sending[];
  kills: Kill[];
  /** Which instance gets a delivery. */
  random(): number;
}

const orders = Number(process.env.FULFILMENT_ORDERS ?? 400);
if (!Number.isSafeInteger(orders) || orders < 100) throw new Error('FULFILMENT_ORDERS must be at least 100.');
const share = (part: number) => Math.round(orders * part);
export const scale = {
  orders,
  twice: share(0.1),
  thriceAtOnce: share(0.02),
  forged: share(0.04),
  conflicts: share(0.02),
  unreadable: share(0.01),
  kills: share(0.03),
  deploys: share(0.006),
};

/** Identifies the content of a delivery: an order may come with two amounts. */
export function markOf({ id, cents }: Order): string {
  return `${id} ${cents}`;
}

export function makePlan(seed: number): Plan {
  const random = randomFrom(seed);
  const integer = (below: number) => Math.floor(random() * below);
  const order = (cents: number, name: string): Order => ({ id: `ord_${seed}_${name}`, cents });

  const paid = Array.from({ length: scale.orders }, (_, number) => order(1000 + number, `${number}`));
  shuffle(paid);
  const sendings = paid.map((one, place): Sending => {
    const atOnce = place >= scale.twice && place < scale.twice + scale.thriceAtOnce;
    return { order: one, times: atOnce ? 3 : 1, forged: false };
  });
  shuffle(sendings);
  for (const again of paid.slice(0, scale.twice)) {
    const first = sendings.findIndex((sending) => sending.order === again);
    const place = first + 1 + integer(sendings.length - first);
    sendings.splice(place, 0, { order: again, times: 1, forged: false });
  }
  for (let number = 0; number < scale.forged; number++) {
    const forged = order(1000 + integer(scale.orders), `forged_${number}`);
    insert({ order: forged, times: 1, forged: true });
  }
  // The same order with another amount, which no other order has.
  const conflicts = paid
    .slice(-scale.conflicts)
    .map(({ id, cents }): Order => ({ id, cents: cents + 100_000 }));
  const unreadable = Array.from({ length: scale.unreadable }, (_, number) =>
    order(number, `unreadable_${number}`),
  );
  for (const one of conflicts) insert({ order: one, times: 1, forged: false });
  for (const one of unreadable) insert({ order: one, times: 1, forged: false, unreadable: true });
  const kills = Array.from({ length: scale.kills + scale.deploys }, (_, number) => ({
    signal: number < scale.kills ? ('SIGKILL' as const) : ('SIGTERM' as const),
    at: integer(sendings.length),
    pick: random(),
    afterMs: integer(50),
  })).sort((one, other) => one.at - other.at);
  return { paid, conflicts, sendings, kills, random };

  function insert(sending: Sending): void {
    sendings.splice(integer(sendings.length), 0, sending);
  }

  function shuffle(list: unknown[]): void {
    for (let last = list.length - 1; last > 0; last--) {
      const other = integer(last + 1);
      [list[last], list[other]] = [list[other], list[last]];
    }
  }
}

/** Mulberry32: small, and the same on every platform. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
